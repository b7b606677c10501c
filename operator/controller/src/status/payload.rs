//! Payload in the rows of the status.

use wasmbench_api::status::{PayloadSizeStatus, PayloadStatus};
use wasmbench_report::validity::invalid;
use wasmbench_results::cells::payload::{PayloadCell, SizeSummary};
use wasmbench_results::statistics::Spread;

/// What bytes cost a variant; `None` where nothing was measured.
pub fn status(cell: &PayloadCell) -> Option<PayloadStatus> {
    if cell.counts.valid == 0 && cell.invalid_because.is_empty() {
        return None;
    }
    let (fixed, slope) = (
        cell.detail.fixed_cpu_microseconds,
        cell.detail.cpu_microseconds_per_megabyte,
    );
    Some(PayloadStatus {
        trials: cell.counts.valid,
        failed_trials: cell.counts.unused(),
        invalid: invalid(&cell.invalid_because),
        fixed_cpu_microseconds: median(fixed),
        fixed_cpu_low: fixed.map(|fixed| fixed.low),
        fixed_cpu_high: fixed.map(|fixed| fixed.high),
        cpu_microseconds_per_megabyte: median(slope),
        cpu_per_megabyte_low: slope.map(|slope| slope.low),
        cpu_per_megabyte_high: slope.map(|slope| slope.high),
        sizes: cell.detail.sizes.iter().map(size).collect(),
    })
}

fn size(size: &SizeSummary) -> PayloadSizeStatus {
    PayloadSizeStatus {
        bytes: size.bytes,
        rps: median(size.rps),
        received_megabytes_per_second: median(size.received_megabytes_per_second),
        sent_megabytes_per_second: median(size.sent_megabytes_per_second),
        cpu_microseconds_per_request: median(size.cpu_microseconds_per_request),
    }
}

fn median(spread: Option<Spread>) -> Option<f64> {
    spread.map(|spread| spread.median)
}
