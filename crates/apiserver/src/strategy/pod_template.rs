//! Defaults of what pods and pod templates are made of.

use serde_json::{Value, json};

use super::fields::{Fields, set_default};

/// `PodSpec`.
pub(super) fn pod_spec(spec: &mut Fields) {
    // serviceAccount is the old name of serviceAccountName; both are kept, the new one wins.
    let account = spec.get("serviceAccountName").or_else(|| spec.get("serviceAccount")).cloned();
    if let Some(account) = account {
        spec.insert("serviceAccountName".to_owned(), account.clone());
        spec.insert("serviceAccount".to_owned(), account);
    }
    set_default(spec, "dnsPolicy", "ClusterFirst");
    set_default(spec, "restartPolicy", "Always");
    set_default(spec, "securityContext", json!({}));
    set_default(spec, "terminationGracePeriodSeconds", 30);
    set_default(spec, "schedulerName", "default-scheduler");
}

/// `Container` and `EphemeralContainer`.
pub(super) fn container(container: &mut Fields) {
    let image = container.get("image").and_then(Value::as_str).unwrap_or_default();
    let policy = pull_policy(image);
    set_default(container, "imagePullPolicy", policy);
    set_default(container, "terminationMessagePath", "/dev/termination-log");
    set_default(container, "terminationMessagePolicy", "File");
}

/// An image that may change under its name is pulled always.
fn pull_policy(image: &str) -> &'static str {
    let (name, digest) = image.split_once('@').map_or((image, None), |(name, digest)| (name, Some(digest)));
    // A colon before the last slash belongs to the registry's port.
    let last = name.rsplit('/').next().unwrap_or_default();
    let latest = match last.split_once(':') {
        Some((_, tag)) => tag == "latest",
        None => digest.is_none() && !name.is_empty(),
    };
    if latest { "Always" } else { "IfNotPresent" }
}

/// `Probe`.
pub(super) fn probe(probe: &mut Fields) {
    set_default(probe, "timeoutSeconds", 1);
    set_default(probe, "periodSeconds", 10);
    set_default(probe, "successThreshold", 1);
    set_default(probe, "failureThreshold", 3);
}

/// `HTTPGetAction`.
pub(super) fn http_get(action: &mut Fields) {
    set_default(action, "path", "/");
    set_default(action, "scheme", "HTTP");
}

/// `Volume`: one without a source is an empty directory.
pub(super) fn volume(volume: &mut Fields) {
    if volume.keys().all(|key| key == "name") {
        set_default(volume, "emptyDir", json!({}));
    }
    if let Some(image) = volume.get_mut("image").and_then(Value::as_object_mut) {
        let policy = pull_policy(image.get("reference").and_then(Value::as_str).unwrap_or_default());
        set_default(image, "pullPolicy", policy);
    }
}

/// Volume sources whose files have a mode: 0644.
pub(super) fn mode(source: &mut Fields) {
    set_default(source, "defaultMode", 0o644);
}

#[cfg(test)]
mod tests {
    use super::pull_policy;

    #[test]
    fn only_images_without_a_fixed_tag_are_always_pulled() {
        let cases = [
            ("nginx", "Always"),
            ("nginx:latest", "Always"),
            ("nginx:1.27", "IfNotPresent"),
            ("registry:5000/nginx", "Always"),
            ("registry:5000/nginx:1.27", "IfNotPresent"),
            ("nginx@sha256:aaaa", "IfNotPresent"),
            ("nginx:latest@sha256:aaaa", "Always"),
            ("", "IfNotPresent"),
        ];
        for (image, policy) in cases {
            assert_eq!(pull_policy(image), policy, "{image}");
        }
    }
}
