//! Turns a plan and a conclusion into a status. Pure. Nothing in the status is ever read back to
//! decide what to do, with four exceptions: a finished run stays finished, a run that no node fits
//! keeps the time since when, the records of blocks whose scatter and doubts it has are not read
//! again, and bodies stay those that were first read.

mod capacity;
mod cold_start;
mod density;
mod drafts;
mod judged;
mod open_loop;
mod payload;
mod power;
mod progress;
pub mod rows;
pub mod size;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use wasmbench_api::conditions::{self, no, unknown, yes};
use wasmbench_api::status::{
    BenchmarkRunStatus, HarnessFloor, MeasuredNode, Power, Progress, ReachedPrecision, Results,
    SentBody, SkippedVariant, SummaryRow, VersusRun,
};
use wasmbench_api::{BenchmarkRun, BenchmarkRunStatus as Status};
use wasmbench_core::observed::Observed;
use wasmbench_core::plan::{Plan, Stage, remaining};
use wasmbench_core::validate::{Invalid, ValidatedRun};
use wasmbench_model::names;
use wasmbench_model::quote::shorten;
use wasmbench_model::variants::not_applicable;
use wasmbench_report::across::Versus;
use wasmbench_results::judge::expectations::Decision;
use wasmbench_results::judge::precision::Precision;
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::failures::skipped_points;
use wasmbench_results::summary::next_step::next_step;
use wasmbench_results::summary::trust::{Trust, trust};

/// Longest message of a condition or of progress.
const MESSAGE_LIMIT: usize = 1000;

/// The largest status as JSON, with room below the promised 100 kB. Everyone who watches runs
/// receives all of it with every change.
const STATUS_BYTES: usize = 95_000;

/// Bytes for the names of record `ConfigMaps`: 250 short ones. Their labels find all of them, and
/// people read a status for its numbers.
const RECORD_NAMES_BYTES: usize = 16_000;

/// The results of a finished run, as far as its status contains them.
#[derive(Clone, Debug, PartialEq)]
pub struct Conclusion {
    /// One row per variant and workload.
    pub rows: Vec<SummaryRow>,
    /// The result in one line.
    pub verdict: String,
    /// What to do next, in one sentence.
    pub next_step: String,
    /// Variants that could not be measured, in whole or in part.
    pub skipped: Vec<SkippedVariant>,
    /// The time that cold starts take when the service does nothing.
    pub harness_floor: Vec<HarnessFloor>,
    /// Whether the numbers are trustworthy.
    pub trust: Trust,
    /// The outcome of the run's expectations.
    pub expectations: Vec<Decision>,
    /// The precision that the run reached, where the spec requires one.
    pub precision: Option<ReachedPrecision>,
    /// Which differences the run can detect, given its own scatter.
    pub power: Option<Power>,
    /// Fingerprint of the node.
    pub fingerprint: Option<String>,
    /// Trials with a valid measurement.
    pub measured: usize,
    /// Names of the record `ConfigMaps`.
    pub records: Vec<String>,
    /// How the run compares with the one that its spec names.
    pub versus: Option<VersusRun>,
}

impl Conclusion {
    /// The status for `summary`, whose records are in the `ConfigMaps` named `records`.
    pub fn from_summary(summary: &Summary, records: Vec<String>) -> Self {
        Self {
            rows: rows::status_rows(summary),
            verdict: summary.verdict.clone(),
            next_step: next_step(summary),
            skipped: skipped_points(summary),
            harness_floor: cold_start::harness_floor(summary),
            trust: trust(summary),
            expectations: summary.expectations.clone(),
            precision: summary.precision.as_ref().map(reached),
            power: power::found(summary),
            fingerprint: summary.environment.fingerprint.clone(),
            measured: summary.trials.valid as usize,
            records,
            versus: None,
        }
    }

    /// Adds the comparison with an earlier run, if the spec names one.
    #[must_use]
    pub fn versus(mut self, versus: Option<&Versus>) -> Self {
        self.versus = versus.map(Versus::status);
        self
    }
}

fn reached(precision: &Precision) -> ReachedPrecision {
    ReachedPrecision {
        blocks: precision.blocks,
        outcome: <&str>::from(precision.outcome).to_owned(),
        widest_relative_interval: precision.widest.as_ref().and_then(|width| width.relative),
        message: truncate_to(&precision.message, 512),
    }
}

/// The status of a run that was refused.
pub fn rejected(run: &BenchmarkRun, invalid: &Invalid, now: Timestamp) -> Status {
    let message = truncate(&invalid.to_string());
    let mut drafts = vec![
        no(conditions::ACCEPTED, "Invalid", message.clone()),
        yes(conditions::FINISHED, "Invalid", "the run was refused"),
        no(conditions::SUCCEEDED, "Invalid", message.clone()),
        unknown(conditions::TRUSTWORTHY, "NoResult", "nothing was measured"),
        no(conditions::RECONCILING, "Finished", "the run has ended"),
        yes(conditions::STALLED, "Invalid", message.clone()),
    ];
    drafts.extend(drafts::passed(&run.spec, None));
    let old = run.status.clone().unwrap_or_default();
    Status {
        observed_generation: run.metadata.generation,
        conditions: conditions::merge(&old.conditions, drafts, run.metadata.generation, now),
        progress: Some(Progress {
            text: "0/0".into(),
            message,
            ..Progress::default()
        }),
        completion_time: old.completion_time.or(Some(Time(now))),
        ..Status::default()
    }
}

/// The status of a run that was accepted. `conclusion` is present once the report is.
pub fn status_of(
    run: &BenchmarkRun,
    valid: &ValidatedRun,
    observed: &Observed,
    plan: &Plan,
    conclusion: Option<&Conclusion>,
    now: Timestamp,
) -> BenchmarkRunStatus {
    let old = run.status.clone().unwrap_or_default();
    let generation = run.metadata.generation;
    let planned = valid.planned(observed.blocks);
    // A scout measures nothing, so that no measurement is missing without one.
    let measuring = planned.iter().filter(|trial| !trial.is_scout()).count();
    let drafts = drafts::drafts(
        valid,
        measuring,
        plan,
        conclusion,
        observed.doubts.as_deref(),
    );
    let finished = drafts
        .iter()
        .any(|d| d.type_ == conditions::FINISHED && d.status == "True");
    let started = plan.completed > 0 || matches!(plan.stage, Stage::Measuring { .. });
    // What has been measured binds the run, wherever it waits or has waited since.
    let recorded = observed.demands.node.clone();
    let node = recorded
        .or_else(|| plan.node.clone())
        .or_else(|| old.node.as_ref().map(|node| node.name.clone()));
    let start_time = old.start_time.or_else(|| started.then_some(Time(now)));
    let mut status = Status {
        observed_generation: generation,
        conditions: conditions::merge(&old.conditions, drafts, generation, now),
        seed: Some(valid.seed),
        baseline: Some(valid.baseline.clone()),
        start_time,
        completion_time: old
            .completion_time
            .or_else(|| finished.then_some(Time(now))),
        node: node.map(|name| MeasuredNode {
            name,
            fingerprint: conclusion.and_then(|c| c.fingerprint.clone()),
        }),
        bodies: observed.bodies.iter().map(sent_body).collect(),
        progress: Some(progress::progress(
            valid,
            plan,
            observed,
            remaining(valid, observed),
            now,
        )),
        precision: conclusion.and_then(|c| c.precision.clone()),
        power: match conclusion {
            Some(conclusion) => conclusion.power.clone(),
            None => power::expected(&valid.spec, observed.scatter),
        },
        verdict: conclusion.map(|c| truncate_to(&c.verdict, 512)),
        next_step: conclusion.map(|c| truncate_to(&c.next_step, 512)),
        skipped: conclusion.map(|c| c.skipped.clone()).unwrap_or_default(),
        not_applicable: not_applicable::list(&valid.spec),
        harness_floor: conclusion
            .map(|c| c.harness_floor.clone())
            .unwrap_or_default(),
        versus_run: conclusion.and_then(|c| c.versus.clone()),
        results: conclusion.map(|c| results(&valid.name, &c.records)),
        ..Status::default()
    };
    if let Some(conclusion) = conclusion {
        let free = STATUS_BYTES.saturating_sub(size::json_bytes(&status));
        (status.summary, status.summary_rows_omitted) = size::fitting(&conclusion.rows, free);
    }
    status
}

fn sent_body((workload, sha256): (&String, &String)) -> SentBody {
    SentBody {
        workload: workload.clone(),
        sha256: sha256.clone(),
    }
}

fn results(run: &str, records: &[String]) -> Results {
    let (records, records_omitted) = size::fitting(records, RECORD_NAMES_BYTES);
    Results {
        report: names::report(run),
        records,
        records_omitted,
    }
}

/// Whether two statuses are equal, apart from estimated times. Writing only actual changes keeps
/// the operator from waking itself.
pub fn same(old: Option<&Status>, new: &Status) -> bool {
    let without_estimate = |status: &Status| {
        let mut status = status.clone();
        if let Some(progress) = &mut status.progress {
            progress.estimated_completion_time = None;
            progress.text = String::new();
        }
        status
    };
    old.is_some_and(|old| without_estimate(old) == without_estimate(new))
}

fn truncate(text: &str) -> String {
    shorten(text, MESSAGE_LIMIT)
}

/// At most `limit` bytes, truncated between characters.
fn truncate_to(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let mut end = limit - 3;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}...", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncated_text_fits_its_limit_and_ends_between_characters() {
        let text = "ä".repeat(600);
        let truncated = truncate_to(&text, 512);
        assert!(truncated.len() <= 512);
        assert!(truncated.ends_with("..."));
    }
}
