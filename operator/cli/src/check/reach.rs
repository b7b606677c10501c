//! Which NetworkPolicies may keep probes from the pods of runs, as far as their text shows. Pure.

use k8s_openapi::api::networking::v1::{
    NetworkPolicy, NetworkPolicyIngressRule, NetworkPolicyPeer,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, LabelSelectorRequirement};
use kube::ResourceExt;
use wasmbench_api::labels;

/// Labels that all subjects have.
const FIXED: [(&str, &str); 4] = [
    (labels::NAME, labels::APP),
    (labels::PART_OF, labels::APP),
    (labels::MANAGED_BY, labels::OPERATOR),
    (labels::COMPONENT, labels::COMPONENT_SUBJECT),
];
/// Labels whose values differ from subject to subject.
const VARYING: [&str; 6] = [
    labels::INSTANCE,
    labels::RUN_UID,
    labels::VARIANT,
    labels::WORKLOAD,
    labels::POINT,
    labels::BLOCK,
];
/// The label with the name of a namespace.
const NAMESPACE_NAME: &str = "kubernetes.io/metadata.name";
/// Blocks that hold every address.
const EVERYWHERE: [&str; 2] = ["0.0.0.0/0", "::/0"];

/// Names of the policies of a namespace that let only some reach the pods of runs, unless one of
/// them admits the operator's namespace. What the text does not show counts as admitted.
pub fn blocking_policies(
    policies: &[NetworkPolicy],
    operator_namespace: Option<&str>,
) -> Vec<String> {
    let isolating: Vec<&NetworkPolicy> = policies.iter().filter(|one| isolates(one)).collect();
    let rules = isolating
        .iter()
        .filter_map(|one| one.spec.as_ref()?.ingress.as_ref());
    let lets = |rule: &NetworkPolicyIngressRule| admits(rule, operator_namespace);
    if rules.flatten().any(lets) {
        return vec![];
    }
    isolating.iter().map(|one| one.name_any()).collect()
}

/// Whether the policy decides who reaches subjects.
fn isolates(policy: &NetworkPolicy) -> bool {
    let Some(spec) = &policy.spec else {
        return false;
    };
    let types = spec.policy_types.as_deref().unwrap_or_default();
    let is_about_ingress = types.is_empty() || types.iter().any(|one| one == "Ingress");
    is_about_ingress && spec.pod_selector.as_ref().is_none_or(selects)
}

/// What is known of a label of subjects.
#[derive(Clone, Copy)]
enum Label {
    Missing,
    Varies,
    Is(&'static str),
}

impl Label {
    fn from_key(key: &str) -> Self {
        match FIXED.iter().find(|(known, _)| *known == key) {
            Some((_, value)) => Self::Is(value),
            None if VARYING.contains(&key) => Self::Varies,
            None => Self::Missing,
        }
    }

    /// Whether some subject has the label with such a value.
    fn may_be(self, wanted: impl Fn(&str) -> bool) -> bool {
        match self {
            Self::Missing => false,
            Self::Varies => true,
            Self::Is(value) => wanted(value),
        }
    }
}

/// Whether the selector takes subjects, or some of them.
fn selects(selector: &LabelSelector) -> bool {
    let mut equal = selector.match_labels.iter().flatten();
    let mut others = selector.match_expressions.iter().flatten();
    equal.all(|(key, value)| Label::from_key(key).may_be(|is| is == value)) && others.all(holds)
}

fn holds(requirement: &LabelSelectorRequirement) -> bool {
    let label = Label::from_key(&requirement.key);
    let is_listed = |value: &str| requirement.values.iter().flatten().any(|one| one == value);
    match requirement.operator.as_str() {
        "In" => label.may_be(is_listed),
        "NotIn" => !matches!(label, Label::Is(value) if is_listed(value)),
        "DoesNotExist" => matches!(label, Label::Missing),
        _ => !matches!(label, Label::Missing),
    }
}

/// Whether the rule lets pods of the operator's namespace in, on whatever port.
fn admits(rule: &NetworkPolicyIngressRule, operator_namespace: Option<&str>) -> bool {
    let from = rule.from.as_deref().unwrap_or_default();
    from.is_empty() || from.iter().any(|peer| is_of(peer, operator_namespace))
}

fn is_of(peer: &NetworkPolicyPeer, operator_namespace: Option<&str>) -> bool {
    if let Some(block) = &peer.ip_block {
        return EVERYWHERE.contains(&block.cidr.as_str());
    }
    // Without a selector of namespaces, only pods of the same namespace are meant.
    peer.namespace_selector.as_ref().is_some_and(|selector| {
        let named = selector
            .match_labels
            .as_ref()
            .and_then(|labels| labels.get(NAMESPACE_NAME));
        let pair = named.zip(operator_namespace);
        pair.is_none_or(|(named, operator)| named == operator)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// The number of policies that block the operator in `wasmbench-system`, of policies with these specs.
    fn found(specs: &[Value]) -> usize {
        let policy = |spec: &Value| {
            let policy = json!({ "metadata": { "name": "p" }, "spec": spec });
            serde_json::from_value(policy).unwrap()
        };
        let policies: Vec<NetworkPolicy> = specs.iter().map(policy).collect();
        blocking_policies(&policies, Some("wasmbench-system")).len()
    }

    fn denying(selector: &Value) -> Value {
        json!({ "podSelector": selector, "policyTypes": ["Ingress"] })
    }

    #[test]
    fn a_policy_is_an_obstacle_if_it_selects_subjects() {
        let expression = |operator: &str, key: &str, values: Value| json!({ "matchExpressions": [{ "key": key, "operator": operator, "values": values }] });
        let component = "app.kubernetes.io/component";
        let selecting = [
            json!({}),
            json!({ "matchLabels": { "app.kubernetes.io/part-of": "wasmbench" } }),
            json!({ "matchLabels": { "wasmbench.dev/variant": "mine" } }),
            expression("In", component, json!(["subject", "web"])),
            expression("NotIn", component, json!(["web"])),
            expression("NotIn", "app", json!(["web"])),
            expression("Exists", "wasmbench.dev/run-uid", json!(null)),
            expression("DoesNotExist", "app", json!(null)),
        ];
        for selector in &selecting {
            assert_eq!(found(&[denying(selector)]), 1, "{selector}");
        }
        let others = [
            json!({ "matchLabels": { "app": "web" } }),
            json!({ "matchLabels": { (component): "web" } }),
            expression("In", "app", json!(["web"])),
            expression("NotIn", component, json!(["subject"])),
            expression("Exists", "app", json!(null)),
            expression("DoesNotExist", component, json!(null)),
        ];
        for selector in &others {
            assert_eq!(found(&[denying(selector)]), 0, "{selector}");
        }
        let egress = json!({ "podSelector": {}, "policyTypes": ["Egress"] });
        assert_eq!(found(&[egress]), 0);
        assert_eq!(
            found(&[json!({ "podSelector": {} })]),
            1,
            "ingress is implied"
        );
    }

    #[test]
    fn one_policy_that_lets_the_operators_namespace_in_is_enough() {
        let deny = denying(&json!({}));
        let letting = |rule: Value| json!({ "podSelector": {}, "policyTypes": ["Ingress"], "ingress": [rule] });
        let named = |name: &str| json!({ "namespaceSelector": { "matchLabels": { "kubernetes.io/metadata.name": name } } });
        for rule in [
            json!({}),
            json!({ "ports": [{ "port": 8080 }] }),
            json!({ "from": [{ "namespaceSelector": {} }] }),
            json!({ "from": [named("other"), named("wasmbench-system")] }),
            json!({ "from": [{ "ipBlock": { "cidr": "0.0.0.0/0" } }] }),
        ] {
            assert_eq!(found(&[deny.clone(), letting(rule.clone())]), 0, "{rule}");
        }
        for rule in [
            json!({ "from": [{ "podSelector": {} }] }),
            json!({ "from": [named("other")] }),
            json!({ "from": [{ "ipBlock": { "cidr": "10.0.0.0/8" } }] }),
        ] {
            assert_eq!(found(&[deny.clone(), letting(rule.clone())]), 2, "{rule}");
        }
    }
}
