//! The plot of payload under one workload: what bytes cost all variants, with the line of each.

use maud::{Markup, html};
use wasmbench_model::units;
use wasmbench_results::cells::payload::PayloadCell;
use wasmbench_results::statistics::Line;
use wasmbench_results::summary::Summary;
use wasmbench_results::vocabulary::cell::under;

use crate::html::bytes::{Costs, plot};
use crate::html::lane::{is_drawn, look, remark};
use crate::html::marks::{Dot, Points};

const TITLE: &str = "Payload: CPU time per request by the size of its body";
const NOTE: &str = "A point is a size of one trial; dashes are the medians of the blocks with their intervals. Lines are the fixed cost \
     and the cost per MB, as medians of the blocks: they bend because the axis is logarithmic. Hollow: the point is invalid.";

/// The plot with the text around it, below this legend; empty where no CPU time was read.
pub fn figure(
    summary: &Summary,
    workload: &str,
    id: &str,
    detail: Points,
    legend: &Markup,
) -> Markup {
    let cells = under(&summary.payload, workload);
    let all: Vec<Costs> = cells.iter().map(|cell| costs(summary, cell)).collect();
    if all.iter().all(|costs| costs.dots.is_empty()) {
        return html! {};
    }
    let remarks: Vec<String> = cells.iter().filter_map(|cell| remark(cell.any())).collect();
    html! {
        figure.wide {
            "\n"
            figcaption { (TITLE) } "\n"
            (legend)
            (plot(&format!("{id}-payload"), TITLE, &all, detail))
            @for text in cells.iter().filter_map(|cell| text(cell)) { p.note { (text) } "\n" }
            p.note { (NOTE) } "\n"
            @if !remarks.is_empty() { p.note { (remarks.join("; ")) } "\n" }
        } "\n"
    }
}

/// `native: 31.2 us per request + 412 us per MB`.
fn text(cell: &PayloadCell) -> Option<String> {
    let text = cell.detail.text().filter(|_| cell.ranked)?;
    Some(format!("{}: {text}", cell.variant))
}

fn costs(summary: &Summary, cell: &PayloadCell) -> Costs {
    let detail = &cell.detail;
    let dots = detail.blocks.iter().flat_map(|block| {
        let sizes = block.sizes.iter();
        sizes.filter_map(move |size| {
            let cpu = size.cpu_microseconds_per_request?;
            Some((size.bytes, dot(cell, block.block, (size.bytes, cpu))?))
        })
    });
    let medians = detail.sizes.iter().filter(|_| cell.ranked);
    let medians = medians.filter_map(|size| Some((size.bytes, size.cpu_microseconds_per_request?)));
    let both = detail
        .fixed_cpu_microseconds
        .zip(detail.cpu_microseconds_per_megabyte);
    Costs {
        name: cell.variant.clone(),
        look: look(summary, &cell.variant),
        dots: dots.collect(),
        medians: medians.collect(),
        line: both.filter(|_| cell.ranked).map(|(fixed, slope)| Line {
            start: fixed.median,
            slope: slope.median,
        }),
    }
}

fn dot(cell: &PayloadCell, block: u32, (bytes, cpu): (u32, f64)) -> Option<Dot> {
    let (size, time) = (units::bytes(bytes.into()), units::micros(cpu));
    is_drawn(cpu).then(|| Dot {
        value: cpu,
        label: format!("{}, block {block}, {size}: {time}", cell.variant),
        counts: cell.ranked,
        is_out_with_its_point: !cell.ranked,
    })
}
