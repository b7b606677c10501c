//! Measured loads: what they took, by variant, workload, point and block.

use wasmbench_model::wire::open_loop::{OpenLoopWindow, Quantiles, Rate};
use wasmbench_model::wire::record::{Cell, Outcome, Point, Record, TrialId};

use super::output::{fortio, slower};
use super::records::record;

/// How a block differs from the others, so that spreads are not empty.
pub fn noise(variant: &str, block: u32) -> f64 {
    let own = match variant {
        "native" => 0.0,
        "baseline-twin" => 0.002,
        _ => 0.005,
    };
    1.0 + f64::from(block % 5) * (0.02 + own)
}

/// How many times as slow as native a variant is under a workload.
pub fn cost(cell: &Cell) -> f64 {
    let overhead = match (cell.variant.as_str(), cell.workload.as_str()) {
        ("native" | "baseline-twin", _) => 1.0,
        (_, "hello") => 1.9,
        _ => 1.03,
    };
    let work = if cell.workload == "compute" { 4.0 } else { 1.0 };
    let queue = match cell.point {
        Point::Throughput { connections } if connections > 10 => 1.0,
        Point::ColdStart { .. }
        | Point::WarmLatency
        | Point::Throughput { .. }
        | Point::OpenLoop { .. }
        | Point::Capacity
        | Point::Payload
        | Point::Density
        | Point::Scout => 1.25,
    };
    overhead * work * queue
}

/// A measured trial.
pub fn measured(trial: TrialId, position: u32) -> Record {
    let name = if trial.cell.point == Point::WarmLatency {
        "exactly"
    } else {
        "ok"
    };
    let factor = cost(&trial.cell) * noise(&trial.cell.variant, trial.block);
    let window = open_loop(trial.cell.point, factor);
    let fortio = Some(slower(fortio(name), factor));
    let mut record = record(trial, position, Outcome::Measured, fortio);
    if let Some(timed) = record.load_mut().and_then(|d| d.timed.as_mut()) {
        timed.open_loop = window;
        // As long as the probe makes it, because noise is judged in it.
        timed.duration_nanoseconds = timed.duration_nanoseconds.max(1_000_000_000);
    }
    record
}

/// The window of a load on a schedule on a machine that is `factor` times as slow: latency from the
/// schedule is three times the service latency. The baseline's peak is 20,000 requests per second.
fn open_loop(point: Point, factor: f64) -> Option<OpenLoopWindow> {
    let requested_rps = match point.rate()? {
        Rate::Rps(rps) => f64::from(rps),
        Rate::PercentOfPeak(percent) => 200.0 * f64::from(percent),
    };
    Some(OpenLoopWindow {
        connections: 50,
        requested_rps,
        achieved_share: 0.9991,
        requests: 20_000,
        waited_share: 0.02,
        service: quantiles(factor),
        from_schedule: quantiles(3.0 * factor),
        failed: 0,
        failed_from_schedule: None,
        generator_delay: quantiles(0.5),
    })
}

/// Percentiles of a service that responds in 100 us, times `factor`.
pub fn quantiles(factor: f64) -> Quantiles {
    Quantiles {
        p50_microseconds: 100.0 * factor,
        p90_microseconds: 150.0 * factor,
        p99_microseconds: 400.0 * factor,
        p999_microseconds: None,
        max_microseconds: 900.0 * factor,
    }
}
