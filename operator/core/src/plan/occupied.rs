//! Nothing starts on a node while anything of another run is there: a claim shows who may measure,
//! but not that everybody else has stopped. A deletion may be noticed late, and a write whose
//! response was lost may take effect late.

use jiff::Timestamp;

use wasmbench_api::status::TrialPhase;

use crate::observed::{Observed, Occupant};
use crate::plan::pods::later;
use crate::plan::{OCCUPANT_CHECK, Plan, Stage, Step, Wake};

/// What other runs have on `node`.
pub(super) fn on<'a>(observed: &'a Observed, node: &'a str) -> impl Iterator<Item = &'a Occupant> {
    let all = observed.occupants.iter();
    all.filter(move |occupant| occupant.node == node)
}

/// What to do about the `occupants` of a node, and what to report. A run that can still measure removes
/// its own; what others have left is swept by whoever comes across it.
pub(super) fn wait(node: &str, occupants: &[Occupant]) -> (Vec<Step>, String) {
    let mut over = vec![];
    for occupant in occupants.iter().filter(|occupant| !occupant.lives) {
        let step = Step::Sweep(occupant.run.clone());
        if !over.contains(&step) {
            over.push(step);
        }
    }
    let what = occupants.first().map_or_else(String::new, |occupant| {
        let run = &occupant.run;
        format!("{} of run {}/{}", occupant.what, run.namespace, run.name)
    });
    (over, format!("waiting until node {node} is free of {what}"))
}

/// The `plan` of a run that holds its node, without what would start while something of another run
/// is there.
pub(super) fn without_starts(mut plan: Plan, observed: &Observed, now: Timestamp) -> Plan {
    let node = plan.node.clone().unwrap_or_default();
    let occupants: Vec<Occupant> = on(observed, &node).cloned().collect();
    if occupants.is_empty() || !plan.steps.iter().any(Step::starts) {
        return plan;
    }
    let (sweeps, message) = wait(&node, &occupants);
    plan.steps.retain(|step| !step.starts());
    plan.steps.extend(sweeps);
    plan.wake = Wake::At(later(now, OCCUPANT_CHECK));
    if let Stage::Measuring {
        phase,
        message: current,
        ..
    } = &mut plan.stage
    {
        (*phase, *current) = (TrialPhase::Preparing, message);
    }
    plan
}
