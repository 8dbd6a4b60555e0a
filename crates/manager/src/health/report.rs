use std::collections::BTreeMap;

/// How one check went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Passed,
    Failed,
    Excluded,
}

/// How all checks of a probe went.
#[derive(Debug)]
pub(crate) struct Report {
    endpoint: String,
    verdicts: BTreeMap<String, Verdict>,
    /// Exclusions that match no check.
    unmatched: Vec<String>,
}

impl Report {
    pub(crate) fn new(endpoint: &str, verdicts: BTreeMap<String, Verdict>, excluded: &[String]) -> Self {
        let unmatched = excluded.iter().filter(|name| !verdicts.contains_key(*name)).cloned().collect();
        Self { endpoint: endpoint.to_owned(), verdicts, unmatched }
    }

    pub(crate) fn is_ok(&self) -> bool {
        self.verdicts.values().all(|verdict| *verdict != Verdict::Failed)
    }

    /// The body of the answer, as kube-apiserver writes it: `ok`, or a line per check when one failed or `verbose` is
    /// asked for.
    pub(crate) fn body(&self, verbose: bool) -> String {
        if self.is_ok() && !verbose {
            return "ok".to_owned();
        }
        let mut lines: Vec<String> = self.verdicts.iter().map(|(name, verdict)| line(name, *verdict)).collect();
        if !self.unmatched.is_empty() {
            let names: Vec<String> = self.unmatched.iter().map(|name| format!("{name:?}")).collect();
            lines.push(format!("warn: some health checks cannot be excluded: no matches for {}", names.join(",")));
        }
        lines.push(format!("{} check {}", self.endpoint, if self.is_ok() { "passed" } else { "failed" }));
        lines.join("\n") + "\n"
    }
}

fn line(check: &str, verdict: Verdict) -> String {
    match verdict {
        Verdict::Passed => format!("[+]{check} ok"),
        Verdict::Failed => format!("[-]{check} failed: reason withheld"),
        Verdict::Excluded => format!("[+]{check} excluded: ok"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Check, Checks};

    fn checks(named: &[(&str, bool)]) -> Checks {
        let checks = Checks::default();
        for (name, ok) in named.iter().copied() {
            checks.add(name, Check::new(move || async move { if ok { Ok(()) } else { Err("broken") } }));
        }
        checks
    }

    #[tokio::test]
    async fn bodies_are_those_of_kube_apiserver() {
        async fn check(named: &[(&str, bool)], excluded: &[&str], verbose: bool, ok: bool, body: &str) {
            let excluded: Vec<String> = excluded.iter().map(|name| (*name).to_owned()).collect();
            let report = checks(named).ask("healthz", &excluded).await;
            assert_eq!((report.is_ok(), report.body(verbose).as_str()), (ok, body));
        }
        let mixed = [("ok", true), ("bad", false)];
        check(&[], &[], false, true, "ok").await;
        check(&[], &[], true, true, "[+]ping ok\nhealthz check passed\n").await;
        check(&mixed, &["bad"], false, true, "ok").await;
        check(&mixed, &["bad"], true, true, "[+]bad excluded: ok\n[+]ok ok\nhealthz check passed\n").await;
        let failed = "[-]bad failed: reason withheld\n[+]ok ok\nhealthz check failed\n";
        check(&mixed, &[], false, false, failed).await;
        check(
            &mixed,
            &["ok"],
            false,
            false,
            "[-]bad failed: reason withheld\n[+]ok excluded: ok\nhealthz check failed\n",
        )
        .await;
        let warned =
            "[+]ok ok\nwarn: some health checks cannot be excluded: no matches for \"x\"\nhealthz check passed\n";
        check(&[("ok", true)], &["x"], true, true, warned).await;
    }

    #[tokio::test]
    async fn single_checks_can_be_asked() {
        let checks = checks(&[("ok", true), ("bad", false)]);
        assert!(checks.ask_one("readyz", "ok").await.is_some_and(|report| report.is_ok()));
        assert!(checks.ask_one("readyz", "bad").await.is_some_and(|report| !report.is_ok()));
        assert!(checks.ask_one("readyz", "ping").await.is_none());
        assert!(Checks::default().ask_one("readyz", "ping").await.is_some_and(|report| report.is_ok()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_check_that_hangs_fails() {
        let checks = Checks::default();
        checks.add(
            "hangs",
            Check::new(|| async {
                std::future::pending::<()>().await;
                Ok::<(), &str>(())
            }),
        );
        assert!(!checks.ask("livez", &[]).await.is_ok());
    }
}
