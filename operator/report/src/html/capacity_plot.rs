//! The plot of capacity under one workload: p99 against the rate for all variants, the target, and the
//! rate at which each variant crosses it.

use maud::{Markup, html};
use wasmbench_model::units;
use wasmbench_results::cells::capacity::{BlockRung, CapacityCell, RungOutcome, RungSummary};
use wasmbench_results::statistics::BoundedSpread;
use wasmbench_results::summary::Summary;
use wasmbench_results::vocabulary::cell::under;

use crate::html::ladder::{Ladder, plot};
use crate::html::lane::{look, remark};
use crate::html::marks::{Dot, Points, tick};
use crate::html::target::{Crossing, Target};

const TITLE: &str = "Capacity: p99 by rate";
const NOTE: &str = "A point is a rung of one trial, or a rate tried between two rungs; lines go through the medians of rungs. \
     Above: the rate at which each variant crosses the target, with the interval of the median; an arrow: it lies beyond \
     the ladder. Hollow: it does not count, because the load generator was late or the point is invalid.";

/// The plot with the text around it, below this legend; empty where no rung was measured.
pub fn figure(
    summary: &Summary,
    workload: &str,
    id: &str,
    detail: Points,
    legend: &Markup,
) -> Markup {
    let cells = under(&summary.capacity, workload);
    let ladders: Vec<Ladder> = cells.iter().map(|cell| ladder(summary, cell)).collect();
    let is_empty = ladders.iter().all(|ladder| ladder.dots.is_empty());
    let Some(first) = cells.first().filter(|_| !is_empty) else {
        return html! {};
    };
    let target = first.detail.target_p99_microseconds;
    let crossings = cells.iter().filter_map(|cell| crossing(summary, cell));
    let target = Target {
        value: target,
        words: format!("target: p99 of {}", tick(&units::micros(target))),
        crossings: crossings.collect(),
    };
    let svg = plot(&format!("{id}-capacity"), TITLE, &ladders, &target, detail);
    let remarks: Vec<String> = cells.iter().filter_map(|cell| remark(cell.any())).collect();
    html! {
        figure.wide {
            "\n"
            figcaption { (TITLE) } "\n"
            (legend)
            (svg)
            p.note { (NOTE) @if let Some(endless) = endless(&ladders) { " " (endless) } } "\n"
            @if !remarks.is_empty() { p.note { (remarks.join("; ")) } "\n" }
        } "\n"
    }
}

fn ladder(summary: &Summary, cell: &CapacityCell) -> Ladder {
    let blocks = cell.detail.blocks.iter();
    let dots = blocks.flat_map(|block| {
        let rungs = block.rungs.iter();
        rungs.map(move |rung| (rung.requested_rps, dot(cell, block.block, rung)))
    });
    let rungs = cell.detail.rungs.iter().filter(|_| cell.ranked);
    Ladder {
        name: cell.variant.clone(),
        look: look(summary, &cell.variant),
        dots: dots.collect(),
        medians: rungs.filter_map(|rung| median(cell, rung)).collect(),
    }
}

/// Rate and p99 of a rung that shows something in most of its blocks, and does not fail in most of those.
fn median(cell: &CapacityCell, rung: &RungSummary) -> Option<(f64, f64)> {
    let p99 = rung.p99_microseconds?.median;
    let is_shown = 2 * rung.invalid < rung.trials;
    let misses = 2 * rung.met < rung.trials - rung.invalid;
    let fails = misses && p99 <= cell.detail.target_p99_microseconds;
    (is_shown && !fails).then_some((rung.requested_rps, p99))
}

fn dot(cell: &CapacityCell, block: u32, rung: &BlockRung) -> Dot {
    let without_time = match rung.failed {
        Some(_) => "no right answer",
        None => "took more than twice its time",
    };
    let time = rung
        .p99_microseconds
        .map_or_else(|| without_time.to_owned(), units::micros);
    // What failures made miss the target has no p99, however fast the other answers were.
    let target = cell.detail.target_p99_microseconds;
    let counted = rung
        .p99_microseconds
        .filter(|p99| rung.outcome != RungOutcome::Missed || *p99 > target);
    let failed = match rung.failed {
        Some(failed) if failed > 0 => format!(", {failed} failed"),
        Some(_) | None => String::new(),
    };
    let why = match rung.outcome {
        RungOutcome::Met | RungOutcome::Missed => "",
        RungOutcome::Invalid => ", invalid: the load generator was late",
    };
    let rate = units::rate(rung.requested_rps);
    Dot {
        value: counted.unwrap_or(f64::INFINITY),
        label: format!(
            "{}, block {block}, {rate}/s{why}: {time}{failed}",
            cell.variant
        ),
        counts: cell.ranked && rung.outcome != RungOutcome::Invalid,
        is_out_with_its_point: !cell.ranked,
    }
}

/// Where a variant crosses the target; `None` where nothing is known of it, or it does not count.
fn crossing(summary: &Summary, cell: &CapacityCell) -> Option<Crossing> {
    let BoundedSpread { median, low, high } = cell.detail.rps;
    let found = cell.detail.text().filter(|_| cell.ranked)?;
    let ends = median.and(low.zip(high));
    let interval = ends.map_or_else(String::new, |(low, high)| {
        format!(" ({} to {})", units::rate(low), units::rate(high))
    });
    Some(Crossing {
        look: look(summary, &cell.variant),
        at: median,
        low,
        high,
        words: format!("{}: {found}{interval}", cell.variant),
    })
}

/// How many rungs have no p99, in words.
fn endless(ladders: &[Ladder]) -> Option<String> {
    let dots = ladders.iter().flat_map(|ladder| &ladder.dots);
    let count = dots.filter(|(_, dot)| !dot.value.is_finite()).count();
    (count > 0).then(|| {
        format!(
            "{count} rung(s) took more than twice their time or had too many failures, and are drawn at the end of \
             the axis."
        )
    })
}
