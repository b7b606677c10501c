//! The objects that a run's variants scale, and the pods of the one that it has scaled up. Nobody labels
//! those pods, and no watch shows them.

use std::collections::{BTreeMap, BTreeSet};

use wasmbench_core::demands::TemplateLabels;
use wasmbench_core::observed::{ObservedLease, ObservedSubject};
use wasmbench_core::scale::{ObservedTarget, Scaled, Target};
use wasmbench_core::validate::ValidatedRun;

use super::foreign_pod::subject;
use crate::context::Context;
use crate::error::Error;
use crate::scale;

/// What was seen of a run's objects.
#[derive(Default)]
pub struct Targets {
    /// The objects.
    pub observed: BTreeMap<Target, ObservedTarget>,
    /// The pods of the one that the run's claim notes.
    pub subjects: Vec<ObservedSubject>,
    /// The labels that their templates demand of a node.
    pub templates: TemplateLabels,
}

/// Reads the objects that the variants of `run` scale, and the one that its claim notes. `node` is the one
/// that it holds.
pub async fn read(
    context: &Context,
    run: &ValidatedRun,
    leases: &[ObservedLease],
    node: &str,
) -> Result<Targets, Error> {
    let noted: Option<&Scaled> = leases.iter().find_map(|lease| lease.scaled.as_deref());
    let named = run.variants.iter();
    let named = named.filter_map(|variant| variant.subject.target.as_ref());
    let all: BTreeSet<&Target> = named.chain(noted.map(|noted| &noted.target)).collect();
    if all.is_empty() {
        return Ok(Targets::default());
    }
    let autoscalers = scale::autoscalers(context, &run.namespace).await?;
    let mut targets = Targets::default();
    for target in all {
        let noted = noted.filter(|noted| noted.target == *target);
        let found = scale::read(context, &run.namespace, target, noted, &autoscalers).await?;
        if let Some(noted) = noted {
            let many = found.pods.len() > 1;
            let allows_host = context.config.host_network;
            let pods = found.pods.iter();
            let subjects = pods.filter_map(|pod| {
                Some(ObservedSubject {
                    trial: noted.trial.clone(),
                    pod: subject(pod, target, node, many, allows_host)?,
                })
            });
            targets.subjects.extend(subjects);
        }
        targets.templates.insert(target.clone(), found.template);
        targets.observed.insert(target.clone(), found.observed);
    }
    Ok(targets)
}
