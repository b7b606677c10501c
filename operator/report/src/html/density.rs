//! The plot of density: what each climb of the ladder found for one more instance.

use wasmbench_model::units;
use wasmbench_results::cells::density::DensityCell;
use wasmbench_results::summary::Summary;
use wasmbench_results::vocabulary::cell::under;

use crate::html::lane::{Axis, Lane, is_drawn, look, point_invalid, without_numbers};
use crate::html::marks::{Dot, Points};
use crate::html::outliers::notes;
use crate::html::plot::Plot;
use crate::html::strip::strip;

const TITLE: &str = "Density: memory of one more instance";

const AXIS: Axis = Axis {
    name: "memory per instance (KiB, MiB, GiB)",
    label: units::bytes,
    base: 1024.0,
};

/// The plot of one workload; `None` if no climb has a memory reading.
pub fn plot(summary: &Summary, workload: &str, id: &str, detail: Points) -> Option<Plot> {
    let cells = under(&summary.density, workload).into_iter();
    let lanes: Vec<Lane> = cells.map(|cell| lane(summary, cell)).collect();
    if lanes.iter().all(|lane| lane.dots.is_empty()) {
        return None;
    }
    Some(Plot {
        title: TITLE,
        svg: strip(&format!("{id}-density"), TITLE, AXIS, &lanes, detail),
        notes: notes(&lanes, AXIS),
        has_legend: false,
    })
}

fn lane(summary: &Summary, cell: &DensityCell) -> Lane {
    let invalid = point_invalid(&cell.invalid_because);
    let because = invalid
        .as_ref()
        .map_or_else(String::new, |why| format!(", {why}"));
    let dots = cell.detail.blocks.iter().filter_map(|block| {
        let value = block.bytes_per_instance.filter(|bytes| is_drawn(*bytes))?;
        Some(Dot {
            value,
            label: format!(
                "{}, block {}, up to {} instances{because}: {}",
                cell.variant,
                block.block,
                block.instances,
                units::bytes(value)
            ),
            counts: cell.ranked,
            is_out_with_its_point: !cell.ranked,
        })
    });
    Lane {
        name: cell.variant.clone(),
        look: look(summary, &cell.variant),
        dots: dots.collect(),
        spread: cell
            .detail
            .bytes_per_instance
            .filter(|spread| is_drawn(spread.low)),
        is_ranked: cell.ranked,
        invalid,
        mark: "",
        missing: without_numbers(cell.counts),
    }
}
