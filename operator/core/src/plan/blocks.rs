//! How many blocks a run with precision has. The records of its first blocks decide it, and which
//! variants can still be measured. They are read only at the end of a block, between two trials: if
//! anything of a block exists, that block has been decided on.

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
pub fn blocks(run: &ValidatedRun, seen: &Observed) -> Blocks {
    let (first, most) = (run.spec.fewest_blocks(), run.spec.most_blocks());
    let subjects = seen.subjects.iter().chain(&seen.cold_subjects);
    let begun: Option<&TrialId> = seen
        .records
        .keys()
        .chain(subjects.map(|subject| &subject.trial))
        .chain(seen.probes.iter().map(|probe| &probe.trial))
        .max_by_key(|trial| trial.block);
    let decided = begun.map_or(first, |trial| trial.block.clamp(first, most));
    let mut planned = run.planned(decided).iter();
    let complete = planned.all(|trial| seen.records.contains_key(trial));
    if complete && decided < most && !seen.report {
        Blocks::Complete(decided)
    } else {
        Blocks::Decided(decided)
    }
}
