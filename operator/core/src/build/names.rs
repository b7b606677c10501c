//! Names of all objects. They are derived, never generated: creating the same thing twice conflicts
//! with the first object instead of adding a second one. A hash of the run's uid distinguishes runs
//! of the same name.

use wasmbench_model::names::{OBJECT, fit, plain};
pub use wasmbench_model::names::{history, report};
use wasmbench_model::wire::record::{Cell, TrialId};

use crate::validate::ValidatedRun;

/// A pod's name is also its host name, whose length Linux limits.
const POD: usize = 63;
/// A Job's pods append a dash and five characters.
const JOB: usize = 57;
/// Cold subjects append two numbers with dashes: sample 0 to 200 and pod 0 to 63.
const COLD_SUBJECT: usize = POD - "-200-63".len();

/// Name of a trial's subject.
pub fn subject(run: &ValidatedRun, trial: &TrialId) -> String {
    trial_name(run, trial, "", POD)
}

/// Prefix of the names of a trial's cold subjects.
pub fn cold_subject(run: &ValidatedRun, trial: &TrialId) -> String {
    trial_name(run, trial, "", COLD_SUBJECT)
}

/// Prefix of the names of the pods of a trial's floor.
pub fn floor(run: &ValidatedRun, trial: &TrialId) -> String {
    let text = format!("floor-{}", trial_text(run, trial));
    fit(&text, COLD_SUBJECT, &format!("{}/{trial}/floor", run.uid))
}

/// Name of a trial's probe Job.
pub fn probe(run: &ValidatedRun, trial: &TrialId) -> String {
    trial_name(run, trial, "probe-", JOB)
}

/// Name of the probe Job that measures a trial once more.
pub fn probe_again(run: &ValidatedRun, trial: &TrialId) -> String {
    let text = format!("probe-{}", trial_text(run, trial));
    fit(&text, JOB, &format!("{}/{trial}/again", run.uid))
}

/// Name of the run's echo server, after so many `restarts`.
pub fn upstream(run: &ValidatedRun, restarts: usize) -> String {
    let identity = match restarts {
        0 => run.uid.clone(),
        again => format!("{}/{again}", run.uid),
    };
    fit(&format!("{}-upstream", run.name), POD, &identity)
}

/// Name of a chunk of records of a variant and workload; chunks are numbered from 0.
pub fn records(run: &ValidatedRun, cell: &Cell, chunk: u32) -> String {
    let Cell {
        variant, workload, ..
    } = cell;
    let text = format!("{}-records-{variant}-{workload}-{chunk}", run.name);
    fit(
        &text,
        OBJECT,
        &format!("{}/{variant}/{workload}/{chunk}", run.uid),
    )
}

/// Name of the claim on a node.
pub fn node_lease(node: &str) -> String {
    plain(format!("wasmbench-node-{node}"), OBJECT, node)
}

/// A run's name as a label value, which is limited to 63 characters.
pub fn label_value(name: &str) -> String {
    plain(name.to_owned(), POD, name)
}

fn trial_name(run: &ValidatedRun, trial: &TrialId, before: &str, limit: usize) -> String {
    let text = format!("{before}{}", trial_text(run, trial));
    fit(&text, limit, &format!("{}/{trial}", run.uid))
}

fn trial_text(run: &ValidatedRun, trial: &TrialId) -> String {
    let Cell {
        variant,
        workload,
        point,
    } = &trial.cell;
    format!("{}-{variant}-{workload}-{point}-b{}", run.name, trial.block)
}
