//! Probes that an operator launched although this one had taken over from it.

use jiff::Timestamp;
use k8s_openapi::api::batch::v1::Job;
use kube::ResourceExt;
use wasmbench_api::labels;
use wasmbench_core::build::node_of;
use wasmbench_core::observed::{LateProbe, LeaseSeen};
use wasmbench_core::plan::is_to_remove;

use crate::context::Context;

/// Whether the probe of this Job is such a one.
pub fn is_late(context: &Context, job: &Job) -> bool {
    let created = job.creation_timestamp();
    let created = created.map_or(Timestamp::MIN, |time| time.0);
    let epoch = context.leader.epoch();
    epoch.is_some_and(|epoch| epoch.is_late(job.labels(), created))
}

/// Late probes, and the others.
pub fn split(context: &Context, jobs: Vec<Job>) -> (Vec<Job>, Vec<Job>) {
    jobs.into_iter().partition(|job| is_late(context, job))
}

/// Those of these late probes that the run with this uid removes.
pub fn to_remove(late: &[Job], run_uid: &str, leases: &[LeaseSeen]) -> Vec<LateProbe> {
    let seen = late.iter().filter_map(late_probe);
    seen.filter(|probe| is_to_remove(probe, run_uid, leases))
        .collect()
}

fn late_probe(job: &Job) -> Option<LateProbe> {
    Some(LateProbe {
        node: node_of_job(job)?.to_owned(),
        job: job.name_any(),
        uid: job.uid()?,
        run_uid: job.labels().get(labels::RUN_UID)?.clone(),
        deleting: job.metadata.deletion_timestamp.is_some(),
    })
}

/// The node on which the Job's pod runs, or will run.
pub fn node_of_job(job: &Job) -> Option<&str> {
    let template = &job.spec.as_ref()?.template;
    node_of(template.spec.as_ref()?)
}
