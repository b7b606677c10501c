//! Judges what was read of an installation: the API, the operator, its policies and namespace, and
//! the user's rights. Pure.

use wasmbench_model::version::VERSION;
use wasmbench_model::wire::request::MeterLevel;

use crate::check::finding::{Finding, State};
use crate::check::observed::{Answer, ObservedInstallation, ObservedOperator};
use crate::check::reach::blocking_policies;

/// What the API server must serve.
const RESOURCES: [&str; 2] = ["benchmarkruns", "benchmarkschedules"];
/// The chart's admission policies, without the name of the operator's Deployment as their prefix.
pub const POLICIES: [&str; 9] = [
    "installation",
    "leader",
    "origin",
    "owned",
    "pods",
    "probes",
    "requester",
    "schedules",
    "size",
];
/// The one that the chart has where runs may scale what is there already.
pub const SCALE: &str = "scale";
/// Pod security levels that refuse a probe's mounts.
const REFUSING: [&str; 2] = ["baseline", "restricted"];

/// All findings except those about presets.
pub fn installation(observed: &ObservedInstallation) -> Vec<Finding> {
    let operator = the_operator(&observed.operators);
    let mut found = vec![
        api(&observed.resources),
        operator_finding(&observed.operators),
    ];
    found.extend(no_namespace(observed));
    if let Some(operator) = operator {
        found.push(policies(observed, operator));
        found.push(probes(observed, operator));
    }
    found.extend(not_followed(observed));
    found.extend(network(
        observed,
        operator.map(|one| one.namespace.as_str()),
    ));
    found.extend(
        observed
            .rights
            .iter()
            .map(|(text, may)| right(text, may, &observed.namespace)),
    );
    found
}

/// The operator, if there is exactly one.
fn the_operator(operators: &Answer<Vec<ObservedOperator>>) -> Option<&ObservedOperator> {
    match operators.as_deref() {
        Ok([one]) => Some(one),
        Ok(_) | Err(_) => None,
    }
}

fn api(resources: &Answer<Vec<String>>) -> Finding {
    let what = "API";
    let served = match resources {
        Ok(served) => served,
        Err(why) => {
            let remedy = "ask an administrator for the role system:discovery";
            return Finding::needed(what, State::Unknown, why.clone(), remedy);
        }
    };
    let missing: Vec<&str> = RESOURCES
        .into_iter()
        .filter(|one| !served.iter().any(|other| other == one))
        .collect();
    if missing.is_empty() {
        return Finding::ok(what, RESOURCES.join(", "));
    }
    let found = format!("not served: {}", missing.join(", "));
    let remedy = "helm install wasmbench charts/wasmbench, or apply the files in crds/";
    Finding::needed(what, State::Missing, found, remedy)
}

fn operator_finding(operators: &Answer<Vec<ObservedOperator>>) -> Finding {
    let what = "operator";
    let all = match operators {
        Ok(all) => all.as_slice(),
        Err(why) => {
            let remedy =
                "name its namespace with --operator-namespace, or ask an administrator to check";
            return Finding::needed(what, State::Unknown, why.clone(), remedy);
        }
    };
    let name = |one: &ObservedOperator| format!("{}/{}", one.namespace, one.name);
    match all {
        [] => {
            let remedy = "helm install wasmbench charts/wasmbench --namespace wasmbench-system";
            Finding::needed(what, State::Missing, "there is none".into(), remedy)
        }
        [one] if !one.available => {
            let found = format!("{} is not available", name(one));
            let remedy = format!(
                "kubectl describe pods --namespace {} --selector app.kubernetes.io/component=operator",
                one.namespace
            );
            Finding::needed(what, State::Missing, found, &remedy)
        }
        [one] => available(what, one, &name(one)),
        many => {
            let found: Vec<String> = many.iter().map(name).collect();
            let remedy =
                "uninstall all but one: two operators measure on one node at the same time";
            Finding::needed(what, State::Missing, found.join(", "), remedy)
        }
    }
}

fn available(what: &str, operator: &ObservedOperator, name: &str) -> Finding {
    let version = operator.version.as_deref().unwrap_or("of unknown version");
    let mut finding = Finding::ok(what, format!("{name} {version}"));
    if version != VERSION {
        finding.remedy =
            format!("this plugin is {VERSION}: use that of the operator, or upgrade the chart");
    }
    finding
}

fn policies(observed: &ObservedInstallation, operator: &ObservedOperator) -> Finding {
    let what = "admission policies";
    if observed
        .config
        .as_ref()
        .is_ok_and(|config| !config.admission_policies)
    {
        let remedy = "set admissionPolicies.enabled in the chart, unless you may not create them";
        return Finding::new(what, State::Skipped, "switched off".into(), remedy);
    }
    let bound = match &observed.policies {
        Ok(bound) => bound,
        Err(why) => {
            let remedy = "ask an administrator to check";
            return Finding::new(what, State::Unknown, why.clone(), remedy);
        }
    };
    let config = observed.config.as_ref();
    let scales = config.is_ok_and(|config| !config.scale.namespaces.is_empty());
    let mut needed = POLICIES.to_vec();
    needed.extend(scales.then_some(SCALE));
    let is_missing = |suffix: &&&str| !bound.contains(&format!("{}-{suffix}", operator.name));
    let missing: Vec<&str> = needed.iter().filter(is_missing).copied().collect();
    if missing.is_empty() {
        return Finding::ok(what, format!("{} bound", needed.len()));
    }
    let found = format!("not bound: {}", missing.join(", "));
    let remedy = "helm upgrade with this chart: without them runs are a way around rights";
    Finding::needed(what, State::Missing, found, remedy)
}

/// Probes are Jobs that start with each trial. All that can be checked in advance is whether their
/// namespace allows them.
fn probes(observed: &ObservedInstallation, operator: &ObservedOperator) -> Finding {
    let what = "probes";
    let sees_nothing = observed
        .config
        .as_ref()
        .is_ok_and(|config| config.meter == MeterLevel::None);
    if sees_nothing {
        let remedy = "set meter.level=cgroup in the chart for CPU and memory";
        return Finding::new(
            what,
            State::Skipped,
            "see nothing of the node".into(),
            remedy,
        );
    }
    let namespace = &operator.namespace;
    match &observed.pod_security {
        Ok(Some(level)) if REFUSING.contains(&level.as_str()) => {
            let remedy = format!(
                "kubectl label namespace {namespace} pod-security.kubernetes.io/enforce=privileged --overwrite"
            );
            let found = format!("namespace {namespace} enforces {level}, which refuses them");
            Finding::needed(what, State::Missing, found, &remedy)
        }
        Ok(_) => Finding::ok(
            what,
            format!("namespace {namespace} lets them read cgroups"),
        ),
        Err(why) => {
            let remedy = "ask an administrator to check";
            Finding::new(what, State::Unknown, why.clone(), remedy)
        }
    }
}

/// A namespace that does not exist. Where namespaces may not be read, the rights in it are what counts.
fn no_namespace(observed: &ObservedInstallation) -> Option<Finding> {
    let missing = observed
        .namespace_exists
        .as_ref()
        .is_ok_and(|exists| !exists);
    missing.then(|| {
        let found = format!("there is no namespace {}", observed.namespace);
        let remedy = "choose another one with --namespace, or create it";
        Finding::needed("namespace", State::Missing, found, remedy)
    })
}

/// A namespace in which no run is followed.
fn not_followed(observed: &ObservedInstallation) -> Option<Finding> {
    let namespace = &observed.namespace;
    let config = observed
        .config
        .as_ref()
        .ok()
        .filter(|config| !config.watches(namespace))?;
    let found = format!("the operator does not follow runs in namespace {namespace}");
    let remedy = format!(
        "use one of {} with --namespace, or ask for {namespace} in watchNamespaces of the chart",
        config.watch_namespaces.join(", ")
    );
    Some(Finding::needed("namespace", State::Missing, found, &remedy))
}

/// NetworkPolicies that may keep probes from the pods of runs. Whether they are enforced depends on
/// the network plugin, so that runs may work all the same.
fn network(observed: &ObservedInstallation, operator_namespace: Option<&str>) -> Option<Finding> {
    let what = "NetworkPolicies";
    let policies = match &observed.network_policies {
        Ok(policies) => policies,
        Err(why) => {
            let remedy = "ask an administrator to check";
            return Some(Finding::new(what, State::Unknown, why.clone(), remedy));
        }
    };
    let names = blocking_policies(policies, operator_namespace);
    if names.is_empty() {
        return None;
    }
    let found = format!("{} may keep probes from the pods of runs", names.join(", "));
    let operator = operator_namespace.unwrap_or("of the operator");
    let remedy = format!(
        "allow ingress from namespace {operator} to pods with app.kubernetes.io/part-of=wasmbench"
    );
    Some(Finding::new(what, State::Unknown, found, &remedy))
}

fn right(text: &str, may: &Answer<bool>, namespace: &str) -> Finding {
    let what = format!("right to {text}");
    match may {
        Ok(true) => Finding::ok(&what, format!("in namespace {namespace}")),
        Ok(false) => {
            let remedy = format!(
                "ask for the ClusterRole edit: kubectl create rolebinding NAME --clusterrole=edit --user=YOU --namespace {namespace}"
            );
            let found = format!("not in namespace {namespace}");
            Finding::needed(&what, State::Missing, found, &remedy)
        }
        Err(why) => Finding::new(
            &what,
            State::Unknown,
            why.clone(),
            "ask an administrator to check",
        ),
    }
}
