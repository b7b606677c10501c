//! Cold starts as multiples of the baseline's: ratios within blocks, judged together with all other
//! comparisons of the run, by the same rules ([`mod@by_block`]).

use std::collections::BTreeMap;

use wasmbench_api::run::TWIN;

use crate::by_block::{self, Judged, Unjudged};
use crate::coldstart::{ColdBlock, ColdRatio, ColdStartCell, ColdTime};
use crate::measure::Metric;
use crate::statistics::{LogInterval, Spread, paired_ratios};

/// What is compared.
const METRICS: [Metric; 2] = [Metric::ColdStartListening, Metric::ColdStartAnswer];

/// The ratios of all `cells` to those of the baseline, in the order of the cells. Answers that waited
/// for the cluster, on either side, have none.
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
        let is_late = cell.answers_wait_for_the_cluster() || base.answers_wait_for_the_cluster();
        let metrics = METRICS.into_iter();
        let metrics = metrics.filter(|metric| *metric != Metric::ColdStartAnswer || !is_late);
        found.extend(metrics.filter_map(|metric| {
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

/// `cells` with their ratios and verdicts. `adjusted` are their p-values, adjusted among all of the run,
/// and `minimum_effect` is a logarithm.
pub fn judged(
    mut cells: Vec<ColdStartCell>,
    found: &[Unjudged],
    adjusted: &[f64],
    minimum_effect: f64,
) -> Vec<ColdStartCell> {
    let same = |one: usize, other: usize| same_point(&cells[one], &cells[other]);
    for one in by_block::judged(found, adjusted, minimum_effect, same) {
        if let Some(time) = time(&mut cells[one.cell], one.metric) {
            time.versus_baseline = Some(ratio(one));
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
    let (listening, answer) = (&cell.create_to_listening, &cell.create_to_answer);
    let time = of(metric, listening.as_ref(), answer.as_ref());
    time?.versus_baseline.as_ref()
}

/// With one block both ends are the ratio itself.
fn ratio(judged: Judged) -> ColdRatio {
    let (low, high) = judged.ends.unwrap_or((judged.ratio, judged.ratio));
    ColdRatio {
        ratio: Spread {
            median: judged.ratio,
            low,
            high,
        },
        verdict: judged.verdict,
        p_value: judged.p_value,
        adjusted_p_value: judged.adjusted_p_value,
        noise_floor: judged.noise_floor,
        per_block: judged.per_block,
    }
}

fn same_point(one: &ColdStartCell, other: &ColdStartCell) -> bool {
    one.workload == other.workload && one.concurrency == other.concurrency
}

fn by_block(cell: &ColdStartCell, metric: Metric) -> BTreeMap<u32, f64> {
    let time = |block: &ColdBlock| of(metric, block.listening, block.answer);
    let blocks = cell.blocks.iter();
    blocks
        .filter_map(|block| Some((block.block, time(block)?)))
        .collect()
}

fn time(cell: &mut ColdStartCell, metric: Metric) -> Option<&mut ColdTime> {
    let (listening, answer) = (&mut cell.create_to_listening, &mut cell.create_to_answer);
    of(metric, listening.as_mut(), answer.as_mut())
}

/// The one of the two that `metric` is about; none for a metric that is not of cold starts.
fn of<T>(metric: Metric, listening: Option<T>, answer: Option<T>) -> Option<T> {
    match metric {
        Metric::ColdStartListening => listening,
        Metric::ColdStartAnswer => answer,
        Metric::ThroughputRps
        | Metric::WarmP50
        | Metric::CpuPerRequest
        | Metric::Memory
        | Metric::OpenLoopP50
        | Metric::OpenLoopP99 => None,
    }
}
