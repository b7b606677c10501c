//! The result of a run in one line, with a number: what `kubectl get` shows.

pub mod statement;

use std::collections::BTreeSet;

use wasmbench_model::units::{self, truncate};

use crate::cells::any::AnyCell;
use crate::cells::curve::peak;
use crate::judge::comparison::Comparison;
use crate::judge::lead;
use crate::summary::failures::{flaky_variants, skipped_variants};
use crate::summary::trust::{is_doubted, too_few_blocks};
use crate::summary::{Named, Summary};
use crate::vocabulary::cell::ranked;
use crate::vocabulary::measure::{Measured as _, Metric, Sweep};

/// Longest verdict, in characters.
pub const MAX_VERDICT_CHARS: usize = 220;

/// The prefix of the line of a run that is untrusted as a whole.
const UNTRUSTED: &str = "untrusted: ";

/// The line: what leads first, then what else fits, then how much more there is.
pub fn verdict(summary: &Summary) -> String {
    let reported = reported(summary);
    let too_few = too_few_blocks(summary);
    // A run that was too short says so instead of numbers that mean nothing.
    let as_a_whole = too_few.is_none() && is_untrusted_as_a_whole(summary, &reported);
    let mut statements = match too_few {
        Some(message) => vec![message],
        None => statements(summary, &reported, as_a_whole),
    };
    if statements.is_empty() {
        statements = absolutes(summary);
    }
    if statements.is_empty() {
        return nothing(summary);
    }
    let unmeasured = skipped_variants(summary)
        .into_iter()
        .map(|one| format!("{} not measured ({})", one.variant, one.reason));
    let flaky_or_left_out = flaky_variants(summary).into_iter().chain(left_out(summary));
    let skipped: Vec<String> = unmeasured.chain(flaky_or_left_out).collect();
    // An untrusted result must not look like any other.
    let mark = if as_a_whole { UNTRUSTED } else { "" };
    mark.to_owned() + &fit(&statements, &skipped, MAX_VERDICT_CHARS - mark.len())
}

/// Whether the doubts concern the whole run or everything that the line reports. Otherwise each
/// untrusted comparison is marked by itself.
fn is_untrusted_as_a_whole(summary: &Summary, reported: &[&Comparison]) -> bool {
    let mut reported = reported.iter();
    summary.trustworthy == Some(false)
        && (is_doubted(summary) || reported.all(|one| !one.untrusted.is_empty()))
}

/// Variants that take part in no primary comparison, because their measurements are invalid.
fn left_out(summary: &Summary) -> Vec<String> {
    let compared = |name: &str| {
        let mut primary = summary.comparisons.iter().filter(|one| one.primary);
        primary.any(|one| one.variant == name)
    };
    let others = summary
        .compared
        .variants
        .iter()
        .filter(|one| one.name != summary.baseline && !compared(&one.name));
    let why = |variant: &Named| {
        let mut cells = summary
            .all_cells()
            .filter(|cell| cell.variant == variant.name);
        let reason: &str = cells
            .find_map(|cell| cell.invalid_because.first().copied())?
            .into();
        Some(format!("{} left out ({reason})", variant.name))
    };
    // Without comparisons the line already has the reason why there are none.
    if summary.comparisons.is_empty() {
        return vec![];
    }
    others.filter_map(why).collect()
}

/// What the run was to decide, what leads first: of each variant under each workload what was decided,
/// then what else was, then what was not.
fn reported(summary: &Summary) -> Vec<&Comparison> {
    let all = lead::leading(summary.comparisons.iter().filter(|one| one.primary));
    let mut named = BTreeSet::new();
    let (mut firsts, others): (Vec<&Comparison>, Vec<&Comparison>) = all
        .into_iter()
        .partition(|one| one.verdict.is_decided() && named.insert((&one.variant, &one.workload)));
    firsts.extend(others);
    firsts
}

/// One statement per comparison. The first names baseline and interval, too.
fn statements(summary: &Summary, reported: &[&Comparison], as_a_whole: bool) -> Vec<String> {
    let statement = |(index, one): (usize, &&Comparison)| {
        let text = match index {
            0 => statement::long(&summary.baseline, one),
            _ => statement::short(one),
        };
        let mark = if as_a_whole { "" } else { one.mark() };
        text + mark
    };
    reported.iter().enumerate().map(statement).collect()
}

/// The statements without a comparison: what each variant does by itself.
fn absolutes(summary: &Summary) -> Vec<String> {
    let mut statements = vec![];
    for workload in &summary.compared.workloads {
        for variant in &summary.compared.variants {
            let (variant, workload) = (variant.name.as_str(), workload.name.as_str());
            let mut loads = ranked(&summary.cells, variant, workload);
            let warm = loads.find(|cell| cell.detail.sweep == Sweep::WarmLatency);
            let rps = peak(&summary.cells, variant, workload).and_then(|cell| {
                let rate = units::rate(cell.detail.rps?.median);
                Some(format!(
                    "{rate} requests/s at {} connections",
                    cell.detail.connections
                ))
            });
            let p50 = warm
                .and_then(|cell| cell.detail.p50_microseconds)
                .map(|p50| format!("warm p50 {}", units::micros(p50.median)));
            let mut loads = ranked(&summary.cells, variant, workload);
            let open = loads
                .rfind(|cell| cell.detail.sweep == Sweep::OpenLoop)
                .and_then(|cell| statement::without_comparison(&cell.detail));
            let found: Vec<String> = rps
                .into_iter()
                .chain(p50)
                .chain(open)
                .chain(capacity(summary, variant, workload))
                .chain(payload(summary, variant, workload))
                .chain(cold_start(summary, variant, workload))
                .chain(one_more(summary, variant, workload))
                .collect();
            if !found.is_empty() {
                statements.push(format!("{variant} on {workload}: {}", found.join(", ")));
            }
        }
    }
    if !statements.is_empty() && summary.compared.variants.len() > 1 {
        statements.insert(0, format!("no comparison: {}", why_no_comparison(summary)));
    }
    statements
}

/// How long a pod takes to start, by its log line if there is one, otherwise by its first answer.
fn cold_start(summary: &Summary, variant: &str, workload: &str) -> Option<String> {
    let cell = ranked(&summary.cold_starts, variant, workload).next()?;
    let listening = cell
        .detail
        .create_to_listening
        .as_ref()
        .map(|time| (time, Metric::ColdStartListening));
    let answer = cell.detail.create_to_answer.as_ref();
    let (time, metric) = listening.or(answer.map(|time| (time, Metric::ColdStartAnswer)))?;
    let median = units::micros(time.p50_microseconds.median);
    Some(format!("{} {median}", metric.at(cell.point())))
}

fn capacity(summary: &Summary, variant: &str, workload: &str) -> Option<String> {
    let cell = ranked(&summary.capacity, variant, workload).next()?;
    let target = units::micros(cell.detail.target_p99_microseconds);
    Some(format!(
        "capacity {} at p99 <= {target}",
        cell.detail.text()?
    ))
}

fn payload(summary: &Summary, variant: &str, workload: &str) -> Option<String> {
    let cell = ranked(&summary.payload, variant, workload).next()?;
    Some(format!("CPU {}", cell.detail.text()?))
}

fn one_more(summary: &Summary, variant: &str, workload: &str) -> Option<String> {
    let cell = ranked(&summary.density, variant, workload).next()?;
    let bytes = units::bytes(cell.detail.bytes_per_instance?.median);
    Some(format!("{bytes} per instance"))
}

fn why_no_comparison(summary: &Summary) -> String {
    if !summary.comparisons.is_empty() {
        return "no primary measure is valid".to_owned();
    }
    let baseline = &summary.baseline;
    let bounds = summary.compared.workloads.iter().find_map(|workload| {
        let mut variants = summary.compared.variants.iter();
        variants.find_map(|variant| summary.only_bounds(&variant.name, &workload.name))
    });
    if let Some(bounds) = bounds {
        return bounds;
    }
    let is_ranked = |cell: AnyCell<'_>| cell.ranked && cell.variant == *baseline;
    if summary.all_cells().any(is_ranked) {
        format!("nothing valid to compare with {baseline}")
    } else {
        format!("the baseline {baseline} has no valid point")
    }
}

/// The line of a summary without any number to state.
fn nothing(summary: &Summary) -> String {
    let counts = summary.trials;
    let most = summary.failures.first();
    let why = most.map(|group| format!(", mostly {} of {}", group.reason, group.variant));
    let line = if counts.valid > 0 {
        none_valid(summary)
    } else if counts.unused() == 0 {
        format!(
            "nothing measured yet: 0 of {} trials recorded",
            counts.planned
        )
    } else {
        let (invalid, failed, skipped) = (counts.invalid, counts.failed, counts.skipped);
        format!(
            "nothing measured: {invalid} trials invalid, {failed} failed, {skipped} skipped{}; \
             see report",
            why.unwrap_or_default()
        )
    };
    truncate(&line, MAX_VERDICT_CHARS)
}

/// The line where trials are valid and no point is.
fn none_valid(summary: &Summary) -> String {
    let counts = summary.trials;
    let yet = if counts.missing > 0 { " yet" } else { "" };
    let reasons: BTreeSet<&str> = summary
        .all_cells()
        .flat_map(|cell| cell.invalid_because)
        .map(|reason| (*reason).into())
        .collect();
    let recorded = format!(
        "no valid point{yet}: {} of {} trials recorded",
        counts.valid + counts.unused(),
        counts.planned
    );
    let parts = [recorded.as_str()].into_iter().chain(reasons);
    let parts: Vec<&str> = parts.chain(["see report"]).collect();
    parts.join("; ")
}

/// The first statement, then variants that were not measured, flaky or left out, then further
/// statements, as many as fit; then how many remain.
fn fit(statements: &[String], skipped: &[String], room: usize) -> String {
    let all: Vec<&String> = statements
        .iter()
        .take(1)
        .chain(skipped)
        .chain(&statements[1..])
        .collect();
    let suffix = |left: usize| match left {
        0 => String::new(),
        left => format!("; +{left} more, see report"),
    };
    let line = |shown: usize| {
        let shown_statements: Vec<&str> = all.iter().take(shown).map(|s| s.as_str()).collect();
        shown_statements.join("; ") + &suffix(all.len() - shown)
    };
    let fitting = (1..=all.len())
        .rev()
        .find(|shown| line(*shown).len() <= room);
    truncate(&line(fitting.unwrap_or(1)), room)
}
