//! Reads the schedule as it is now, and its runs.

use kube::api::ListParams;
use kube::{Api, Resource, ResourceExt};
use wasmbench_api::{BenchmarkSchedule, labels};
use wasmbench_core::schedule::{ScheduledRun, observed};

use crate::context::{Context, GuardedRun, GuardedSchedule, ScheduleMeta};
use crate::error::Error;
use crate::runs_in_memory;

fn failed(what: &'static str) -> impl Fn(kube::Error) -> Error {
    move |source| Error::Observe { what, source }
}

/// The schedule as the API server has it: the watch may lag behind, as it does after silence, and
/// somebody may have suspended the schedule in the meantime. `None` if it is gone or being deleted.
pub async fn schedule(
    context: &Context,
    known: &ScheduleMeta,
) -> Result<Option<GuardedSchedule>, Error> {
    let namespace = known.namespace().unwrap_or_default();
    let api: Api<GuardedSchedule> = Api::namespaced(context.client.clone(), &namespace);
    let found = api.get_opt(&known.name_any()).await;
    let found = found.map_err(failed("a schedule"))?;
    let lives = |found: &GuardedSchedule| {
        found.uid() == known.uid() && found.meta().deletion_timestamp.is_none()
    };
    Ok(found.filter(lives))
}

/// All runs of the schedule. Reads them in pages and keeps only a few fields of each.
pub async fn runs(
    context: &Context,
    schedule: &BenchmarkSchedule,
) -> Result<Vec<ScheduledRun>, Error> {
    let namespace = schedule.namespace().unwrap_or_default();
    let (name, uid) = (schedule.name_any(), schedule.uid().unwrap_or_default());
    let api: Api<GuardedRun> = Api::namespaced(context.client.clone(), &namespace);
    let labelled = format!("{}={name}", labels::SCHEDULE);
    let mut params = ListParams::default()
        .labels(&labelled)
        .limit(runs_in_memory::PAGE);
    let mut found = vec![];
    loop {
        let page = api.list(&params).await.map_err(failed("runs"))?;
        // A run that does not decode is ignored, and never removed.
        let decoded = page.items.iter().filter_map(|run| run.0.as_ref().ok());
        found.extend(decoded.filter_map(|run| observed(run, &uid)));
        match page.metadata.continue_.filter(|more| !more.is_empty()) {
            Some(more) => params = params.continue_token(&more),
            None => return Ok(found),
        }
    }
}
