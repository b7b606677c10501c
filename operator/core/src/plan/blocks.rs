//! Between two blocks: how many of them a run with precision has, and how many are complete. The records
//! of the first blocks decide it, and which variants can still be measured. Records are read only then,
//! between two trials: if anything of a block exists, that block has been decided on.

use wasmbench_model::store::Ended;
use wasmbench_model::wire::record::TrialId;

use crate::observed::Observed;
use crate::validate::ValidatedRun;

/// How many blocks a run has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocks {
    /// This many, as far as is decided so far.
    Decided(u32),
    /// All trials of this many blocks have a record: their contents decide whether more are measured.
    Complete(u32),
}

/// How many blocks `run` has, from what was seen, without reading the contents of records.
pub fn blocks(run: &ValidatedRun, observed: &Observed) -> Blocks {
    let (first, most) = (run.spec.fewest_blocks(), run.spec.most_blocks());
    let begun = observed.records.keys().chain(with_pods(observed));
    let begun = begun.map(|trial| trial.block).max();
    let decided = begun.map_or(first, |block| block.clamp(first, most));
    let mut planned = run.planned(decided).iter();
    let complete = planned.all(|trial| observed.records.contains_key(trial));
    if complete && decided < most && !observed.report {
        Blocks::Complete(decided)
    } else {
        Blocks::Decided(decided)
    }
}

/// The number of complete blocks of `run`, between two blocks: `None` once anything of the next one
/// exists, and after the last one. Skipped trials begin no block.
pub fn complete_blocks(run: &ValidatedRun, observed: &Observed) -> Option<u32> {
    let records = observed.records.iter();
    let tried = records.filter(|(_, ended)| !matches!(ended, Ended::Skipped(_)));
    let begun = tried.map(|(trial, _)| trial).chain(with_pods(observed));
    let begun = begun.map(|trial| trial.block).max()?;
    let mut planned = run.order.iter().take_while(|trial| trial.block <= begun);
    let complete = planned.all(|trial| observed.records.contains_key(trial));
    let is_between = begun > 0 && begun < run.spec.most_blocks() && !observed.report;
    (complete && is_between).then_some(begun)
}

/// The trials for which there are subjects or probes.
fn with_pods(observed: &Observed) -> impl Iterator<Item = &TrialId> {
    let subjects = observed.subjects.iter().chain(&observed.cold_subjects);
    let probes = observed.probes.iter().map(|probe| &probe.trial);
    subjects.map(|subject| &subject.trial).chain(probes)
}
