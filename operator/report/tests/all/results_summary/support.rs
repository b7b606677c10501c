//! Queries on a summary that several tests share.

use wasmbench_model::wire::record::{Point, Record, TrialId};
use wasmbench_results::judge::comparison::Comparison;
use wasmbench_results::judge::verdict::Verdict;
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::collect::summarize;
use wasmbench_results::vocabulary::doubt::{Doubt, Reach, Reason};
use wasmbench_results::vocabulary::measure::Metric;

use crate::results_support::{all_measured, run, slow};

pub fn doubt(summary: &Summary, reason: Reason) -> Doubt {
    let missing = Doubt {
        reason,
        breaks_trust: false,
        message: "missing".into(),
        remedy: String::new(),
    };
    summary
        .doubts
        .iter()
        .find(|doubt| doubt.reason == reason)
        .cloned()
        .unwrap_or(missing)
}

/// The reasons that break trust or exclude a point.
pub fn reasons(summary: &Summary) -> Vec<Reason> {
    let leaves_out =
        |reason: Reason| reason.reach() == Reach::LeftOut && reason != Reason::TooFewSamples;
    let doubts = summary.doubts.iter();
    let worst = doubts.filter(|d| d.breaks_trust || leaves_out(d.reason));
    worst.map(|d| d.reason).collect()
}

pub fn is_embedded_hello(trial: &TrialId) -> bool {
    trial.cell.variant == "embedded" && trial.cell.workload == "hello"
}

pub fn with_window(change: impl Fn(&mut Record)) -> Summary {
    let run = run();
    let mut records = all_measured(&run);
    records
        .iter_mut()
        .filter(|r| is_embedded_hello(&r.trial))
        .for_each(change);
    summarize(&run, &records)
}

/// A clean run except that the node was noisy in these blocks of one point.
pub fn noisy_in(blocks: &[u32]) -> Summary {
    summarize(&run(), &noisy_records(blocks))
}

pub fn noisy_records(blocks: &[u32]) -> Vec<Record> {
    let mut records = all_measured(&run());
    let at = Point::Throughput { connections: 50 };
    let is_noisy =
        |t: &TrialId| is_embedded_hello(t) && t.cell.point == at && blocks.contains(&t.block);
    for record in records.iter_mut().filter(|r| is_noisy(&r.trial)) {
        let window = record.load_mut().unwrap().timed.as_mut().unwrap();
        window.node.as_mut().unwrap().busy_nanoseconds = 2 * window.duration_nanoseconds;
    }
    records
}

/// The synthetic run with a twin whose rate is off by `factor` in every block.
pub fn with_twin(factor: f64) -> Summary {
    let mut run = run();
    run.spec.noise_floor = Some(true);
    let mut records = all_measured(&run);
    slow(&mut records, |trial| {
        (trial.cell.variant == "baseline-twin").then_some(factor)
    });
    summarize(&run, &records)
}

/// The workloads on which variants are compared, one entry per comparison.
pub fn compared_on(summary: &Summary) -> Vec<&str> {
    let comparisons = summary.comparisons.iter();
    comparisons.map(|c| c.workload.as_str()).collect()
}

pub fn verdict_on(summary: &Summary, workload: &str) -> Verdict {
    let is_meant = |c: &&Comparison| c.workload == workload && c.metric == Metric::ThroughputRps;
    summary.comparisons.iter().find(is_meant).unwrap().verdict
}
