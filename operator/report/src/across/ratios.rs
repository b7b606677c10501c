//! The numbers: trials of the same cell of two runs in, judged ratios out.

use wasmbench_core::rounding::{SUMMARY_DIGITS, round_significant};
use wasmbench_results::cell::CellSummary;
use wasmbench_results::coldstart::ColdStartCell;
use wasmbench_results::compare::by_block;
use wasmbench_results::curve::knee;
use wasmbench_results::density::DensityCell;
use wasmbench_results::judge::{Thresholds, judge};
use wasmbench_results::measure::{Metric, Sweep};
use wasmbench_results::statistics::{LogInterval, false_discovery};
use wasmbench_results::summary::Summary;

use crate::across::CellRatio;

/// Digits of p-values: the third says nothing any more.
const P_DIGITS: usize = 2;

/// Where a number is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Name of the variant.
    pub variant: String,
    /// Name of the workload.
    pub workload: String,
    /// The point, as in [`CellRatio::point`].
    pub point: String,
}

/// The valid trials of one metric of one cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Which cell.
    pub place: Place,
    metric: Metric,
    values: Vec<f64>,
    /// Whether it has no verdict: see [`is_beyond_knee`].
    beyond_knee: bool,
}

impl Sample {
    fn is_same_cell(&self, other: &Self) -> bool {
        self.place == other.place && self.metric == other.metric
    }
}

/// The ratios of all cells that both runs have, and how many metrics of cells only one of them has.
/// `minimum_effect` is a logarithm.
pub fn ratios(before: &[Sample], after: &[Sample], minimum_effect: f64) -> (Vec<CellRatio>, u32) {
    let pairs: Vec<(&Sample, &Sample, LogInterval)> = after
        .iter()
        .filter_map(|later| {
            let earlier = before.iter().find(|earlier| earlier.is_same_cell(later))?;
            let interval = LogInterval::unpaired(&later.values, &earlier.values)?;
            Some((earlier, later, interval))
        })
        .collect();
    let to_judge = pairs.iter().filter(|(_, later, _)| !later.beyond_knee);
    let p_values: Vec<f64> = to_judge.map(|(.., found)| found.p_value).collect();
    let mut adjusted = false_discovery::adjusted(&p_values).into_iter();
    let single = before.len() + after.len() - 2 * pairs.len();
    let thresholds = Thresholds {
        minimum_effect,
        noise_floor: None,
    };
    let judged = pairs.into_iter().map(|(earlier, later, found)| {
        let adjusted = if later.beyond_knee {
            None
        } else {
            adjusted.next()
        };
        ratio(earlier, later, &found, adjusted, thresholds)
    });
    (judged.collect(), u32::try_from(single).unwrap_or(u32::MAX))
}

fn ratio(
    earlier: &Sample,
    later: &Sample,
    found: &LogInterval,
    adjusted: Option<f64>,
    thresholds: Thresholds,
) -> CellRatio {
    let round = |value| round_significant(value, SUMMARY_DIGITS);
    let factor = |log| round(libm::exp(log));
    let middle = |sample: &Sample| {
        LogInterval::of(&sample.values).map_or(0.0, |found| factor(found.estimate))
    };
    let count = |sample: &Sample| u32::try_from(sample.values.len()).unwrap_or(u32::MAX);
    CellRatio {
        variant: later.place.variant.clone(),
        workload: later.place.workload.clone(),
        point: later.place.point.clone(),
        metric: later.metric,
        before: middle(earlier),
        after: middle(later),
        ratio: factor(found.estimate),
        low: found.low().map(factor),
        high: found.high().map(factor),
        p_value: round_significant(found.p_value, P_DIGITS),
        adjusted_p_value: adjusted.map(|adjusted| round_significant(adjusted, P_DIGITS)),
        verdict: adjusted.map(|adjusted| judge(later.metric, found, adjusted, thresholds)),
        trials_before: count(earlier),
        trials_after: count(later),
    }
}

/// Every metric of every ranked cell, in the order of the summary. Invalid points are not compared.
/// The knees are those of the `earlier` run.
pub fn samples(summary: &Summary, earlier: &Summary) -> Vec<Sample> {
    let loads = summary.cells.iter().filter(|cell| cell.ranked);
    let loads = loads.flat_map(|cell| of_load(cell, is_beyond_knee(cell, earlier)));
    let cold = summary.cold_starts.iter().filter(|cell| cell.is_ranked());
    let all = loads.chain(cold.flat_map(of_cold_start));
    let density = summary.density.iter().filter(|cell| cell.is_ranked());
    let all = all.chain(density.map(of_density));
    all.filter(|sample| !sample.values.is_empty()).collect()
}

/// Every cell of the run, valid or not, in the order of the summary.
pub fn places(summary: &Summary) -> Vec<Place> {
    let loads = summary.cells.iter().map(place_of_load);
    let cold = summary.cold_starts.iter().map(place_of_cold_start);
    let density = summary.density.iter().map(place_of_density);
    loads.chain(cold).chain(density).collect()
}

/// Whether a point has more connections than the knee of the earlier run's baseline: there the queue
/// grows and the rate hardly does, and within a run nothing is judged there either. Without a valid
/// point of the baseline the variant's own knee counts.
fn is_beyond_knee(cell: &CellSummary, earlier: &Summary) -> bool {
    let knee = |variant: &str| knee(&earlier.cells, variant, &cell.workload);
    let knee = knee(&earlier.baseline).or_else(|| knee(&cell.variant));
    cell.sweep == Sweep::Throughput && knee.is_some_and(|knee| cell.connections > knee.connections)
}

fn place_of_load(cell: &CellSummary) -> Place {
    let point = match cell.sweep {
        Sweep::WarmLatency => "warm".to_owned(),
        Sweep::Throughput => format!("c{}", cell.connections),
        Sweep::OpenLoop => format!("p{}", cell.percent_of_peak.unwrap_or_default()),
    };
    Place {
        variant: cell.variant.clone(),
        workload: cell.workload.clone(),
        point,
    }
}

fn place_of_cold_start(cell: &ColdStartCell) -> Place {
    Place {
        variant: cell.variant.clone(),
        workload: cell.workload.clone(),
        point: match cell.concurrency {
            1 => "cold".to_owned(),
            more => format!("cold-c{more}"),
        },
    }
}

fn place_of_density(cell: &DensityCell) -> Place {
    Place {
        variant: cell.variant.clone(),
        workload: cell.workload.clone(),
        point: "density".to_owned(),
    }
}

fn of_load(cell: &CellSummary, beyond_knee: bool) -> Vec<Sample> {
    let metrics = match cell.sweep {
        Sweep::WarmLatency => vec![Metric::WarmP50, Metric::CpuPerRequest, Metric::Memory],
        Sweep::Throughput => vec![Metric::ThroughputRps, Metric::CpuPerRequest, Metric::Memory],
        Sweep::OpenLoop => {
            // A p99 of too few requests is made of single ones.
            let p99 = cell.p99_carried.then_some(Metric::OpenLoopP99);
            std::iter::once(Metric::OpenLoopP50).chain(p99).collect()
        }
    };
    let sample = |metric| Sample {
        place: place_of_load(cell),
        metric,
        values: by_block(metric, cell).into_values().collect(),
        beyond_knee,
    };
    metrics.into_iter().map(sample).collect()
}

fn of_cold_start(cell: &ColdStartCell) -> Vec<Sample> {
    let sample = |metric, values| Sample {
        place: place_of_cold_start(cell),
        metric,
        values,
        beyond_knee: false,
    };
    let blocks = || cell.blocks.iter();
    vec![
        sample(
            Metric::ColdStartListening,
            blocks().filter_map(|block| block.listening).collect(),
        ),
        sample(
            Metric::ColdStartAnswer,
            // Of most pods nobody knows how much earlier they would have answered.
            blocks()
                .filter(|_| !cell.answers_wait_for_the_cluster())
                .filter_map(|block| block.answer)
                .collect(),
        ),
    ]
}

/// What one more instance takes, climb by climb.
fn of_density(cell: &DensityCell) -> Sample {
    let blocks = cell.blocks.iter();
    Sample {
        place: place_of_density(cell),
        metric: Metric::Memory,
        values: blocks
            .filter_map(|block| block.bytes_per_instance)
            .collect(),
        beyond_knee: false,
    }
}
