//! Density in words: rows of the status, the verdict of a run that has nothing else, doubts, and the
//! sweep.

use wasmbench_api::density::Density;
use wasmbench_api::run::TWIN;
use wasmbench_core::units::{self, cut, judged_ratio};
use wasmbench_core::wire::density::DensityStopReason;

use crate::density::DensityCell;
use crate::judge::Verdict;
use crate::summary::Summary;

/// Longest verdict, in characters: that of the status field is 512 bytes.
const MAX_VERDICT_CHARS: usize = 200;

/// The sweep in one sentence.
pub fn sweep(sweep: &Density) -> String {
    let steps: Vec<String> = sweep.ladder().iter().map(u32::to_string).collect();
    format!(
        "density: {} instances at once, {} requests to the first at each step; stops below {} % of \
         available memory or when a step takes more than {} s",
        steps.join(", "),
        sweep.requests,
        sweep.stop.available_memory_percent,
        sweep.stop.timeout_seconds
    )
}

/// Climbs that ended early, one sentence per step and reason.
pub fn ended(cell: &DensityCell) -> Vec<String> {
    let sentence = |end: &crate::density::DensityEnd| {
        let why = match end.reason {
            DensityStopReason::MemoryLow => "the node has too little memory available",
            DensityStopReason::NoRoom => "the scheduler has no room",
            DensityStopReason::Refused => "the API server refuses more pods",
            DensityStopReason::TooSlow => "not all answered in time",
            DensityStopReason::InstanceEnded => "an instance ended",
        };
        let (variant, reached, planned, trials) =
            (&cell.variant, end.reached, end.planned, end.trials);
        let message = cut(&end.message, MAX_VERDICT_CHARS);
        format!(
            "{variant}: stopped at {reached} of {planned} instances in {trials} block(s), on the \
             way to {}: {why} ({message})",
            end.at
        )
    };
    cell.stopped.iter().map(sentence).collect()
}

/// The result in one line; `None` without a slope.
pub fn verdict(summary: &Summary) -> Option<String> {
    let cells = || summary.density.iter().filter(|cell| cell.variant != TWIN);
    let against = |cell: &DensityCell| {
        let found = cell.versus_baseline.as_ref()?;
        let ratio = judged_ratio(
            found.ratio,
            found.low.zip(found.high),
            found.verdict.map_or("the noise floor", Verdict::words),
        );
        let (variant, workload) = (&cell.variant, &cell.workload);
        let one = units::bytes(cell.bytes_per_instance?.median);
        Some(format!(
            "{variant}: {ratio}; {one} per instance on {workload}, as a multiple of {}",
            summary.baseline
        ))
    };
    let absolute = |cell: &DensityCell| {
        let one = units::bytes(cell.bytes_per_instance?.median);
        let (variant, workload) = (&cell.variant, &cell.workload);
        Some(format!("{variant}: {one} per instance on {workload}"))
    };
    let mut statements: Vec<String> = cells().filter_map(against).collect();
    if statements.is_empty() {
        let ranked = cells().filter(|cell| cell.is_ranked());
        statements = ranked.filter_map(absolute).collect();
    }
    (!statements.is_empty()).then(|| cut(&statements.join("; "), MAX_VERDICT_CHARS))
}
