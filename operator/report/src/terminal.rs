//! A run as a terminal shows it: from its spec and status alone, so that no record is needed.

use std::fmt::Write as _;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use wasmbench_api::conditions::{PASSED, TRUSTWORTHY};
use wasmbench_api::status::{PointSummary, SummaryRow};
use wasmbench_api::{BenchmarkRun, BenchmarkRunSpec, BenchmarkRunStatus};
use wasmbench_core::units::{self, cut, judged_ratio, marked};
use wasmbench_core::wire::request::{DEFAULT_REQUESTS, LEAST_SECONDS, MOST_SECONDS};
use wasmbench_results::judge::Verdict;
use wasmbench_results::measure::{Measured as _, Metric};
use wasmbench_results::trial;

use crate::sheet::Sheet;
use crate::table::{Table, ascii, lines};
use crate::tables::{RATIOS_OF_LOADS, with_mark};
use crate::{coldstart, density, open_loop};

/// Longest list of the invalid points of a row.
const MAX_INVALID_CHARS: usize = 160;

/// What stands at a measure that the run was to decide.
const PRIMARY: &str = "*";

/// The run: a line on how it stands, one table per workload, and what speaks against the numbers.
pub fn status_text(run: &BenchmarkRun) -> String {
    let status = run.status.clone().unwrap_or_default();
    let mut text = head(run, &status);
    for workload in &run.spec.workloads {
        let rows: Vec<&SummaryRow> = status
            .summary
            .iter()
            .filter(|row| row.workload == workload.name)
            .collect();
        if !rows.is_empty() {
            let baseline = status.baseline.as_deref().unwrap_or_default();
            let path = ascii(&workload.path);
            let _ = write!(text, "\n{} (GET {path})\n", ascii(&workload.name));
            if rows
                .iter()
                .any(|row| row.warm_latency.is_some() || row.throughput.is_some())
            {
                text.push_str(&numbers(&rows, baseline, &run.spec).plain());
            }
            text.push_str(&coldstart::terminal(&rows, baseline, &status.harness_floor));
            text.push_str(&open_loop::terminal(&rows, baseline));
            text.push_str(&density::terminal(&rows, baseline));
            let ratios = ratios(&rows, baseline);
            if !ratios.is_empty() {
                let _ = write!(text, "\n{}", ratios.plain());
            }
        }
    }
    text.push_str(&remarks(&status));
    text.push_str(&gate(&status.conditions));
    text + &doubts(&status.conditions)
}

/// What stands below the tables: what is not in them, and how to read them.
fn remarks(status: &BenchmarkRunStatus) -> String {
    let mut text = String::new();
    if let Some(omitted) = &status.summary_omitted {
        let _ = write!(
            text,
            "\nOnly in the report: {} point(s), {} ratio(s), {} row(s)\n",
            omitted.points, omitted.ratios, omitted.rows
        );
    }
    for skipped in &status.skipped {
        let (variant, reason) = (ascii(&skipped.variant), ascii(&skipped.reason));
        let _ = write!(
            text,
            "\nNot measured: {variant} ({reason}): {}\n",
            ascii(&skipped.message)
        );
    }
    for left_out in &status.not_applicable {
        let (variant, what) = (ascii(&left_out.variant), ascii(&left_out.what));
        let reason = ascii(&left_out.reason);
        let _ = write!(text, "\nNot applicable: {variant}, {what}: {reason}\n");
    }
    if let Some(precision) = &status.precision {
        let _ = write!(text, "\nPrecision: {}\n", ascii(&precision.message));
    }
    if let Some(power) = &status.power {
        let _ = write!(text, "\nPower: {}\n", ascii(&power.message));
    }
    if status.summary.iter().any(decides) {
        let _ = write!(
            text,
            "\n{PRIMARY} Primary: what the run was to decide. Other ratios are secondary, and corrected apart.\n"
        );
    }
    if let Some(versus) = &status.versus_run {
        let _ = write!(
            text,
            "\nVersus run {}: {}\n",
            ascii(&versus.name),
            ascii(&versus.message)
        );
    }
    text
}

fn head(run: &BenchmarkRun, status: &BenchmarkRunStatus) -> String {
    let name = run.metadata.name.as_deref().unwrap_or_default();
    let namespace = run.metadata.namespace.as_deref().unwrap_or_default();
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

/// Requests of a warm trial, as far as the status knows: those that were asked for, or as many as its rate gives in the
/// shortest and the longest window.
fn warm_requests(spec: &BenchmarkRunSpec, point: Option<&PointSummary>) -> u64 {
    let in_seconds = |seconds| requests_in(seconds, point);
    let asked = spec.sweeps.warm_latency.and_then(|warm| warm.requests);
    let default = || in_seconds(MOST_SECONDS).min(DEFAULT_REQUESTS.into());
    let asked = asked.map_or_else(default, u64::from);
    asked.max(in_seconds(LEAST_SECONDS))
}

/// Requests of a trial at `point`, as far as the status knows: its rate for the planned time.
fn loaded_requests(spec: &BenchmarkRunSpec, point: Option<&PointSummary>) -> u64 {
    let throughput = spec.sweeps.throughput.as_ref();
    requests_in(throughput.map_or(0, |sweep| sweep.duration_seconds), point)
}

fn requests_in(seconds: u32, point: Option<&PointSummary>) -> u64 {
    let requests = point.map_or(0.0, |point| point.rps * f64::from(seconds));
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "rates are positive, and the cast saturates"
    )]
    let requests = requests as u64;
    requests
}

/// What each variant does by itself.
fn numbers(rows: &[&SummaryRow], baseline: &str, spec: &BenchmarkRunSpec) -> Table {
    let warm = |row: &SummaryRow| row.warm_latency.clone();
    let p50 = |point: Option<PointSummary>| Some(units::micros(point?.p50_microseconds));
    let p99 = |point: Option<PointSummary>, requests: u64| {
        let p99 = units::micros(point?.p99_microseconds);
        Some(marked(p99, trial::carries(requests, 100)))
    };
    Sheet::of(rows)
        .left("VARIANT", |row| with_mark(&row.variant, baseline))
        .right("WARM P50", |row| p50(warm(row)))
        .right("WARM P99", |row| {
            p99(warm(row), warm_requests(spec, row.warm_latency.as_ref()))
        })
        .right("PEAK REQ/S", |row| {
            row.throughput.as_ref()?.peak_rps.map(units::rate)
        })
        .right("CONNS", |row| {
            let connections = row.throughput.as_ref()?.at_connections?;
            Some(connections.to_string())
        })
        .right("P50", |row| p50(peak(row)))
        .right("P99", |row| {
            p99(peak(row), loaded_requests(spec, peak(row).as_ref()))
        })
        .right("CPU/REQ", |row| {
            let used = resources(row)?.cpu_microseconds_per_request;
            used.map(units::micros)
        })
        .right("PER CORE", |row| {
            let used = peak(row)?.cpu_microseconds_per_request?;
            (used > 0.0).then(|| units::rate(1e6 / used))
        })
        .right("MEMORY", |row| {
            let bytes = resources(row)?.memory_bytes;
            bytes.map(|bytes| units::bytes(bytes as f64))
        })
        .left("INVALID", |row| invalid(row))
        .table()
}

fn peak(row: &SummaryRow) -> Option<PointSummary> {
    let throughput = row.throughput.as_ref()?;
    let mut points = throughput.points.iter();
    let at = throughput.at_connections;
    points.find(|point| Some(point.connections) == at).cloned()
}

/// Resources are those of the loaded subject, and of the warm one only without a load: where no load is valid, the
/// warm one must not stand in for it.
fn resources(row: &SummaryRow) -> Option<PointSummary> {
    if row.throughput.is_some() {
        peak(row)
    } else {
        row.warm_latency.clone()
    }
}

/// Which points of a row are invalid, and why: `warm: NodeNoisy; at 10, 50 connections: Throttled`.
fn invalid(row: &SummaryRow) -> Option<String> {
    let warm = row.warm_latency.iter();
    let warm = warm.filter_map(|point| Some(format!("warm: {}", point.invalid.as_ref()?)));
    let mut loaded: Vec<(&str, Vec<String>)> = vec![];
    for point in row.throughput.iter().flat_map(|load| &load.points) {
        let Some(reason) = point.invalid.as_deref() else {
            continue;
        };
        let connections = point.connections.to_string();
        match loaded.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, all)) => all.push(connections),
            None => loaded.push((reason, vec![connections])),
        }
    }
    let loaded = loaded.into_iter().map(|(reason, connections)| {
        let connections = connections.join(", ");
        format!("at {connections} connections: {reason}")
    });
    let all: Vec<String> = warm.chain(loaded).collect();
    (!all.is_empty()).then(|| cut(&all.join("; "), MAX_INVALID_CHARS))
}

/// A row of ratios: a variant's, or the noise floor of all.
enum Compared<'a> {
    Variant(&'a SummaryRow),
    Floor,
}

/// What each variant is as a multiple of the baseline.
fn ratios(rows: &[&SummaryRow], baseline: &str) -> Table {
    let id = |metric: Metric| -> &'static str { metric.into() };
    let ratio = move |row: &SummaryRow, metric: Metric| {
        let mut all = row.versus_baseline.iter();
        let found = all.find(|ratio| ratio.metric == id(metric))?;
        let verdict = verdict(&found.verdict, found.untrusted.as_deref());
        Some(judged_ratio(
            found.ratio,
            found.low.zip(found.high),
            &verdict,
        ))
    };
    let floor = |metric: Metric| {
        let ratios = rows.iter().flat_map(|row| &row.versus_baseline);
        let floors = ratios.filter(|ratio| ratio.metric == id(metric));
        let largest = floors
            .filter_map(|ratio| ratio.noise_floor)
            .reduce(f64::max);
        largest.map(units::excess)
    };
    let mark = |metric: Metric| {
        let mut ratios = rows.iter().flat_map(|row| &row.versus_baseline);
        if ratios.any(|ratio| ratio.primary && ratio.metric == id(metric)) {
            PRIMARY
        } else {
            ""
        }
    };
    let compared = rows.iter().filter(|row| !row.versus_baseline.is_empty());
    let compared = compared.map(|row| Compared::Variant(row));
    let has_floor = RATIOS_OF_LOADS
        .into_iter()
        .any(|metric| floor(metric).is_some());
    Sheet::of(compared.chain(has_floor.then_some(Compared::Floor)))
        .left(format!("VERSUS {baseline}"), |row| match row {
            Compared::Variant(row) => row.variant.clone(),
            Compared::Floor => "noise floor".to_owned(),
        })
        .for_each(RATIOS_OF_LOADS, |sheet, metric| {
            sheet.right(
                metric.measure().title.to_uppercase() + mark(metric),
                move |row| match row {
                    Compared::Variant(row) => ratio(row, metric),
                    Compared::Floor => floor(metric),
                },
            )
        })
        .right("BLOCKS", |row| match row {
            Compared::Variant(row) => {
                let blocks = row.versus_baseline.iter().map(|ratio| ratio.blocks);
                blocks.min().map(|blocks| blocks.to_string())
            }
            Compared::Floor => None,
        })
        .table()
}

/// The head of a column of ratios, with a mark where any of them is primary.
pub(super) fn versus(baseline: &str, is_primary: bool) -> String {
    let mark = if is_primary { PRIMARY } else { "" };
    format!("VERSUS {baseline}{mark}")
}

/// Whether any ratio of a row is primary.
fn decides(row: &SummaryRow) -> bool {
    let starts = row.cold_start.iter();
    let starts = starts.flat_map(|point| [&point.listening, &point.answer]);
    let mut starts = starts.filter_map(|time| time.as_ref()?.versus_baseline.as_ref());
    row.versus_baseline.iter().any(|ratio| ratio.primary)
        || starts.any(|ratio| ratio.primary)
        || row.open_loop.iter().any(|point| point.primary)
        || row.density.as_ref().is_some_and(|found| found.primary)
}

/// A verdict of a status in words, with a mark where something speaks against it.
pub(super) fn verdict(verdict: &str, untrusted: Option<&str>) -> String {
    let words = words(verdict);
    if untrusted.is_some() {
        words + ", untrusted"
    } else {
        words
    }
}

/// A verdict in words; one that is unknown, of another version, by its name: `NotResolvable` as `not
/// resolvable`.
fn words(verdict: &str) -> String {
    if let Ok(verdict) = verdict.parse::<Verdict>() {
        return verdict.words().to_owned();
    }
    let mut words = String::new();
    for (index, letter) in verdict.chars().enumerate() {
        if letter.is_ascii_uppercase() && index > 0 {
            words.push(' ');
        }
        words.push(letter.to_ascii_lowercase());
    }
    ascii(&words)
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
