use std::collections::BTreeMap;

/// How one check went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Passed,
    Failed,
    /// It failed, which is reported and no more.
    Reported,
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
        Verdict::Reported => format!("[-]{check} failed (non-blocking): reason withheld"),
        Verdict::Excluded => format!("[+]{check} excluded: ok"),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::super::{Check, Checks};

    fn checks(named: &[(&str, bool)]) -> Checks {
        let checks = Checks::default();
        for (name, ok) in named.iter().copied() {
            checks.add(name, check(ok));
        }
        checks
    }

    fn check(ok: bool) -> Check {
        Check::new(move || async move { if ok { Ok(()) } else { Err("broken") } })
    }

    fn hangs() -> Check {
        Check::new(std::future::pending::<Result<(), String>>)
    }

    #[tokio::test]
    async fn b41_bodies_are_those_of_kube_apiserver() {
        async fn check(named: &[(&str, bool)], excluded: &[&str], verbose: bool, ok: bool, body: &str) {
            let excluded: Vec<String> = excluded.iter().map(|name| (*name).to_owned()).collect();
            let report = checks(named).ask("healthz", &excluded, None).await;
            assert_eq!((report.is_ok(), report.body(verbose).as_str()), (ok, body));
        }
        let mixed = [("ok", true), ("bad", false)];
        check(&[], &[], false, true, "ok").await;
        check(&[], &[], true, true, "[+]ping ok\nhealthz check passed\n").await;
        check(&[], &["ping"], true, true, "[+]ping excluded: ok\nhealthz check passed\n").await;
        check(&mixed, &["bad"], false, true, "ok").await;
        check(&mixed, &["bad"], true, true, "[+]bad excluded: ok\n[+]ok ok\nhealthz check passed\n").await;
        let failed = "[-]bad failed: reason withheld\n[+]ok ok\nhealthz check failed\n";
        check(&mixed, &[], false, false, failed).await;
        let failed = "[-]bad failed: reason withheld\n[+]ok excluded: ok\nhealthz check failed\n";
        check(&mixed, &["ok"], false, false, failed).await;
        let warned =
            "[+]ok ok\nwarn: some health checks cannot be excluded: no matches for \"x\"\nhealthz check passed\n";
        check(&[("ok", true)], &["x"], true, true, warned).await;
    }

    #[tokio::test]
    async fn single_checks_can_be_asked() {
        let checks = checks(&[("ok", true), ("bad", false)]);
        checks.add("reports", check(false).non_blocking());
        for (name, passes) in [("ok", Some(true)), ("bad", Some(false)), ("reports", Some(false)), ("ping", None)] {
            let report = checks.ask_one("readyz", name, None).await;
            assert_eq!(report.map(|report| report.is_ok()), passes, "{name}");
        }
        let ping = Checks::default().ask_one("readyz", "ping", None).await;
        assert!(ping.is_some_and(|report| report.is_ok()));
    }

    #[tokio::test]
    async fn a_check_that_does_not_block_only_reports() {
        let checks = checks(&[("ok", true)]);
        checks.add("cloud", check(false).non_blocking());
        let report = checks.ask("readyz", &[], None).await;
        assert_eq!((report.is_ok(), report.body(false).as_str()), (true, "ok"));
        let verbose = "[-]cloud failed (non-blocking): reason withheld\n[+]ok ok\nreadyz check passed\n";
        assert_eq!(report.body(true), verbose);
    }

    #[tokio::test]
    async fn a_check_that_panics_fails_alone() {
        let checks = checks(&[("ok", true)]);
        checks.add("panics", Check::new(|| -> std::future::Ready<Result<(), String>> { panic!("as asked") }));
        let report = checks.ask("livez", &[], None).await;
        assert_eq!(report.body(true), "[+]ok ok\n[-]panics failed: reason withheld\nlivez check failed\n");
    }

    #[tokio::test(start_paused = true)]
    async fn checks_are_asked_at_once_and_each_has_its_own_time() {
        async fn check(named: &[(&str, Check)], timeout: Option<Duration>, took: Duration) {
            let checks = Checks::default();
            for (name, check) in named {
                checks.add(name, check.clone());
            }
            let before = Instant::now();
            assert!(!checks.ask("livez", &[], timeout).await.is_ok());
            assert_eq!(before.elapsed(), took);
        }
        let seconds = Duration::from_secs;
        check(&[("a", hangs())], None, seconds(2)).await;
        check(&[("a", hangs()), ("b", hangs()), ("c", hangs())], None, seconds(2)).await;
        check(&[("a", hangs()), ("b", hangs().timeout(seconds(5)))], None, seconds(5)).await;
        check(&[("a", hangs()), ("b", hangs().timeout(seconds(5)))], Some(seconds(1)), seconds(1)).await;
    }
}
