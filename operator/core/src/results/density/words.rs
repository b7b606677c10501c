//! Density in words: rows of the status, the verdict of a run that has nothing else, doubts, and the
//! sweep.

use wasmbench_api::density::Density;
use wasmbench_api::run::TWIN;
use wasmbench_api::status::{DensityStatus, SummaryRow};

use super::super::judge::Verdict;
use super::super::rows::invalid;
use super::super::status_table::words as status_words;
use super::super::summary::Summary;
use super::super::table::{Align, Table};
use super::super::tables::{NOTHING, judged_ratio, with_mark};
use super::super::units;
use super::super::units::cut;
use super::DensityCell;
use crate::wire::density::DensityStopReason;

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
pub(super) fn ended(cell: &DensityCell) -> Vec<String> {
    let sentence = |end: &super::DensityEnd| {
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

/// Whether anything is known of the density of a variant.
pub fn is_measured(summary: &Summary, variant: &str) -> bool {
    let mut cells = summary.density.iter();
    cells.any(|cell| cell.variant == variant && cell.counts.valid + cell.counts.invalid > 0)
}

/// `rows` with what is known of density, and further rows for those that have nothing else.
pub fn rows(summary: &Summary, mut rows: Vec<SummaryRow>) -> Vec<SummaryRow> {
    let measured = summary.density.iter();
    let is_told = |cell: &&DensityCell| cell.counts.valid > 0 || !cell.invalid_because.is_empty();
    for cell in measured.filter(|cell| cell.variant != TWIN).filter(is_told) {
        let mine =
            |row: &&mut SummaryRow| row.variant == cell.variant && row.workload == cell.workload;
        if let Some(row) = rows.iter_mut().find(mine) {
            row.density = Some(status(cell));
        } else {
            rows.push(SummaryRow {
                variant: cell.variant.clone(),
                workload: cell.workload.clone(),
                density: Some(status(cell)),
                ..SummaryRow::default()
            });
        }
    }
    rows
}

/// Density of one workload for a terminal; empty without any.
pub fn terminal(rows: &[&SummaryRow], baseline: &str) -> String {
    let versus = format!("VERSUS {baseline}");
    let mut table = Table::new(&[
        ("DENSITY", Align::Left),
        ("PER INSTANCE", Align::Right),
        (&versus, Align::Right),
        ("INSTANCES", Align::Right),
        ("STOPPED EARLY", Align::Right),
        ("TRIALS", Align::Right),
        ("INVALID", Align::Left),
    ]);
    for row in rows {
        let Some(found) = &row.density else { continue };
        let ratio = found.ratio.zip(found.verdict.as_deref());
        table.row(&[
            with_mark(&row.variant, baseline),
            found
                .bytes_per_instance
                .map_or_else(|| NOTHING.to_owned(), units::bytes),
            ratio.map_or_else(
                || NOTHING.to_owned(),
                |(ratio, verdict)| {
                    judged_ratio(ratio, found.low.zip(found.high), &status_words(verdict))
                },
            ),
            found.instances.to_string(),
            found.stopped_trials.to_string(),
            found.trials.to_string(),
            found.invalid.clone().unwrap_or_else(|| NOTHING.to_owned()),
        ]);
    }
    table.drop_columns_of(NOTHING);
    if table.is_empty() {
        String::new()
    } else {
        table.plain()
    }
}

fn status(cell: &DensityCell) -> DensityStatus {
    let found = cell.versus_baseline.as_ref();
    DensityStatus {
        trials: cell.counts.valid,
        failed_trials: cell.counts.invalid + cell.counts.failed + cell.counts.skipped,
        invalid: invalid(&cell.invalid_because),
        instances: cell.steps.last().map_or(0, |step| step.instances),
        stopped_trials: cell.stopped.iter().map(|end| end.trials).sum(),
        bytes_per_instance: cell.bytes_per_instance.map(|spread| spread.median),
        ratio: found.map(|found| found.ratio),
        low: found.and_then(|found| found.low),
        high: found.and_then(|found| found.high),
        verdict: found
            .and_then(|found| found.verdict)
            .map(|verdict| <&str>::from(verdict).to_owned()),
    }
}
