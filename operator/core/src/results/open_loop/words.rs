//! Loads on a schedule in words: rows of the status, the terminal, doubts, and the sweep.

use wasmbench_api::open_loop::OpenLoop;
use wasmbench_api::status::{OpenLoopPoint, SummaryRow};

use super::super::cell::CellSummary;
use super::super::comparison::Comparison;
use super::super::doubt::Doubt;
use super::super::doubt::Reason;
use super::super::doubts::{Evidence, MAX_PLACES, listed};
use super::super::measure::Metric;
use super::super::measure::Sweep;
use super::super::rows::{invalid, unused};
use super::super::status_table;
use super::super::summary::Summary;
use super::super::table::{Align, Table};
use super::super::tables::{NOTHING, judged_ratio, marked, with_mark};
use super::super::units;
use super::OpenLoopSummary;
use super::report::achieved;

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

/// The points of a row, by rate.
pub fn rows(summary: &Summary, cells: &[&CellSummary]) -> Vec<OpenLoopPoint> {
    let of_sweep = cells.iter().filter(|cell| cell.sweep == Sweep::OpenLoop);
    of_sweep.filter_map(|cell| point(summary, cell)).collect()
}

fn point(summary: &Summary, cell: &CellSummary) -> Option<OpenLoopPoint> {
    let found = cell.open_loop?;
    let is_mine = |c: &&Comparison| {
        c.metric == Metric::OpenLoopP99
            && (&c.variant, &c.workload) == (&cell.variant, &cell.workload)
            && c.percent_of_peak == cell.percent_of_peak
    };
    let compared = summary.comparisons.iter().find(is_mine);
    Some(OpenLoopPoint {
        percent_of_peak: cell.percent_of_peak?,
        trials: cell.counts.valid,
        failed_trials: unused(cell),
        invalid: invalid(&cell.invalid_because),
        requested_rps: found.requested_rps.median,
        achieved_percent: (found.achieved_share_min * 1000.0).floor() / 10.0,
        p50_microseconds: found.p50_microseconds.median,
        p99_microseconds: found.p99_microseconds.median,
        service_p99_microseconds: cell.p99_microseconds?.median,
        p99_not_carried: !cell.p99_carried,
        ratio: compared.map(|c| c.ratio),
        low: compared.and_then(|c| c.low),
        high: compared.and_then(|c| c.high),
        verdict: compared.map(|c| <&str>::from(c.verdict).to_owned()),
    })
}

/// The points of one workload for a terminal; empty without any.
pub fn terminal(rows: &[&SummaryRow], baseline: &str) -> String {
    let versus = format!("VERSUS {baseline}");
    let mut table = Table::new(&[
        ("OPEN LOOP", Align::Left),
        ("OF PEAK", Align::Right),
        ("REQUESTED/S", Align::Right),
        ("ACHIEVED", Align::Right),
        ("SERVICE P99", Align::Right),
        ("FROM SCHEDULE P50", Align::Right),
        ("P99", Align::Right),
        (&versus, Align::Right),
        ("INVALID", Align::Left),
    ]);
    for (row, point) in rows
        .iter()
        .flat_map(|row| row.open_loop.iter().map(move |point| (row, point)))
    {
        let ratio = point.ratio.zip(point.verdict.as_deref());
        let p99 = |time| marked(units::micros(time), !point.p99_not_carried);
        table.row(&[
            with_mark(&row.variant, baseline),
            format!("{} %", point.percent_of_peak),
            units::rate(point.requested_rps),
            achieved(point.achieved_percent / 100.0),
            p99(point.service_p99_microseconds),
            units::micros(point.p50_microseconds),
            p99(point.p99_microseconds),
            ratio.map_or_else(
                || NOTHING.to_owned(),
                |(ratio, verdict)| {
                    let verdict = status_table::words(verdict);
                    judged_ratio(ratio, point.low.zip(point.high), &verdict)
                },
            ),
            point.invalid.clone().unwrap_or_else(|| NOTHING.to_owned()),
        ]);
    }
    table.drop_columns_of(NOTHING);
    if table.is_empty() {
        String::new()
    } else {
        format!("\n{}", table.plain())
    }
}

/// What a variant does by itself at its highest rate, for a verdict without comparisons.
pub fn statement(cell: &CellSummary) -> Option<String> {
    let p99 = cell.open_loop?.p99_microseconds.median;
    let percent = cell.percent_of_peak?;
    let p99 = marked(units::micros(p99), cell.p99_carried);
    Some(format!(
        "p99 from the schedule {p99} at {percent} % of its peak"
    ))
}

/// Points that lost their rate.
pub fn doubt_rate(evidence: &Evidence<'_>) -> Option<Doubt> {
    doubt(
        evidence,
        OpenLoopSummary::lost_the_rate,
        |found| format!("kept {} of it", achieved(found.achieved_share_min)),
        Reason::RateNotAchieved,
        "these points are not compared: the subject had less load than they say; ask for a lower \
         percentage, raise sweeps.openLoop.peakSeconds so that the peak is known better, use heavier requests (on a \
         schedule the generator needs more CPU time), or a quieter node",
    )
}

/// Points whose tail may be of the generator's making. A note: bursts make every variant's latency
/// longer and none shorter.
pub fn doubt_late(evidence: &Evidence<'_>) -> Option<Doubt> {
    let late = doubt(
        evidence,
        OpenLoopSummary::may_be_the_generators,
        |found| {
            let (late, p99) = (found.generator_p99_microseconds, found.p99_microseconds);
            format!(
                "late by {} at p99, latency {}",
                units::micros(late.median),
                units::micros(p99.median)
            )
        },
        Reason::LoadGeneratorLate,
        "take these latencies as upper bounds: what was due evenly came in bursts; give the generator CPUs of \
         its own, or a node with more of them",
    )?;
    Some(Doubt {
        breaks_trust: false,
        ..late
    })
}

fn doubt(
    evidence: &Evidence<'_>,
    is_so: fn(&OpenLoopSummary) -> bool,
    why: fn(&OpenLoopSummary) -> String,
    reason: Reason,
    remedy: &str,
) -> Option<Doubt> {
    let place = |cell: &CellSummary| {
        let found = cell.open_loop.as_ref().filter(|found| is_so(found))?;
        Some(format!("{} ({})", cell.place(), why(found)))
    };
    Some(Doubt {
        reason,
        breaks_trust: true,
        message: listed(evidence.cells.iter().filter_map(place), MAX_PLACES, ", ")?,
        remedy: remedy.to_owned(),
    })
}
