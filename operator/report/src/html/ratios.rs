//! The ratios of a workload to the baseline: which groups their plot has, loads first, then cold starts.

use std::collections::BTreeSet;

use wasmbench_api::run::TWIN;
use wasmbench_core::units::{self, judged_ratio};
use wasmbench_results::coldstart::{ColdRatio, ColdStartCell};
use wasmbench_results::comparison::{Comparison, NoiseFloor};
use wasmbench_results::measure::{Metric, Sweep};
use wasmbench_results::statistics::Spread;
use wasmbench_results::summary::Summary;

use crate::html::Detail;
use crate::html::forest::{Group, Ratio, forest};
use crate::html::lane::look;
use crate::html::marks::Look;
use crate::tables::ratio_with_interval;

const METRICS: [Metric; 4] = [
    Metric::ThroughputRps,
    Metric::WarmP50,
    Metric::CpuPerRequest,
    Metric::Memory,
];

/// The plot of a workload, with what stands around it; empty where nothing is compared.
pub fn figure(summary: &Summary, workload: &str, id: &str, detail: Detail) -> String {
    let loads = METRICS
        .iter()
        .map(|metric| group(summary, workload, *metric, None));
    let rates = summary.cells.iter().filter_map(|c| c.percent_of_peak);
    let rates: BTreeSet<u32> = rates.collect();
    let open = rates.into_iter().flat_map(|percent| {
        [Metric::OpenLoopP50, Metric::OpenLoopP99]
            .map(|metric| group(summary, workload, metric, Some(percent)))
    });
    let loads = loads.chain(open);
    let cold = cold_groups(summary, workload);
    let groups: Vec<Group> = loads
        .chain(cold)
        .filter(|group| !group.ratios.is_empty())
        .collect();
    if groups.is_empty() {
        return String::new();
    }
    let effect = summary.compared.minimum_effect.map(|share| 1.0 + share);
    let title = "Ratios to the baseline";
    let id = format!("{id}-ratios");
    let svg = forest(
        &id,
        title,
        &summary.baseline,
        &groups,
        effect,
        detail.points,
    );
    let said = match effect {
        Some(factor) => format!(
            "Grey band: differences below the minimum effect of {} do not matter. ",
            units::excess(factor)
        ),
        None => String::new(),
    };
    let floor = if groups.iter().any(|group| group.noise_floor.is_some()) {
        "Hatched: differences that the baseline has with its own twin are not resolvable. "
    } else {
        ""
    };
    format!(
        "<figure class=\"wide\">\n<figcaption>{title}</figcaption>\n{svg}<p class=\"note\">{said}{floor}Pale \
         points are single blocks.</p>\n</figure>\n"
    )
}

fn group(summary: &Summary, workload: &str, metric: Metric, percent: Option<u32>) -> Group {
    let of_metric = |c: &&Comparison| {
        c.workload == workload && c.metric == metric && c.percent_of_peak == percent
    };
    let found: Vec<&Comparison> = summary.comparisons.iter().filter(of_metric).collect();
    let twin = |floor: &&NoiseFloor| {
        floor.workload == workload && floor.metric == metric && floor.percent_of_peak == percent
    };
    let twin = summary.noise_floors.iter().find(twin);
    let place = found.first().map(|c| (c.sweep, c.connections));
    let place = place.or_else(|| twin.map(|twin| (twin.sweep, twin.connections)));
    let place = match place {
        Some((Sweep::Throughput, connections)) => format!(" at {connections} connections"),
        Some((Sweep::WarmLatency, _)) if metric != Metric::WarmP50 => " (warm)".to_owned(),
        _ => String::new(),
    };
    let compared = found.iter().map(|c| Ratio {
        name: c.variant.clone(),
        look: look(summary, &c.variant),
        estimate: c.ratio,
        interval: c.low.zip(c.high),
        blocks: c.per_block.clone(),
        words: judged_ratio(c.ratio, c.low.zip(c.high), c.verdict.words()),
    });
    Group {
        name: format!("{}{place}", metric.at(percent)),
        noise_floor: twin.and_then(|twin| twin.factor),
        ratios: compared.chain(twin.map(of_twin)).collect(),
    }
}

fn of_twin(twin: &NoiseFloor) -> Ratio {
    let floor = twin.factor.map(units::excess);
    let floor = floor.map_or_else(
        || "one block".to_owned(),
        |floor| format!("noise floor {floor}"),
    );
    Ratio {
        name: TWIN.to_owned(),
        look: Look::twin(),
        estimate: twin.ratio,
        interval: twin.low.zip(twin.high),
        blocks: twin.per_block.clone(),
        words: judged_ratio(twin.ratio, twin.low.zip(twin.high), &floor),
    }
}

fn cold_groups(summary: &Summary, workload: &str) -> Vec<Group> {
    let cells = summary.cold_starts.iter();
    let cells: Vec<_> = cells.filter(|cell| cell.workload == workload).collect();
    let mut points: Vec<u32> = cells.iter().map(|cell| cell.concurrency).collect();
    points.sort_unstable();
    points.dedup();
    let mut groups = vec![];
    for point in points {
        for (what, is_listening) in [("listening", true), ("first correct answer", false)] {
            let at = cells.iter().filter(|cell| cell.concurrency == point);
            let ratios = at.filter_map(|cell| {
                let found = cold_ratio(cell, is_listening)?;
                let blocks = u32::try_from(found.per_block.len()).unwrap_or(u32::MAX);
                let Spread { median, low, high } = found.ratio;
                let words = ratio_with_interval(found.ratio, blocks);
                Some(Ratio {
                    name: cell.variant.clone(),
                    look: look(summary, &cell.variant),
                    estimate: median,
                    interval: (blocks > 1).then_some((low, high)),
                    blocks: found.per_block.clone(),
                    words: match found.verdict {
                        Some(verdict) => format!("{words}, {}", verdict.words()),
                        None => words,
                    },
                })
            });
            groups.push(Group {
                name: format!("cold start, create to {what}, {point} pod(s) at once"),
                noise_floor: cold_floor(&cells, point, is_listening),
                ratios: ratios.collect(),
            });
        }
    }
    groups
}

fn cold_ratio(cell: &ColdStartCell, is_listening: bool) -> Option<&ColdRatio> {
    let time = if is_listening {
        &cell.create_to_listening
    } else {
        &cell.create_to_answer
    };
    time.as_ref()?.versus_baseline.as_ref()
}

/// The floor is the same for all variants at one number of pods at once.
fn cold_floor(cells: &[&ColdStartCell], point: u32, is_listening: bool) -> Option<f64> {
    let mut at = cells.iter().filter(|cell| cell.concurrency == point);
    at.find_map(|cell| cold_ratio(cell, is_listening)?.noise_floor)
}
