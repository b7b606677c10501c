//! Which plots a run has: the ratios of a workload, its capacity and its payload, then its loads by sweep, its
//! cold starts and its density, with tables of the same numbers below.

use maud::{Markup, html};
use strum::EnumCount as _;
use wasmbench_api::run::TWIN;
use wasmbench_model::wire::open_loop::Rate;
use wasmbench_model::wire::record::AnySweep;
use wasmbench_results::cells::curve::knee;
use wasmbench_results::cells::load::LoadCell;
use wasmbench_results::summary::Summary;
use wasmbench_results::vocabulary::measure::Sweep;

use crate::html::curve::{self, Curve};
use crate::html::lane::{Lane, Quantity, lane, look};
use crate::html::marks;
use crate::html::outliers::beyond;
use crate::html::plot::Plot;
use crate::html::strip::strip;
use crate::html::{Detail, capacity_plot, cold, density, payload_plot, ratios, writer};
use crate::section::Section;
use crate::{capacity, coldstart, comparisons, density as climbs, open_loop, payload, tables};

/// The most notes on what a plot does not show.
const MAX_NOTES: usize = 6;

/// The sweeps, in the order of their plots.
const PLOTTED: [AnySweep; AnySweep::COUNT] = [
    AnySweep::Throughput,
    AnySweep::WarmLatency,
    AnySweep::OpenLoop,
    AnySweep::Capacity,
    AnySweep::Payload,
    AnySweep::ColdStart,
    AnySweep::Density,
    AnySweep::Scout,
];

/// Everything about one workload: the one at `index` of those compared. Trials and tables are folded
/// unless `is_open`.
pub fn workload(summary: &Summary, index: usize, detail: Detail, is_open: bool) -> Markup {
    let Some(workload) = summary.compared.workloads.get(index) else {
        return html! {};
    };
    let (name, id) = (workload.name.as_str(), format!("w{index}"));
    let load = |sweep| loads(summary, name, sweep, &id, detail);
    let plots = PLOTTED.into_iter().flat_map(|sweep| match sweep {
        AnySweep::Throughput => load(Sweep::Throughput),
        AnySweep::WarmLatency => load(Sweep::WarmLatency),
        AnySweep::OpenLoop => load(Sweep::OpenLoop),
        AnySweep::ColdStart => cold::plots(summary, name, &id, detail.points),
        AnySweep::Density => density::plot(summary, name, &id, detail.points)
            .into_iter()
            .collect(),
        // Capacity and payload have figures of their own.
        AnySweep::Capacity | AnySweep::Payload | AnySweep::Scout => vec![],
    });
    let plots: Vec<Plot> = plots.collect();
    let trials = html! {
        div.plots { "\n" @for plot in &plots { (figure(summary, plot)) } } "\n"
    };
    html! {
        section {
            "\n"
            h2 { (name) } "\n"
            p { (workload.what) } "\n"
            (ratios::figure(summary, name, &id, detail))
            (capacity_plot::figure(summary, name, &id, detail.points, &legend(summary)))
            (payload_plot::figure(summary, name, &id, detail.points, &legend(summary)))
            @if is_open {
                (trials)
            } @else if !plots.is_empty() {
                details { summary { "Every trial on " (name) } "\n" (trials) } "\n"
            }
            @if detail.tables { (writer::foldable(&numbers(summary, name), is_open)) }
        } "\n"
    }
}

fn figure(summary: &Summary, plot: &Plot) -> Markup {
    let hidden = plot.notes.len().saturating_sub(MAX_NOTES);
    let more = (hidden > 0).then(|| format!("and {hidden} more: see report.md"));
    let shown = plot.notes.iter().take(MAX_NOTES).cloned();
    let notes: Vec<String> = shown.chain(more).collect();
    html! {
        figure {
            "\n"
            figcaption { (plot.title) } "\n"
            @if plot.has_legend { (legend(summary)) }
            (plot.svg)
            @if !notes.is_empty() { p.note { (notes.join("; ")) } "\n" }
        } "\n"
    }
}

fn legend(summary: &Summary) -> Markup {
    let variants = summary
        .compared
        .variants
        .iter()
        .map(|named| named.name.as_str());
    let twin = summary.compared.twin.iter().map(|_| TWIN);
    html! {
        ul.legend {
            @for name in variants.chain(twin) {
                li {
                    svg class={ "key " (look(summary, name).classes()) } viewBox="0 0 22 10" aria-hidden="true" {
                        (marks::path("curve", "M1 5H21"))
                        g.dots { (marks::path("", "M11 5h0")) }
                    }
                    (name)
                    @if let Some(limits) = summary.compared.limits_of(name) { " (" (limits.text()) ")" }
                }
            }
        } "\n"
    }
}

/// The plots of one sweep under one workload.
fn loads(summary: &Summary, workload: &str, sweep: Sweep, id: &str, detail: Detail) -> Vec<Plot> {
    let of_sweep = |cell: &&LoadCell| cell.workload == workload && cell.detail.sweep == sweep;
    let cells: Vec<&LoadCell> = summary.cells.iter().filter(of_sweep).collect();
    if cells.is_empty() {
        return vec![];
    }
    let (key, shown): (&str, &[(Quantity, &'static str)]) = match sweep {
        Sweep::Throughput => ("load", &LOADED),
        Sweep::WarmLatency => ("warm", &WARM),
        Sweep::OpenLoop => ("open", &OPEN),
    };
    shown
        .iter()
        .enumerate()
        .filter_map(|(index, (quantity, title))| {
            let id = format!("{id}-{key}{index}");
            load(summary, workload, &cells, *quantity, title, &id, detail)
        })
        .collect()
}

const LOADED: [(Quantity, &str); 5] = [
    (Quantity::Rate, "Throughput"),
    (Quantity::P50, "Latency p50 under load"),
    (Quantity::P99, "Latency p99 under load"),
    (Quantity::Cpu, "CPU per request under load"),
    (Quantity::Memory, "Memory under load"),
];
const WARM: [(Quantity, &str); 4] = [
    (Quantity::P50, "Warm latency p50"),
    (Quantity::P99, "Warm latency p99"),
    (Quantity::Cpu, "CPU per request, warm"),
    (Quantity::Memory, "Memory, warm"),
];

const OPEN: [(Quantity, &str); 2] = [
    (Quantity::ScheduledP50, "Latency p50 from the schedule"),
    (Quantity::ScheduledP99, "Latency p99 from the schedule"),
];

/// A curve over several amounts of load, otherwise a strip plot.
fn load(
    summary: &Summary,
    workload: &str,
    cells: &[&LoadCell],
    quantity: Quantity,
    title: &'static str,
    id: &str,
    detail: Detail,
) -> Option<Plot> {
    let lanes: Vec<(&LoadCell, Lane)> = cells
        .iter()
        .map(|cell| (*cell, lane(summary, cell, quantity)))
        .collect();
    // A counter that the node does not have gets no empty plot.
    if lanes.iter().all(|(_, lane)| lane.dots.is_empty()) && quantity != Quantity::Rate {
        return None;
    }
    let first = cells.first()?;
    let is_curve = cells.iter().any(|cell| amount(cell) != amount(first));
    let (load, unit) = match first.detail.rate {
        Some(Rate::Rps(_)) => ("requests per second", "requests/s"),
        Some(Rate::PercentOfPeak(_)) => ("percent of the baseline's peak", "% of the peak"),
        None => ("number of connections", "connections"),
    };
    let axis = quantity.axis();
    let drawn: Vec<&Lane> = lanes.iter().map(|(_, lane)| lane).collect();
    let mut notes = notes(&lanes, is_curve.then_some(unit));
    notes.extend(beyond(&drawn, axis));
    let svg = if is_curve {
        let knee = knee(&summary.cells, &summary.baseline, workload)
            .filter(|_| quantity == Quantity::Rate)
            .map(|cell| {
                (
                    cell.detail.connections,
                    format!("knee of {}", summary.baseline),
                )
            });
        curve::plot(id, title, axis, load, &curves(lanes), knee, detail.points)
    } else {
        let lanes: Vec<Lane> = lanes.into_iter().map(|(_, lane)| lane).collect();
        strip(id, title, axis, &lanes, detail.points)
    };
    Some(Plot {
        title,
        svg,
        notes,
        has_legend: is_curve,
    })
}

/// The amount of load on the horizontal axis: the rate if the load has one, otherwise the
/// connections.
fn amount(cell: &LoadCell) -> u32 {
    let rate = cell.detail.rate.map(Rate::number);
    rate.unwrap_or(cell.detail.connections)
}

/// Notes on what the lanes do not show. A note that applies at several amounts of load appears
/// once, with those amounts and their unit.
fn notes(lanes: &[(&LoadCell, Lane)], unit: Option<&str>) -> Vec<String> {
    let mut notes: Vec<(String, Vec<String>)> = vec![];
    for (cell, lane) in lanes {
        let Some(note) = lane.note() else { continue };
        let connections = amount(cell).to_string();
        match notes.iter_mut().find(|(known, _)| *known == note) {
            Some((_, all)) => all.push(connections),
            None => notes.push((note, vec![connections])),
        }
    }
    let written = |(note, connections): (String, Vec<String>)| match unit {
        Some(unit) => format!("{note} (each at {} {unit})", connections.join(", ")),
        None => note,
    };
    notes.into_iter().map(written).collect()
}

fn curves(lanes: Vec<(&LoadCell, Lane)>) -> Vec<Curve> {
    let mut curves: Vec<Curve> = vec![];
    for (cell, lane) in lanes {
        let point = (amount(cell), lane);
        match curves.iter_mut().find(|curve| curve.name == cell.variant) {
            Some(curve) => curve.points.push(point),
            None => curves.push(Curve {
                name: cell.variant.clone(),
                look: point.1.look,
                points: vec![point],
            }),
        }
    }
    curves
}

/// The same numbers as text.
fn numbers(summary: &Summary, workload: &str) -> Section {
    let all = [
        (
            "Ratios to the baseline (*: what the run was to decide)",
            comparisons::report(summary, workload),
        ),
        ("Noise floor", tables::noise_floor(summary, workload)),
        (
            "Medians over valid trials",
            tables::points(summary, workload),
        ),
        ("Open loop", open_loop::points(summary, workload)),
    ];
    let ladders = capacity::tables(summary, workload);
    let cold = coldstart::tables(summary, workload);
    let all = all
        .into_iter()
        .chain(ladders)
        .chain(payload::tables(summary, workload))
        .chain(cold)
        .chain(climbs::tables(summary, workload))
        .filter(|(_, table)| !table.is_empty());
    all.fold(Section::new("Numbers"), |section, (title, table)| {
        section.captioned(title, table)
    })
}
