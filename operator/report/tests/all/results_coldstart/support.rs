//! Queries on a summary of cold starts that several tests share.

use wasmbench_controller::status::Conclusion;
use wasmbench_model::wire::record::Record;
use wasmbench_report::terminal;
use wasmbench_results::cells::coldstart::ColdStartCell;
use wasmbench_results::judge::comparison::Comparison;
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::collect::summarize;
use wasmbench_results::vocabulary::doubt::Reason;
use wasmbench_results::vocabulary::measure::Metric;

use crate::results_support::cold_starts::{input, run};

pub fn summary_of(records: &[Record]) -> Summary {
    summarize(&input(), records)
}

pub fn shown(summary: &Summary) -> String {
    let conclusion = Conclusion::from_summary(summary, vec![]);
    let mut run = run();
    run.status = Some(wasmbench_api::BenchmarkRunStatus {
        baseline: Some("tortoise".into()),
        harness_floor: conclusion.harness_floor,
        summary: conclusion.rows,
        verdict: Some(conclusion.verdict),
        ..Default::default()
    });
    terminal::status_text(&run)
}

pub fn hare(summary: &Summary) -> &ColdStartCell {
    let mut cells = summary.cold_starts.iter();
    cells
        .find(|cell| cell.variant == "hare" && cell.detail.concurrency == 1)
        .unwrap()
}

/// The ratio of a measure of the hare to the tortoise's, with one pod at once.
pub fn hares_ratio(summary: &Summary, metric: Metric) -> Option<&Comparison> {
    summary.comparison(hare(summary).any(), metric)
}

pub fn doubts_of(summary: &Summary, reason: Reason) -> Vec<(bool, &str)> {
    let found = summary.doubts.iter().filter(|doubt| doubt.reason == reason);
    found
        .map(|doubt| (doubt.breaks_trust, doubt.message.as_str()))
        .collect()
}
