//! `summary.csv`: one row per variant, workload and sweep point, for spreadsheets. Units are in
//! the headers; a number that could not be measured is an empty field.

use wasmbench_results::all_requests::AllRequests;
use wasmbench_results::cell::CellSummary;
use wasmbench_results::cells::extremes;
use wasmbench_results::open_loop::OpenLoopSummary;
use wasmbench_results::statistics::Spread;
use wasmbench_results::summary::Summary;
use wasmbench_results::trial::Metrics;

/// What a row has of each number: the median with its interval, and the extremes of the trials.
const OF_NUMBER: [&str; 5] = ["median", "low", "high", "min", "max"];

/// A number of a row: its name, its spread, and where trials have it.
type Column = (
    &'static str,
    fn(&CellSummary) -> Option<Spread>,
    fn(&Metrics) -> Option<f64>,
);

const NUMBERS: [Column; 6] = [
    ("requests_per_second", |cell| cell.rps, |trial| trial.rps),
    (
        "p50_microseconds",
        |cell| cell.p50_microseconds,
        |trial| trial.p50,
    ),
    (
        "p90_microseconds",
        |cell| cell.p90_microseconds,
        |trial| trial.p90,
    ),
    (
        "p99_microseconds",
        |cell| cell.p99_microseconds,
        |trial| trial.p99,
    ),
    (
        "cpu_microseconds_per_request",
        |cell| cell.cpu_microseconds_per_request,
        |trial| trial.cpu,
    ),
    (
        "memory_bytes",
        |cell| cell.memory_bytes,
        |trial| trial.memory.map(|bytes| bytes as f64),
    ),
];

/// A number of a load on a schedule: its name, and where it stands.
type Scheduled = (&'static str, fn(&OpenLoopSummary) -> Option<Spread>);

const SCHEDULED: [Scheduled; 6] = [
    ("peak_requests_per_second", |found| Some(found.peak_rps)),
    ("requested_requests_per_second", |found| {
        Some(found.requested_rps)
    }),
    ("schedule_p50_microseconds", |found| {
        Some(found.p50_microseconds)
    }),
    ("schedule_p99_microseconds", |found| {
        Some(found.p99_microseconds)
    }),
    ("schedule_p999_microseconds", |found| {
        found.p999_microseconds
    }),
    ("generator_late_p99_microseconds", |found| {
        Some(found.generator_p99_microseconds)
    }),
];
const OF_SCHEDULED: [&str; 3] = ["median", "low", "high"];

/// A percentile over all requests: its name, and where it stands.
type OfAll = (&'static str, fn(&AllRequests) -> Option<f64>);

const OF_ALL: [OfAll; 4] = [
    ("all_requests_p50_microseconds", |all| all.p50_microseconds),
    ("all_requests_p90_microseconds", |all| all.p90_microseconds),
    ("all_requests_p99_microseconds", |all| all.p99_microseconds),
    ("all_requests_p999_microseconds", |all| {
        all.p999_microseconds
    }),
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
        "trials_repeated",
        "requests_failed",
        "requests_per_trial_min",
        "p99_carried",
        "throttled_periods",
        "generator_cpu_share_of_node_max",
    ];
    let numbers = NUMBERS
        .iter()
        .flat_map(|(name, ..)| OF_NUMBER.map(|which| format!("{name}_{which}")));
    let scheduled = SCHEDULED
        .iter()
        .flat_map(|(name, _)| OF_SCHEDULED.map(|which| format!("{name}_{which}")));
    fixed
        .iter()
        .map(ToString::to_string)
        .chain(numbers)
        .chain(["percent_of_peak", "achieved_share_min"].map(str::to_owned))
        .chain(scheduled)
        .chain(["all_requests".to_owned()])
        .chain(OF_ALL.iter().map(|(name, _)| (*name).to_owned()))
        .collect()
}

fn row(cell: &CellSummary) -> Vec<String> {
    let counts = cell.counts;
    let count = |number: Option<u64>| number.map_or_else(String::new, |count| count.to_string());
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
        counts.repeated.to_string(),
        cell.errors.to_string(),
        count(cell.fewest_requests),
        cell.p99_carried.to_string(),
        count(cell.throttled_periods),
        cell.generator_cpu_share_max
            .map_or_else(String::new, |share| share.to_string()),
    ];
    let numbers = NUMBERS.iter().flat_map(|(_, spread, of_trial)| {
        let extremes = extremes(&cell.trials, *of_trial);
        match spread(cell).zip(extremes) {
            Some((Spread { median, low, high }, (min, max))) => {
                [median, low, high, min, max].map(|value| value.to_string())
            }
            None => [const { String::new() }; OF_NUMBER.len()],
        }
    });
    let found = cell.open_loop.as_ref();
    let rate = [
        cell.percent_of_peak
            .map_or_else(String::new, |percent| percent.to_string()),
        found.map_or_else(String::new, |found| found.achieved_share_min.to_string()),
    ];
    let scheduled = SCHEDULED
        .iter()
        .flat_map(|(_, of)| match found.and_then(of) {
            Some(Spread { median, low, high }) => [median, low, high].map(|v| v.to_string()),
            None => [const { String::new() }; OF_SCHEDULED.len()],
        });
    let columns = fixed.into_iter().chain(numbers);
    let all = cell.all_requests.as_ref();
    let requests = all.map_or_else(String::new, |all| all.requests.to_string());
    let percentiles = OF_ALL.iter().map(|(_, of)| {
        let value = all.and_then(of);
        value.map_or_else(String::new, |value| value.to_string())
    });
    let columns = columns.chain(rate).chain(scheduled);
    columns.chain([requests]).chain(percentiles).collect()
}

/// The API allows no comma or quote in names, but a record is read from outside.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
