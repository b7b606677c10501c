//! Go's benchmark format, for benchstat: one line per block of each valid point. Reasons to
//! distrust numbers precede them as configuration, so that benchstat shows the reasons and compares
//! trusted numbers only with trusted ones.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use wasmbench_model::rounding::round_number;
use wasmbench_model::wire::record::Point;
use wasmbench_results::cells::any::AnyCell;
use wasmbench_results::summary::Summary;
use wasmbench_results::vocabulary::doubt::Reason;
use wasmbench_results::vocabulary::measure::{Better, Measured as _, Metric, Unit};

use crate::export::points::{ValidPoint, valid};
use crate::table::ascii;

/// Nanoseconds in a microsecond; benchstat knows how to print nanoseconds.
const NANOSECONDS: f64 = 1e3;

/// The whole text.
pub fn benchstat(summary: &Summary) -> String {
    let points = valid(summary);
    let measured = points.iter().flat_map(|point| &point.series);
    let metrics: BTreeSet<Metric> = measured.map(|(metric, _)| *metric).collect();
    let mut text = head(summary);
    for metric in metrics {
        let better = match metric.measure().better {
            Better::More => "higher",
            Better::Less => "lower",
        };
        let _ = writeln!(text, "Unit {} better={better}", unit(metric));
    }
    let mut against = &BTreeSet::new();
    for point in &points {
        if point.untrusted != *against {
            against = &point.untrusted;
            text.push_str(&untrusted(against));
        }
        text.push_str(&lines(point));
    }
    text
}

/// The run is identified in a line that benchstat ignores, because numbers of different runs are to
/// be compared. What must be the same in both runs is configuration, which benchstat compares
/// first.
fn head(summary: &Summary) -> String {
    let (run, environment) = (&summary.run, &summary.environment);
    let versions: Vec<&str> = environment
        .operator_versions
        .iter()
        .map(String::as_str)
        .collect();
    let fingerprint = environment.fingerprint.as_deref().unwrap_or("unknown");
    format!(
        "# {}/{}, uid {}, seed {}, operator {}\nbaseline: {}\nfingerprint: {}\n",
        ascii(&run.namespace),
        ascii(&run.name),
        ascii(&run.uid),
        summary.seed,
        ascii(&versions.join(", ")),
        ascii(&summary.baseline),
        ascii(fingerprint),
    )
}

/// The reasons to distrust the lines that follow. An empty value unsets the key.
fn untrusted(reasons: &BTreeSet<Reason>) -> String {
    let reasons: Vec<&str> = reasons.iter().map(|reason| (*reason).into()).collect();
    format!("untrusted: {}", reasons.join(" "))
        .trim_end()
        .to_owned()
        + "\n"
}

/// One line per block. The number of iterations is 1, because a block is one trial.
fn lines(point: &ValidPoint<'_>) -> String {
    let name = name(point.cell);
    let blocks: BTreeSet<u32> = point
        .series
        .iter()
        .flat_map(|(_, by_block)| by_block.keys())
        .copied()
        .collect();
    let mut text = String::new();
    for block in blocks {
        let _ = write!(text, "Benchmark{name} 1");
        for (metric, by_block) in &point.series {
            if let Some(number) = by_block.get(&block) {
                let _ = write!(text, " {} {}", value(*metric, *number), unit(*metric));
            }
        }
        text.push('\n');
    }
    text
}

/// `Hello/variant=embedded/connections=50`. The last part never ends in a dash and a number, which
/// would be read as a number of processors.
fn name(cell: AnyCell<'_>) -> String {
    let at = match cell.point {
        Point::WarmLatency => "sweep=warmLatency".to_owned(),
        Point::Throughput { connections } => format!("connections={connections}"),
        Point::OpenLoop { percent_of_peak } => format!("percentOfPeak={percent_of_peak}"),
        Point::ColdStart { concurrency } => format!("podsAtOnce={concurrency}"),
        Point::Density => "sweep=density".to_owned(),
        Point::Scout => "sweep=scout".to_owned(),
    };
    let workload = capitalised(&encoded(cell.workload));
    format!("{workload}/variant={}/{at}", encoded(cell.variant))
}

/// Go's own tools require a capital letter after `Benchmark`.
fn capitalised(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// A name without characters that would end a field or start a part: unusual bytes become escapes
/// such as `%20`.
fn encoded(name: &str) -> String {
    let one = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => {
            char::from(byte).to_string()
        }
        other => format!("%{other:02X}"),
    };
    name.bytes().map(one).collect()
}

fn value(metric: Metric, number: f64) -> f64 {
    match metric.measure().unit {
        Unit::Microseconds => round_number(number * NANOSECONDS),
        Unit::PerSecond | Unit::Bytes | Unit::Share => number,
    }
}

/// The unit, which alone distinguishes the measures on a line. benchstat reads `ns` as seconds.
const fn unit(metric: Metric) -> &'static str {
    match metric {
        Metric::ThroughputRps => "req/s",
        Metric::WarmP50 => "p50-ns",
        Metric::CpuPerRequest => "cpu-ns/req",
        Metric::Memory => "memory-B",
        Metric::Succeeded => "succeeded/req",
        Metric::ColdStartListening => "listening-ns",
        Metric::ColdStartAnswer => "answer-ns",
        Metric::OpenLoopP50 => "schedule-p50-ns",
        Metric::OpenLoopP99 => "schedule-p99-ns",
        Metric::MemoryPerInstance => "memory-B/instance",
    }
}
