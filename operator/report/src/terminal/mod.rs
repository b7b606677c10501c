//! A run as a terminal shows it: from only its spec and status, so no record is needed.

mod legend;
mod loads;

use std::fmt::Write as _;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use wasmbench_api::conditions::{PASSED, TRUSTWORTHY};
use wasmbench_api::status::SummaryRow;
use wasmbench_api::{BenchmarkRun, BenchmarkRunSpec, BenchmarkRunStatus};
use wasmbench_results::summary::limits::{VariantLimits, limits};

use self::legend::legend;
use crate::table::{Table, ascii, lines};
use crate::{capacity, coldstart, comparisons, density, open_loop, payload};

/// The run: a line on its state, the tables of each workload, how to read them, the reasons to
/// distrust the numbers, and what to do next.
pub fn status_text(run: &BenchmarkRun) -> String {
    let status = run.status.clone().unwrap_or_default();
    let baseline = status.baseline.as_deref().unwrap_or_default();
    let (mut text, mut all_tables) = (head(run, &status), String::new());
    for workload in &run.spec.workloads {
        let of_workload = |row: &&SummaryRow| row.workload == workload.name;
        let rows: Vec<&SummaryRow> = status.summary.iter().filter(of_workload).collect();
        if rows.is_empty() {
            continue;
        }
        let tables = tables(&rows, baseline, &run.spec, &status);
        let request = ascii(&workload.request());
        let _ = write!(text, "\n{} ({request})\n{tables}", ascii(&workload.name));
        all_tables.push_str(&tables);
    }
    text.push_str(&legend(&all_tables, &status.summary));
    text.push_str(&remarks(run, &status));
    text.push_str(&gate(&status.conditions));
    text.push_str(&doubts(&status.conditions));
    text + &next_step(&status)
}

/// The tables of one workload.
fn tables(
    rows: &[&SummaryRow],
    baseline: &str,
    spec: &BenchmarkRunSpec,
    status: &BenchmarkRunStatus,
) -> String {
    let tables = [
        loads::terminal(rows, baseline, spec),
        coldstart::terminal(rows, baseline, &status.harness_floor),
        open_loop::terminal(rows, baseline),
        capacity::terminal(rows, baseline),
        payload::terminal(rows, baseline),
        density::terminal(rows, baseline),
        comparisons::terminal(rows, baseline),
    ];
    let shown = tables.iter().filter(|table| !table.is_empty());
    shown.map(Table::plain).collect::<Vec<_>>().join("\n")
}

/// The remarks below the tables, on what they leave out.
fn remarks(run: &BenchmarkRun, status: &BenchmarkRunStatus) -> String {
    let in_report = in_report(run, status).into_iter();
    let skipped = status.skipped.iter().map(|skipped| {
        let (variant, reason) = (&skipped.variant, &skipped.reason);
        let under = match skipped.workloads.as_slice() {
            [] => String::new(),
            some => format!(" on {}", some.join(", ")),
        };
        format!(
            "Not measured: {variant}{under} ({reason}): {}",
            skipped.message
        )
    });
    let left_out = status.not_applicable.iter().map(|left_out| {
        let (variant, what) = (&left_out.variant, &left_out.what);
        format!("Not applicable: {variant}, {what}: {}", left_out.reason)
    });
    let limits = limits_of(&run.spec).into_iter();
    let precision = status
        .precision
        .iter()
        .map(|precision| format!("Precision: {}", precision.message));
    let power = status
        .power
        .iter()
        .map(|power| format!("Power: {}", power.message));
    let versus = status
        .versus_run
        .iter()
        .map(|run| format!("Versus run {}: {}", run.name, run.message));
    let about_trials = in_report.chain(limits).chain(skipped).chain(left_out);
    let all = about_trials.chain(precision).chain(power).chain(versus);
    lines("\n", all.map(|remark| ascii(&remark)))
}

/// What the pods of each variant may use, where variants have limits of their own.
fn limits_of(spec: &BenchmarkRunSpec) -> Option<String> {
    let limits = limits(spec);
    let one = |one: &VariantLimits| format!("{} {}", one.variant, one.text());
    let all: Vec<String> = limits.iter().map(one).collect();
    (!all.is_empty()).then(|| format!("Limits: {}", all.join("; ")))
}

/// Where to find what the status leaves to the report: points of a curve, and rows without room.
fn in_report(run: &BenchmarkRun, status: &BenchmarkRunStatus) -> Option<String> {
    let sweep = run.spec.sweeps.throughput.as_ref();
    let planned = sweep.map_or(0, |sweep| sweep.connections.len());
    let mut curves = status.summary.iter().flat_map(|row| &row.throughput);
    let has_more_points = curves.any(|curve| curve.points.len() < planned);
    let more = match status.summary_rows_omitted {
        0 => String::new(),
        rows => format!(" and {rows} more row(s)"),
    };
    let (namespace, name) = names(run);
    (has_more_points || !more.is_empty()).then(|| {
        format!("The report has all points{more}: kubectl wasmbench report {name} -n {namespace}")
    })
}

/// The run's namespace and name.
fn names(run: &BenchmarkRun) -> (&str, &str) {
    let namespace = run.metadata.namespace.as_deref().unwrap_or_default();
    (namespace, run.metadata.name.as_deref().unwrap_or_default())
}

fn head(run: &BenchmarkRun, status: &BenchmarkRunStatus) -> String {
    let (namespace, name) = names(run);
    let mut text = format!("{namespace}/{name}");
    if let Some(verdict) = &status.verdict {
        let _ = write!(text, ": {}", ascii(verdict));
    }
    text.push('\n');
    let node = status.node.as_ref().map(|node| {
        let fingerprint = node.fingerprint.as_deref().unwrap_or("unknown");
        format!(
            "node {} (fingerprint {})",
            ascii(&node.name),
            ascii(fingerprint)
        )
    });
    let progress = status.progress.as_ref().map(|progress| {
        format!(
            "{} of {} trials",
            progress.completed_trials, progress.total_trials
        )
    });
    let reached = status.precision.as_ref().map(|found| found.blocks);
    let blocks = format!("{} block(s)", reached.unwrap_or(run.spec.blocks));
    let seed = status.seed.map(|seed| format!("seed {seed}"));
    let facts: Vec<String> = [node, Some(blocks), progress, seed]
        .into_iter()
        .flatten()
        .collect();
    let _ = writeln!(text, "{}", facts.join(", "));
    text
}

fn gate(conditions: &[Condition]) -> String {
    let Some(condition) = conditions.iter().find(|c| c.type_ == PASSED) else {
        return String::new();
    };
    let passed = match condition.status.as_str() {
        "True" => "yes",
        "False" => "NO",
        _ => "undecided",
    };
    let lines = lines("  ", condition.message.lines().map(ascii));
    format!("\nPassed: {passed}\n{lines}")
}

fn doubts(conditions: &[Condition]) -> String {
    let Some(condition) = conditions.iter().find(|c| c.type_ == TRUSTWORTHY) else {
        return String::new();
    };
    let lines = lines("  ", condition.message.lines().map(ascii));
    match condition.status.as_str() {
        "True" => format!("\nTrustworthy: yes\n{lines}"),
        "False" => format!("\nTrustworthy: NO ({})\n{lines}", ascii(&condition.reason)),
        _ => String::new(),
    }
}

fn next_step(status: &BenchmarkRunStatus) -> String {
    let next = status.next_step.as_deref().map(ascii);
    next.map_or_else(String::new, |next| format!("\nNext: {next}.\n"))
}
