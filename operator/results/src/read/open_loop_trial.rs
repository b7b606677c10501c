//! The numbers of one trial on a schedule.

use serde::{Deserialize, Serialize};
use wasmbench_model::rounding::{round_number, round_time};
use wasmbench_model::wire::open_loop::OpenLoopWindow;

/// What one trial measured from its schedule; its service times are stored as the latencies that
/// every load has.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct OpenLoopTrial {
    /// Requests per second on the schedule.
    pub requested_rps: f64,
    /// Share of the requested rate that was achieved.
    pub achieved_share: f64,
    /// Share of the requests that waited for a connection.
    pub waited_share: f64,
    /// Median latency from the schedule.
    pub p50_microseconds: f64,
    /// 90th percentile of latency from the schedule.
    pub p90_microseconds: f64,
    /// 99th percentile of latency from the schedule.
    pub p99_microseconds: f64,
    /// 99.9th percentile of latency from the schedule; absent with fewer than 10,000 requests.
    pub p999_microseconds: Option<f64>,
    /// Median delay of the generator.
    pub generator_p50_microseconds: f64,
    /// 99th percentile of the generator's delay.
    pub generator_p99_microseconds: f64,
}

/// The numbers of a window.
pub fn from_window(window: &OpenLoopWindow) -> OpenLoopTrial {
    let scheduled = window.from_schedule;
    OpenLoopTrial {
        requested_rps: round_number(window.requested_rps),
        achieved_share: round_number(window.achieved_share),
        waited_share: round_number(window.waited_share),
        p50_microseconds: round_time(scheduled.p50_microseconds),
        p90_microseconds: round_time(scheduled.p90_microseconds),
        p99_microseconds: round_time(scheduled.p99_microseconds),
        p999_microseconds: scheduled.p999_microseconds.map(round_time),
        generator_p50_microseconds: round_time(window.generator_delay.p50_microseconds),
        generator_p99_microseconds: round_time(window.generator_delay.p99_microseconds),
    }
}

/// Whether no trial in a column had a schedule.
pub fn are_absent(column: &[Option<OpenLoopTrial>]) -> bool {
    column.iter().all(Option::is_none)
}
