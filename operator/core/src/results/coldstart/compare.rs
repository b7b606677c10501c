//! Cold starts as multiples of the baseline's: ratios within blocks, judged together with all other
//! comparisons of the run, by the same rules ([`judge`]).

use std::collections::BTreeMap;

use wasmbench_api::run::TWIN;

use super::super::compare::{Metric, P_DIGITS};
use super::super::judge::{Thresholds, judge};
use super::super::statistics::{LogInterval, Spread, paired_ratios, round_significant};
use super::super::trial::SUMMARY_DIGITS;
use super::{ColdBlock, ColdRatio, ColdStartCell, ColdTime};

/// What is compared.
const METRICS: [Metric; 2] = [Metric::ColdStartListening, Metric::ColdStartAnswer];

/// A ratio that has no verdict yet.
#[derive(Clone, Debug)]
pub struct Unjudged {
    /// Index of the variant's cell.
    cell: usize,
    /// Whether the variant is the baseline's twin.
    is_twin: bool,
    metric: Metric,
    /// The ratio of each block.
    ratios: Vec<f64>,
    /// What they come to.
    interval: LogInterval,
}

/// The ratios of all `cells` to those of the baseline, in the order of the cells.
pub fn unjudged(cells: &[ColdStartCell], baseline: &str) -> Vec<Unjudged> {
    let mut found = vec![];
    for (index, cell) in cells
        .iter()
        .enumerate()
        .filter(|(_, cell)| cell.is_ranked())
    {
        let mut ranked = cells.iter().filter(|base| base.is_ranked());
        let base = ranked.find(|base| base.variant == baseline && same_point(base, cell));
        let Some(base) = base.filter(|_| cell.variant != baseline) else {
            continue;
        };
        found.extend(METRICS.into_iter().filter_map(|metric| {
            let ratios = paired_ratios(&by_block(cell, metric), &by_block(base, metric));
            Some(Unjudged {
                cell: index,
                is_twin: cell.variant == TWIN,
                metric,
                interval: LogInterval::of(&ratios)?,
                ratios,
            })
        }));
    }
    found
}

/// The p-values of what gets a verdict: all but the twin's.
pub fn p_values(found: &[Unjudged]) -> Vec<f64> {
    let competitors = found.iter().filter(|one| !one.is_twin);
    competitors.map(|one| one.interval.p_value).collect()
}

/// `cells` with their ratios and verdicts. `adjusted` are the [`p_values`], adjusted among all of the
/// run, and `minimum_effect` is a logarithm.
pub fn judged(
    mut cells: Vec<ColdStartCell>,
    found: &[Unjudged],
    adjusted: &[f64],
    minimum_effect: f64,
) -> Vec<ColdStartCell> {
    let mut adjusted = adjusted.iter();
    for one in found {
        let twin = found.iter().find(|twin| {
            twin.is_twin
                && twin.metric == one.metric
                && same_point(&cells[twin.cell], &cells[one.cell])
        });
        let thresholds = Thresholds {
            minimum_effect,
            noise_floor: twin.and_then(|twin| twin.interval.farthest()),
        };
        let adjusted = if one.is_twin {
            None
        } else {
            adjusted.next().copied()
        };
        let ratio = one.ratio(adjusted, thresholds);
        if let Some(time) = time(&mut cells[one.cell], one.metric) {
            time.versus_baseline = Some(ratio);
        }
    }
    cells
}

/// What an expectation on `metric` is about: the ratio at the fewest pods at once.
pub fn expected<'a>(
    cells: &'a [ColdStartCell],
    metric: Metric,
    variant: &str,
    workload: &str,
) -> Option<&'a ColdRatio> {
    let of_both = |cell: &&ColdStartCell| cell.variant == variant && cell.workload == workload;
    let cell = cells
        .iter()
        .filter(of_both)
        .min_by_key(|cell| cell.concurrency)?;
    let time = match metric {
        Metric::ColdStartListening => cell.create_to_listening.as_ref(),
        Metric::ColdStartAnswer => cell.create_to_answer.as_ref(),
        Metric::ThroughputRps
        | Metric::WarmP50
        | Metric::CpuPerRequest
        | Metric::Memory
        | Metric::OpenLoopP50
        | Metric::OpenLoopP99 => None,
    };
    time?.versus_baseline.as_ref()
}

impl Unjudged {
    /// The ratio; one without an adjusted p-value has no verdict.
    fn ratio(&self, adjusted_p: Option<f64>, thresholds: Thresholds) -> ColdRatio {
        let interval = &self.interval;
        let ratio = |log: f64| round(libm::exp(log));
        ColdRatio {
            ratio: Spread {
                median: ratio(interval.estimate),
                low: ratio(interval.low().unwrap_or(interval.estimate)),
                high: ratio(interval.high().unwrap_or(interval.estimate)),
            },
            verdict: adjusted_p.map(|adjusted| judge(self.metric, interval, adjusted, thresholds)),
            p_value: adjusted_p.map(|_| round_significant(interval.p_value, P_DIGITS)),
            adjusted_p_value: adjusted_p.map(|adjusted| round_significant(adjusted, P_DIGITS)),
            noise_floor: thresholds.noise_floor.map(ratio),
            per_block: self.ratios.iter().copied().map(round).collect(),
        }
    }
}

fn same_point(one: &ColdStartCell, other: &ColdStartCell) -> bool {
    one.workload == other.workload && one.concurrency == other.concurrency
}

fn by_block(cell: &ColdStartCell, metric: Metric) -> BTreeMap<u32, f64> {
    let time = |block: &ColdBlock| match metric {
        Metric::ColdStartListening => block.listening,
        _ => block.answer,
    };
    let blocks = cell.blocks.iter();
    blocks
        .filter_map(|block| Some((block.block, time(block)?)))
        .collect()
}

fn time(cell: &mut ColdStartCell, metric: Metric) -> Option<&mut ColdTime> {
    match metric {
        Metric::ColdStartListening => cell.create_to_listening.as_mut(),
        _ => cell.create_to_answer.as_mut(),
    }
}

fn round(value: f64) -> f64 {
    round_significant(value, SUMMARY_DIGITS)
}
