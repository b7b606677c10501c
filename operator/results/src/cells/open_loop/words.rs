//! Loads on a schedule in words: the sweep, the statement of a verdict, and doubts.

use wasmbench_api::open_loop::OpenLoop;
use wasmbench_model::units::{self, marked};

use crate::cells::load::LoadDetail;
use crate::cells::open_loop::OpenLoopSummary;
use crate::doubts::{Evidence, doubt, note, places};
use crate::vocabulary::doubt::{Doubt, Reason};

/// The sweep in one sentence.
pub fn sweep(sweep: &OpenLoop) -> String {
    let percents: Vec<String> = sweep.percents().iter().map(u32::to_string).collect();
    format!(
        "open loop: {} s per trial at {} % of each subject's own peak, which is measured for {} s before, after \
         {} discarded seconds, over {} connections",
        sweep.duration_seconds,
        percents.join(", "),
        sweep.peak_seconds,
        sweep.warmup_seconds,
        sweep.connections
    )
}

/// What a variant does by itself at its highest rate, for a verdict without comparisons.
pub fn statement(load: &LoadDetail) -> Option<String> {
    let p99 = load.open_loop?.p99_microseconds.median;
    let percent = load.percent_of_peak?;
    let p99 = marked(units::micros(p99), load.p99_carried);
    Some(format!(
        "p99 from the schedule {p99} at {percent} % of its peak"
    ))
}

/// Points that lost their rate.
pub fn doubt_rate(evidence: &Evidence<'_>) -> Option<Doubt> {
    let places = places(&evidence.cells.loads, |cell| {
        let found = cell
            .detail
            .open_loop
            .filter(OpenLoopSummary::lost_the_rate)?;
        let kept = achieved(found.achieved_share_min);
        Some(format!("{} (kept {kept} of it)", cell.place()))
    })?;
    Some(doubt(
        Reason::RateNotAchieved,
        places,
        "these points are not compared: the subject had less load than they say; ask for a lower \
         percentage, raise sweeps.openLoop.peakSeconds so that the peak is known better, use heavier requests (on a \
         schedule the generator needs more CPU time), or a quieter node",
    ))
}

/// Points whose tail latency the generator may have caused. A note: bursts lengthen every variant's
/// latency and shorten none.
pub fn doubt_late(evidence: &Evidence<'_>) -> Option<Doubt> {
    let places = places(&evidence.cells.loads, |cell| {
        let found = cell.detail.open_loop;
        let found = found.filter(OpenLoopSummary::may_be_the_generators)?;
        let times = [found.generator_p99_microseconds, found.p99_microseconds];
        let [late, p99] = times.map(|time| units::micros(time.median));
        let place = cell.place();
        Some(format!("{place} (late by {late} at p99, latency {p99})"))
    })?;
    Some(note(
        Reason::LoadGeneratorLate,
        places,
        "take these latencies as upper bounds: what was due evenly came in bursts; give the generator CPUs of \
         its own, or a node with more of them",
    ))
}

/// A share of the rate in percent, truncated and not rounded: 97.96 % is below 98 %.
pub fn achieved(share: f64) -> String {
    format!("{:.1} %", (share * 1000.0).floor() / 10.0)
}
