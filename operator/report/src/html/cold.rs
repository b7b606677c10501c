//! Plots of cold starts: a point for every block, a hollow one for its discarded sample, and the
//! steps in between.

use maud::{Markup, html};
use strum::IntoEnumIterator as _;
use wasmbench_model::units;
use wasmbench_model::wire::cold_start::ColdStep;
use wasmbench_results::cells::coldstart::{ColdBlock, ColdStartCell, ColdTime, StepTime};
use wasmbench_results::summary::Summary;
use wasmbench_results::vocabulary::cell::under;

use crate::html::lane::{Axis, Lane, look, point_invalid, without_numbers};
use crate::html::marks::{self, Dot, Points};
use crate::html::outliers::notes;
use crate::html::plot::Plot;
use crate::html::scale::Scale;
use crate::html::strip::{self, FOOT, LEFT, NAME_CHARS, RIGHT, ROW, TOP, WIDTH, strip};

const STEPS: &str = "Cold start: the steps";

const AXIS: Axis = Axis {
    name: "time since the request that creates the pod (us, ms, s)",
    label: units::micros,
    base: 1000.0,
};

/// The value of a block that is drawn as a point.
type Of = fn(&ColdBlock) -> Option<f64>;

/// The plots of one workload; none without cold starts.
pub fn plots(summary: &Summary, workload: &str, id: &str, detail: Points) -> Vec<Plot> {
    let cells = under(&summary.cold_starts, workload);
    if cells.is_empty() {
        return vec![];
    }
    let of_listening = |cell: &&ColdStartCell| {
        let time = cell.detail.create_to_listening.as_ref();
        lane(
            summary,
            cell,
            time,
            |b| b.listening,
            |b| b.discarded_listening,
        )
    };
    let of_answer = |cell: &&ColdStartCell| {
        let time = cell.detail.create_to_answer.as_ref();
        lane(summary, cell, time, |b| b.answer, |b| b.discarded_answer)
    };
    let listening: Vec<Lane> = cells.iter().map(of_listening).collect();
    let answer: Vec<Lane> = cells.iter().map(of_answer).collect();
    let plot = |key: &str, title: &'static str, lanes: &[Lane]| Plot {
        title,
        svg: strip(&format!("{id}-{key}"), title, AXIS, lanes, detail),
        notes: notes(lanes, AXIS),
        has_legend: false,
    };
    let mut plots = vec![];
    if listening.iter().any(|lane| !lane.dots.is_empty()) {
        plots.push(plot(
            "listening",
            "Cold start: create to listening",
            &listening,
        ));
    }
    plots.push(plot(
        "answer",
        "Cold start: create to first correct answer",
        &answer,
    ));
    plots.push(Plot {
        title: STEPS,
        svg: timelines(summary, &cells, &format!("{id}-steps")),
        notes: vec![legend(&cells)],
        has_legend: false,
    });
    plots
}

fn name(cell: &ColdStartCell) -> String {
    match cell.detail.concurrency {
        1 => cell.variant.clone(),
        more => format!("{} x{more}", cell.variant),
    }
}

fn lane(
    summary: &Summary,
    cell: &ColdStartCell,
    time: Option<&ColdTime>,
    counted: Of,
    discarded: Of,
) -> Lane {
    let invalid = point_invalid(&cell.invalid_because);
    let because = invalid
        .as_ref()
        .map_or_else(String::new, |why| format!(", {why}"));
    let dot = |block: &ColdBlock, value: Option<f64>, counts: bool, what: &str| {
        value.map(|value| Dot {
            value,
            label: format!(
                "{}, block {}, {what}: {}",
                name(cell),
                block.block,
                units::micros(value)
            ),
            counts: counts && cell.ranked,
            is_out_with_its_point: counts && !cell.ranked,
        })
    };
    let dots = cell.detail.blocks.iter().flat_map(|block| {
        let of_pods = format!("median of its pods{because}");
        let counted = dot(block, counted(block), true, &of_pods);
        let discarded = dot(
            block,
            discarded(block),
            false,
            "the first sample, discarded",
        );
        counted.into_iter().chain(discarded)
    });
    Lane {
        name: name(cell),
        look: look(summary, &cell.variant),
        dots: dots.collect(),
        spread: time.map(|time| time.p50_microseconds),
        is_ranked: cell.ranked && time.is_some(),
        invalid,
        mark: "",
        missing: without_numbers(cell.counts),
    }
}

/// Whether a step is on the way to the answer. Sending the create request is the zero of the axis,
/// and the end and deletion of the pod are no part of its start.
fn is_of_the_start(step: ColdStep) -> bool {
    !matches!(
        step,
        ColdStep::CreateSent
            | ColdStep::DeleteSent
            | ColdStep::TaskExited
            | ColdStep::DeletionFinished
    )
}

/// The median times of all steps, one row per cell, numbered in the order of the legend.
fn timelines(summary: &Summary, cells: &[&ColdStartCell], id: &str) -> Markup {
    let times = cells.iter().flat_map(|cell| &cell.detail.steps);
    let values = times.filter(|time| is_of_the_start(time.step));
    let scale = Scale::fit(
        values.map(|time| time.p50_microseconds).chain([0.0]),
        AXIS.base,
        (LEFT, RIGHT),
    );
    let bottom = TOP + ROW * cells.len() as f64;
    let body = html! {
        (strip::grid(&scale, AXIS, bottom))
        @for (index, cell) in cells.iter().enumerate() {
            @let middle = TOP + ROW * (index as f64 + 0.5);
            (timeline(cell, &look(summary, &cell.variant).classes(), &scale, middle))
        }
    };
    let what = "median moment of each step, one row per variant; the numbers are in the legend";
    marks::svg(id, (WIDTH, bottom + FOOT), STEPS, what, &body)
}

fn timeline(cell: &ColdStartCell, classes: &str, scale: &Scale, middle: f64) -> Markup {
    let (name, from) = (name(cell), (scale.at(0.0), middle));
    html! {
        (marks::text("name", (LEFT - 8.0, middle + 4.0), &name, NAME_CHARS))
        g class=(classes) { (marks::line("bar", from, (RIGHT, middle))) }
        @for (number, time) in numbered(cell) { (moment(time, number, &name, scale, middle, classes)) }
        "\n"
    }
}

fn moment(
    time: &StepTime,
    number: usize,
    name: &str,
    scale: &Scale,
    middle: f64,
    classes: &str,
) -> Markup {
    let (x, step, clock) = (
        scale.at(time.p50_microseconds),
        <&str>::from(time.step),
        <&str>::from(time.clock),
    );
    // Neighbours go above and below the line, so that close ones stay legible.
    let above = number % 2 == 1;
    let y = if above { middle - 7.0 } else { middle + 15.0 };
    html! {
        g class=(classes) {
            title { (name) ", " (step) ": " (units::micros(time.p50_microseconds)) " (" (clock) ")" }
            (marks::line("median", (x, middle - 5.0), (x, middle + 5.0)))
            (marks::text("tick middle", (x, y), &number.to_string(), 4))
        }
    }
}

fn numbered(cell: &ColdStartCell) -> impl Iterator<Item = (usize, &StepTime)> {
    cell.detail.steps.iter().filter_map(|time| {
        let order = ColdStep::iter().filter(|step| is_of_the_start(*step));
        let place = order.into_iter().position(|step| step == time.step)?;
        Some((place + 1, time))
    })
}

/// What the numbers of the steps mean, for steps with evidence.
fn legend(cells: &[&ColdStartCell]) -> String {
    let mut found: Vec<(usize, ColdStep)> = cells
        .iter()
        .flat_map(|cell| numbered(cell))
        .map(|(number, time)| (number, time.step))
        .collect();
    found.sort_unstable();
    found.dedup();
    let named = found
        .into_iter()
        .map(|(number, step)| format!("{number} {}", <&str>::from(step)));
    named.collect::<Vec<_>>().join(", ")
}
