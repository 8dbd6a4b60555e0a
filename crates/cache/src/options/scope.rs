use std::collections::{BTreeMap, BTreeSet};

use bon::Builder;
use controller_runtime_client::Selector;
use controller_runtime_scheme::{Kind, Object};

use crate::informer::Selection;
use crate::options::CacheOptions;
use crate::transform::Transform;

/// Stands for all namespaces that are not named.
pub(crate) const ALL_OTHERS: &str = "";

/// What is special about one namespace. What isn't set is as the next wider options say.
#[derive(Clone, Debug, Default, Builder)]
pub struct ScopeOptions {
    /// Caches only objects whose labels match.
    #[builder(into)]
    pub(crate) labels: Option<Selector>,
    /// Caches only objects whose fields match, as the server understands it.
    #[builder(into)]
    pub(crate) fields: Option<String>,
    /// What is done to each object before it is stored.
    pub(crate) transform: Option<Transform>,
}

/// One list and watch of an informer: what it covers and what is done with what comes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    /// None for everything.
    pub(crate) namespace: Option<String>,
    /// The namespaces that others cover.
    pub(crate) except: BTreeSet<String>,
    pub(crate) selection: Selection,
    pub(crate) transform: Option<Transform>,
}

impl CacheOptions {
    /// The lists and watches of a kind, each object in at most one of them.
    pub(crate) fn plans<K: Object>(&self, kind: &Kind<K>, selection: &Selection) -> Vec<Plan> {
        let special = self.special(kind.resource());
        let namespaces = match special {
            Some(special) if !special.namespaces.is_empty() => &special.namespaces,
            _ => &self.namespaces,
        };
        if !kind.is_namespaced() || namespaces.is_empty() {
            return vec![self.plan(kind, None, selection)];
        }
        let named: BTreeSet<_> = namespaces.keys().filter(|name| *name != ALL_OTHERS).cloned().collect();
        let plan = |name: &String| {
            let mut plan = self.plan(kind, Some(name), selection);
            if name == ALL_OTHERS {
                plan.except.clone_from(&named);
            } else {
                plan.namespace = Some(name.clone());
            }
            plan
        };
        namespaces.keys().map(plan).collect()
    }

    /// The settings for a namespace, each from the most special options that have it.
    fn plan<K: Object>(&self, kind: &Kind<K>, namespace: Option<&String>, selection: &Selection) -> Plan {
        let special = self.special(kind.resource());
        let in_namespace = |of: &BTreeMap<String, ScopeOptions>| namespace.and_then(|name| of.get(name)).cloned();
        let defaults = ScopeOptions {
            labels: self.labels.clone(),
            fields: self.fields.clone(),
            transform: self.transform.clone(),
        };
        let of_kind = special.map(|special| ScopeOptions {
            labels: special.labels.clone(),
            fields: special.fields.clone(),
            transform: special.transform.clone(),
        });
        let levels = [
            special.and_then(|special| in_namespace(&special.namespaces)),
            of_kind,
            in_namespace(&self.namespaces),
            Some(defaults),
        ];
        let mut chosen = ScopeOptions::default();
        for level in levels.into_iter().flatten() {
            chosen.labels = chosen.labels.or(level.labels);
            chosen.fields = chosen.fields.or(level.fields);
            chosen.transform = chosen.transform.or(level.transform);
        }
        let configured = Selection { labels: chosen.labels.unwrap_or_default(), fields: chosen.fields };
        Plan {
            namespace: None,
            except: BTreeSet::new(),
            selection: configured.and(selection),
            transform: chosen.transform,
        }
    }
}

impl Plan {
    /// The field selector for requests: what is selected, without the namespaces that others cover.
    pub(crate) fn field_selector(&self) -> Option<String> {
        let others = self.except.iter().map(|namespace| format!("metadata.namespace!={namespace}"));
        let terms: Vec<_> = self.selection.fields.iter().cloned().chain(others).collect();
        (!terms.is_empty()).then(|| terms.join(","))
    }

    /// Whether it is responsible for objects of the namespace; without one, for any object.
    pub(crate) fn covers(&self, namespace: Option<&str>) -> bool {
        match (&self.namespace, namespace) {
            (_, None) => true,
            (None, Some(asked)) => !self.except.contains(asked),
            (Some(own), Some(asked)) => own == asked,
        }
    }
}

#[cfg(test)]
mod tests {
    use controller_runtime_client::{Expression, Selector};
    use controller_runtime_scheme::Kind;
    use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret};

    use super::{Plan, ScopeOptions};
    use crate::informer::Selection;
    use crate::options::{CacheOptions, KindOptions};

    fn level(name: &str) -> Selector {
        Selector::from_iter([Expression::Equal("level".to_owned(), name.to_owned())])
    }

    fn scope(labels: &str) -> ScopeOptions {
        ScopeOptions::builder().labels(level(labels)).build()
    }

    fn describe(plans: &[Plan]) -> Vec<String> {
        let of = |plan: &Plan| {
            let namespace = plan.namespace.as_deref().unwrap_or("*");
            format!("{namespace} {} {}", plan.selection.labels, plan.field_selector().unwrap_or_default())
        };
        plans.iter().map(|plan| of(plan).trim_end().to_owned()).collect()
    }

    #[test]
    fn the_most_special_setting_counts() {
        let special = KindOptions::builder()
            .labels(level("kind"))
            .namespace("a", scope("kind-namespace"))
            .namespaces(["b"])
            .build();
        let options = CacheOptions::builder()
            .labels(level("default"))
            .fields("metadata.name!=x")
            .namespace("a", scope("namespace"))
            .namespace("b", scope("namespace"))
            .namespaces(["c"])
            .kind_of::<Secret>(special)
            .build();
        let all = Selection::default();
        let secrets = options.plans(&Kind::<Secret>::typed(), &all);
        assert_eq!(describe(&secrets), ["a level=kind-namespace metadata.name!=x", "b level=kind metadata.name!=x"]);
        let maps = options.plans(&Kind::<ConfigMap>::typed(), &all);
        assert_eq!(
            describe(&maps),
            [
                "a level=namespace metadata.name!=x",
                "b level=namespace metadata.name!=x",
                "c level=default metadata.name!=x"
            ]
        );
        // Namespaces mean nothing for a kind that has none.
        let namespaces = options.plans(&Kind::<Namespace>::typed(), &Selection::fields("metadata.name=y"));
        assert_eq!(describe(&namespaces), ["* level=default metadata.name!=x,metadata.name=y"]);
    }

    #[test]
    fn b34_no_object_is_covered_twice() {
        let options =
            CacheOptions::builder().other_namespaces(scope("others")).namespace("special", scope("special")).build();
        let plans = options.plans(&Kind::<ConfigMap>::typed(), &Selection::default());
        assert_eq!(describe(&plans), ["* level=others metadata.namespace!=special", "special level=special"]);
        for namespace in ["special", "any"] {
            assert_eq!(plans.iter().filter(|plan| plan.covers(Some(namespace))).count(), 1, "{namespace}");
        }
    }
}
