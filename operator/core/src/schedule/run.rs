//! The run that a schedule starts for one of its times.

use jiff::Timestamp;
use kube::{Resource as _, ResourceExt as _};
use wasmbench_api::{BenchmarkRun, BenchmarkSchedule, labels};

/// The run for the time `due`, owned by the schedule.
pub fn run_of(schedule: &BenchmarkSchedule, due: Timestamp) -> BenchmarkRun {
    let (name, template) = (schedule.name_any(), &schedule.spec.template);
    let mut run = BenchmarkRun::new(&run_name(&name, due), template.spec.clone());
    let mut more = template.metadata.clone().unwrap_or_default();
    more.labels.insert(labels::SCHEDULE.to_owned(), name);
    more.annotations
        .insert(labels::SCHEDULED_TIME.to_owned(), due.to_string());
    run.metadata.namespace = schedule.namespace();
    run.metadata.labels = Some(more.labels);
    run.metadata.annotations = Some(more.annotations);
    run.metadata.owner_references = schedule.controller_owner_ref(&()).map(|owner| vec![owner]);
    run
}

/// The name of a schedule's run for one of its times, which are whole minutes apart. The same time
/// gives the same name, so that no run starts twice.
pub fn run_name(schedule: &str, due: Timestamp) -> String {
    format!("{schedule}-{}", due.as_second().div_euclid(60))
}
