//! The result in one line, with a number: what `kubectl get` shows.

use wasmbench_core::units::{self, cut};

use crate::comparison::Comparison;
use crate::curve::peak;
use crate::failures::skipped_variants;
use crate::measure::{Metric, Sweep};
use crate::open_loop;
use crate::summary::Summary;

/// Longest verdict, in characters.
pub const MAX_VERDICT_CHARS: usize = 200;

/// The line: the most telling ratios first, then what fits, then how much more there is.
pub fn verdict(summary: &Summary) -> String {
    let mut statements = comparisons(summary);
    if statements.is_empty() {
        statements = absolutes(summary);
    }
    if statements.is_empty() {
        return nothing(summary);
    }
    let skipped: Vec<String> = skipped_variants(summary)
        .iter()
        .map(|skipped| format!("{} not measured ({})", skipped.variant, skipped.reason))
        .collect();
    fit(&statements, &skipped)
}

/// What the line may report, the most telling first.
const HEADLINES: [Metric; 6] = [
    Metric::ThroughputRps,
    Metric::WarmP50,
    Metric::OpenLoopP99,
    Metric::OpenLoopP50,
    Metric::CpuPerRequest,
    Metric::Memory,
];

/// The metric that the line is about: the most telling one that was compared at all. A run whose rates
/// are those of the load generator still has its latencies. `None` without any comparison.
fn headline(summary: &Summary) -> Option<Metric> {
    let compared = |metric: &Metric| summary.comparisons.iter().any(|c| c.metric == *metric);
    HEADLINES.into_iter().find(compared)
}

/// One statement per ratio of the headline metric. The first variant of a workload names metric,
/// baseline and spread; the others follow as bare numbers.
fn comparisons(summary: &Summary) -> Vec<String> {
    let Some(metric) = headline(summary) else {
        return vec![];
    };
    let mut statements: Vec<String> = vec![];
    let mut named = false;
    let of_metric = || summary.comparisons.iter().filter(|c| c.metric == metric);
    // Of several rates the highest tells most.
    let highest = of_metric().map(|c| c.percent_of_peak).max();
    let is_told = |c: &&Comparison| Some(c.percent_of_peak) == highest;
    for workload in &summary.compared.workloads {
        let of_workload = |c: &&Comparison| c.workload == workload.name;
        for comparison in of_metric().filter(is_told).filter(of_workload) {
            statements.push(if named {
                short(comparison)
            } else {
                long(summary, comparison)
            });
            named = true;
        }
    }
    statements
}

fn long(summary: &Summary, comparison: &Comparison) -> String {
    let Comparison {
        variant,
        workload,
        ratio,
        verdict,
        ..
    } = comparison;
    let interval = match comparison.low.zip(comparison.high) {
        None => "1 block".to_owned(),
        Some((low, high)) => {
            let (low, high) = (units::ratio_number(low), units::ratio_number(high));
            format!("{low}-{high}")
        }
    };
    format!(
        "{variant}: {} {}'s {} on {workload} ({interval}), {}",
        units::ratio(*ratio),
        summary.baseline,
        comparison.what(),
        verdict.words()
    )
}

fn short(comparison: &Comparison) -> String {
    let Comparison {
        variant,
        workload,
        ratio,
        verdict,
        ..
    } = comparison;
    let (ratio, verdict) = (units::ratio(*ratio), verdict.words());
    format!("{variant}: {ratio} on {workload}, {verdict}")
}

/// Without a comparison: what each variant does by itself.
fn absolutes(summary: &Summary) -> Vec<String> {
    let mut statements = vec![];
    for workload in &summary.compared.workloads {
        for variant in &summary.compared.variants {
            let (variant, workload) = (variant.name.as_str(), workload.name.as_str());
            let warm = summary.cells.iter().find(|c| {
                c.ranked
                    && c.sweep == Sweep::WarmLatency
                    && c.variant == variant
                    && c.workload == workload
            });
            let rps = peak(&summary.cells, variant, workload).and_then(|cell| {
                let rate = units::rate(cell.rps?.median);
                Some(format!(
                    "{rate} requests/s at {} connections",
                    cell.connections
                ))
            });
            let p50 = warm.and_then(|cell| cell.p50_microseconds);
            let p50 = p50.map(|p50| format!("warm p50 {}", units::micros(p50.median)));
            let open = summary.cells.iter().rfind(|c| {
                c.ranked
                    && c.sweep == Sweep::OpenLoop
                    && c.variant == variant
                    && c.workload == workload
            });
            let open = open.and_then(open_loop::statement);
            let found: Vec<String> = rps.into_iter().chain(p50).chain(open).collect();
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

fn why_no_comparison(summary: &Summary) -> String {
    let baseline = &summary.baseline;
    let ranked = summary
        .cells
        .iter()
        .any(|cell| cell.ranked && cell.variant == *baseline);
    if ranked {
        format!("nothing valid beside {baseline}")
    } else {
        format!("the baseline {baseline} has no valid point")
    }
}

fn nothing(summary: &Summary) -> String {
    let counts = summary.trials;
    let most = summary.failures.first();
    let why = most.map(|group| format!(", mostly {} of {}", group.reason, group.variant));
    let lost = counts.invalid + counts.failed + counts.skipped;
    let line = if lost == 0 {
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
    cut(&line, MAX_VERDICT_CHARS)
}

/// As many statements as fit, then the variants that were not measured, then how many are left.
fn fit(statements: &[String], skipped: &[String]) -> String {
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
        .find(|shown| line(*shown).len() <= MAX_VERDICT_CHARS);
    cut(&line(fitting.unwrap_or(1)), MAX_VERDICT_CHARS)
}
