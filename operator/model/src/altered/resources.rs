//! Requests and limits: the desired and the found ones -> the differences, and what a `LimitRange`
//! set where nothing was desired.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::{Container, Pod, PodSpec};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;

use crate::containers;
use crate::wire::addition::{AddedBy, Addition};
use wasmbench_api::quantity::thousandths;

/// The annotation in which the API server lists which defaults it took from a `LimitRange`:
/// `LimitRanger plugin set: cpu, memory request for container a; cpu limit for container a`.
const LIMIT_RANGE: &str = "kubernetes.io/limit-ranger";
/// What its text begins with.
const LIMIT_RANGE_PREFIX: &str = "LimitRanger plugin set: ";

type Amounts = BTreeMap<String, Quantity>;

/// The differences, for people, and the defaults of a `LimitRange`.
pub fn differences(desired: &PodSpec, pod: &Pod, found: &PodSpec) -> (Vec<String>, Vec<Addition>) {
    let (mut all, mut added) = (vec![], vec![]);
    if found.resources != desired.resources {
        all.push("resources of the whole pod were set".to_owned());
    }
    for container in &desired.containers {
        let Some(there) = containers::named(found, &container.name) else {
            continue;
        };
        let defaults = set_by_limit_range(pod, &container.name);
        let (was, is) = (desired_amounts(container), amounts(there));
        let keys: BTreeSet<&String> = was.keys().chain(is.keys()).collect();
        for key in keys {
            let (was, is) = (was.get(key), is.get(key));
            if same(was, is) {
                continue;
            }
            match is {
                Some(is) if was.is_none() && defaults.contains(key) => added.push(Addition {
                    by: AddedBy::LimitRange,
                    what: key.clone(),
                    value: is.0.clone(),
                }),
                Some(_) | None => {
                    all.push(format!(
                        "{key} is {} instead of {}",
                        amount_text(is),
                        amount_text(was)
                    ));
                }
            }
        }
    }
    (all, added)
}

fn amount_text(amount: Option<&Quantity>) -> &str {
    amount.map_or("nothing", |amount| &amount.0)
}

/// Requests and limits of a container as `requests.cpu` and `limits.memory`.
fn amounts(container: &Container) -> Amounts {
    let keyed = |kind: &str, amounts: &Option<Amounts>| -> Amounts {
        let all = amounts.iter().flatten();
        all.map(|(key, amount)| (format!("{kind}.{key}"), amount.clone()))
            .collect()
    };
    let Some(resources) = &container.resources else {
        return Amounts::new();
    };
    let mut all = keyed("limits", &resources.limits);
    all.extend(keyed("requests", &resources.requests));
    all
}

/// The same for a desired container: where only a limit is set, the API server takes it
/// for the request, too.
fn desired_amounts(container: &Container) -> Amounts {
    let limits = container
        .resources
        .as_ref()
        .and_then(|all| all.limits.clone())
        .unwrap_or_default();
    let requests = limits.into_iter();
    let mut all: Amounts = requests
        .map(|(key, amount)| (format!("requests.{key}"), amount))
        .collect();
    all.extend(amounts(container));
    all
}

/// Whether two amounts are the same: the API server rewrites them (`1000m` as `1`).
fn same(a: Option<&Quantity>, b: Option<&Quantity>) -> bool {
    let (Some(a), Some(b)) = (a, b) else {
        return a == b;
    };
    let number = |amount: &Quantity| thousandths(&amount.0);
    a == b || number(a).is_some_and(|a| number(b) == Some(a))
}

/// The keys of [`amounts`] that the API server took from a `LimitRange` for `container`.
fn set_by_limit_range(pod: &Pod, container: &str) -> BTreeSet<String> {
    let annotations = pod.metadata.annotations.as_ref();
    let text = annotations.and_then(|all| all.get(LIMIT_RANGE)?.strip_prefix(LIMIT_RANGE_PREFIX));
    let mut keys = BTreeSet::new();
    for part in text.unwrap_or_default().split("; ") {
        let Some((what, name)) = part.split_once(" for container ") else {
            continue;
        };
        let Some((resources, kind)) = what.rsplit_once(' ').filter(|_| name == container) else {
            continue;
        };
        keys.extend(
            resources
                .split(", ")
                .map(|resource| format!("{kind}s.{resource}")),
        );
    }
    keys
}
