//! `summary.csv`: one row per variant, workload and sweep point, for spreadsheets. Units are in
//! the headers; a number that could not be measured is an empty field.

use super::stats::Spread;
use super::summary::{CellSummary, Summary};

/// The numbers that a row has as median, low and high.
type Column = (&'static str, fn(&CellSummary) -> Option<Spread>);

const SPREADS: [Column; 6] = [
    ("requests_per_second", |cell| cell.rps),
    ("p50_microseconds", |cell| cell.p50_microseconds),
    ("p90_microseconds", |cell| cell.p90_microseconds),
    ("p99_microseconds", |cell| cell.p99_microseconds),
    ("cpu_microseconds_per_request", |cell| {
        cell.cpu_microseconds_per_request
    }),
    ("memory_bytes", |cell| cell.memory_bytes),
];

/// The table as RFC 4180 text with `\n` line ends.
pub fn summary_csv(summary: &Summary) -> String {
    let mut text = header().join(",") + "\n";
    for cell in &summary.cells {
        text.push_str(&row(cell).join(","));
        text.push('\n');
    }
    text
}

fn header() -> Vec<String> {
    let fixed = [
        "variant",
        "workload",
        "sweep",
        "connections",
        "ranked",
        "invalid_because",
        "trials_planned",
        "trials_valid",
        "trials_invalid",
        "trials_failed",
        "trials_skipped",
        "trials_missing",
        "requests_failed",
        "requests_per_trial_min",
        "p99_carried",
        "throttled_periods",
        "generator_cpu_share_of_node_max",
    ];
    let spreads = SPREADS
        .iter()
        .flat_map(|(name, _)| ["median", "low", "high"].map(|which| format!("{name}_{which}")));
    fixed
        .iter()
        .map(ToString::to_string)
        .chain(spreads)
        .collect()
}

fn row(cell: &CellSummary) -> Vec<String> {
    let counts = cell.counts;
    let reasons: Vec<&str> = cell
        .invalid_because
        .iter()
        .map(|reason| (*reason).into())
        .collect();
    let fixed = [
        quoted(&cell.variant),
        quoted(&cell.workload),
        <&str>::from(cell.sweep).to_owned(),
        cell.connections.to_string(),
        cell.ranked.to_string(),
        reasons.join(" "),
        counts.planned.to_string(),
        counts.valid.to_string(),
        counts.invalid.to_string(),
        counts.failed.to_string(),
        counts.skipped.to_string(),
        counts.missing.to_string(),
        cell.errors.to_string(),
        cell.fewest_requests.to_string(),
        cell.p99_carried.to_string(),
        cell.throttled_periods.to_string(),
        cell.generator_cpu_share_max
            .map_or_else(String::new, |share| share.to_string()),
    ];
    let spreads = SPREADS.iter().flat_map(|(_, of)| match of(cell) {
        Some(spread) => [spread.median, spread.low, spread.high].map(|value| value.to_string()),
        None => [const { String::new() }; 3],
    });
    fixed.into_iter().chain(spreads).collect()
}

/// The API allows no comma or quote in names, but a record is read from outside.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
