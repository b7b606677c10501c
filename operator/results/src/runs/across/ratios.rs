//! The numbers: takes trials of the same cell from two or more runs and produces judged ratios.
//!
//! Between two runs, the ratio to the baseline within each run is judged: what shifts a whole run
//! shifts the baseline as well, and cancels. Numbers of the baseline itself, and of runs without
//! one, are judged by several earlier runs
//! ([`FEWEST_RUNS`](crate::statistics::FEWEST_RUNS)), which show how far runs scatter.

use wasmbench_api::run::{BenchmarkRunSpec, TWIN};
use wasmbench_model::rounding::{P_DIGITS, round_significant};
use wasmbench_model::wire::record::{Cell, Point};

use crate::cells::any::AnyCell;
use crate::cells::curve::knee;
use crate::judge::comparison::factor;
use crate::judge::ratios::Series;
use crate::judge::verdict::{Thresholds, judge};
use crate::runs::across::{CellRatio, Side, Unjudged, VersusBaseline};
use crate::runs::history::Scatter;
use crate::statistics::{Interval, false_discovery, paired_ratios};
use crate::summary::Summary;
use crate::vocabulary::doubt::Reason;
use crate::vocabulary::measure::Metric;
use crate::vocabulary::minimum::{minimum_effect, smallest_change};

/// The valid trials of one metric of one cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The cell.
    pub cell: Cell,
    /// What was measured.
    pub metric: Metric,
    /// The number of each block.
    values: Vec<f64>,
    /// The values as multiples of the baseline's in the same blocks; empty for the baseline itself,
    /// and where the baseline has no such number.
    of_baseline: Vec<f64>,
    /// How far runs of the schedule scatter, where there is one.
    pub scatter: Option<Scatter>,
    /// Why the sample has no verdict, whatever the other runs say.
    unjudged: Option<Unjudged>,
    /// Whether the sample's own run does not trust it.
    is_untrusted: bool,
    /// Whether the sample's own run does not trust its ratio to the baseline.
    is_ratio_untrusted: bool,
}

impl Sample {
    /// The numbers that are judged: the ratios to the baseline, or the values themselves.
    fn numbers(&self, is_of_baseline: bool) -> &[f64] {
        if is_of_baseline {
            &self.of_baseline
        } else {
            &self.values
        }
    }

    /// Whether the sample's own run does not trust what is judged: the ratio to the baseline, or
    /// the value.
    fn is_untrusted_as(&self, is_of_baseline: bool) -> bool {
        self.is_untrusted || (is_of_baseline && self.is_ratio_untrusted)
    }

    fn is_same_cell(&self, other: &Self) -> bool {
        self.cell == other.cell && self.metric == other.metric
    }
}

/// A cell that both the later run and earlier ones have.
struct Pair<'a> {
    later: &'a Sample,
    /// From each earlier run that has the cell, the latest first.
    earlier: Vec<&'a Sample>,
    /// Over all runs together, for the table.
    whole: Interval,
    judged: Result<Judged, Unjudged>,
}

/// The result of judging a cell.
struct Judged {
    interval: Interval,
    is_of_baseline: bool,
    /// The number of other runs that show how far runs scatter.
    runs: Option<u32>,
}

/// The ratios of all cells that both the later run and earlier ones have, and the number of metrics
/// of cells that only one side has. `before` holds the samples of each earlier run, the latest run
/// first; `baseline_changed` means that the runs do not all have the same baseline; `spec` is the
/// later run's.
pub fn ratios(
    before: &[Vec<Sample>],
    after: &[Sample],
    baseline_changed: bool,
    spec: &BenchmarkRunSpec,
) -> (Vec<CellRatio>, u32) {
    let pairs: Vec<Pair<'_>> = after
        .iter()
        .filter_map(|later| pair(before, later, baseline_changed))
        .collect();
    let judged = pairs.iter().filter_map(|pair| pair.judged.as_ref().ok());
    let p_values: Vec<f64> = judged.map(|judged| judged.interval.p_value).collect();
    let mut adjusted = false_discovery::adjusted(&p_values).into_iter();
    let is_missing = |sample: &&Sample| !after.iter().any(|later| later.is_same_cell(sample));
    let lost = before
        .first()
        .map_or(0, |last| last.iter().filter(is_missing).count());
    let single = lost + after.len() - pairs.len();
    let ratios = pairs.into_iter().map(|pair| {
        let adjusted = pair.judged.as_ref().ok().and_then(|_| adjusted.next());
        ratio(&pair, adjusted, spec)
    });
    (ratios.collect(), u32::try_from(single).unwrap_or(u32::MAX))
}

fn pair<'a>(
    before: &'a [Vec<Sample>],
    later: &'a Sample,
    baseline_changed: bool,
) -> Option<Pair<'a>> {
    let same = |run: &'a Vec<Sample>| run.iter().find(|sample| sample.is_same_cell(later));
    let earlier: Vec<&Sample> = before.iter().filter_map(same).collect();
    let all: Vec<f64> = earlier.iter().flat_map(|run| run.values.clone()).collect();
    let whole = Interval::unpaired(&later.values, &all)?;
    let judged = match later.unjudged {
        Some(why) => Err(why),
        None => to_judge(&earlier, later, baseline_changed),
    };
    Some(Pair {
        later,
        earlier,
        whole,
        judged,
    })
}

/// The interval that decides, or the reason why there is none.
fn to_judge(
    earlier: &[&Sample],
    later: &Sample,
    baseline_changed: bool,
) -> Result<Judged, Unjudged> {
    let of_baseline: Vec<&[f64]> = earlier.iter().map(|run| &*run.of_baseline).collect();
    let is_known = !later.of_baseline.is_empty() && of_baseline.iter().all(|run| !run.is_empty());
    let is_of_baseline = is_known && !baseline_changed;
    let among = if is_of_baseline {
        Interval::among(&later.of_baseline, &of_baseline)
    } else {
        let values: Vec<&[f64]> = earlier.iter().map(|run| &*run.values).collect();
        Interval::among(&later.values, &values)
    };
    // If there are too few runs to compare among, only the latest one is used.
    let used = if among.is_some() { earlier.len() } else { 1 };
    let (interval, runs) = match (among, earlier.first()) {
        (Some((interval, runs)), _) => (interval, Some(runs)),
        (None, Some(last)) if is_of_baseline || !is_known => {
            with_last(last, later, is_of_baseline)?
        }
        (None, _) => return Err(Unjudged::BaselineChanged),
    };
    let mut compared = earlier.iter().copied().take(used).chain([later]);
    if compared.any(|sample| sample.is_untrusted_as(is_of_baseline)) {
        return Err(Unjudged::Untrusted);
    }
    Ok(Judged {
        interval,
        is_of_baseline,
        runs,
    })
}

/// Compares only with the latest run: by how far runs of the schedule scatter, if its history
/// shows that, otherwise through the baseline. Also returns the number of runs that show the
/// scatter.
fn with_last(
    last: &Sample,
    later: &Sample,
    is_of_baseline: bool,
) -> Result<(Interval, Option<u32>), Unjudged> {
    let (value, base) = (later.numbers(is_of_baseline), last.numbers(is_of_baseline));
    let Some(scatter) = &later.scatter else {
        let interval = Interval::unpaired(value, base).filter(|_| is_of_baseline);
        return interval.map_or(Err(Unjudged::TooFewRuns), |found| Ok((found, None)));
    };
    let between = if is_of_baseline {
        scatter.ratio
    } else {
        scatter.value
    };
    let between = between.ok_or(Unjudged::NotFollowed)?;
    let interval = Interval::from_two_runs(value, base, &between).ok_or(Unjudged::TooFewRuns)?;
    Ok((interval, Some(between.runs)))
}

fn ratio(pair: &Pair<'_>, adjusted: Option<f64>, spec: &BenchmarkRunSpec) -> CellRatio {
    let middle =
        |values: &[f64]| Interval::from_ratios(values).map_or(0.0, |found| factor(found.estimate));
    let count = |samples: usize| u32::try_from(samples).unwrap_or(u32::MAX);
    let all = |numbers: fn(&Sample) -> &[f64]| -> Vec<f64> {
        let runs = pair.earlier.iter();
        runs.flat_map(|run| numbers(run).to_vec()).collect()
    };
    let later = pair.later;
    let values = all(|sample| &sample.values);
    let of_baseline = all(|sample| &sample.of_baseline);
    let judged = pair.judged.as_ref().ok();
    let shown = judged.map_or(&pair.whole, |judged| &judged.interval);
    let is_known = !of_baseline.is_empty() && !later.of_baseline.is_empty();
    let before = middle(&values);
    let thresholds = Thresholds {
        minimum_effect: smallest_change(spec, &later.cell.workload, later.metric, before),
        is_gate: true,
    };
    let verdict = judged
        .zip(adjusted)
        .map(|(judged, adjusted)| judge(later.metric, &judged.interval, adjusted, thresholds));
    CellRatio {
        variant: later.cell.variant.clone(),
        workload: later.cell.workload.clone(),
        point: later.cell.point.to_string(),
        metric: later.metric,
        before,
        after: middle(&later.values),
        versus_baseline: is_known.then(|| VersusBaseline {
            before: middle(&of_baseline),
            after: middle(&later.of_baseline),
        }),
        is_of_baseline: judged.is_some_and(|judged| judged.is_of_baseline),
        runs: judged.and_then(|judged| judged.runs),
        ratio: factor(shown.estimate),
        low: shown.low().map(factor),
        high: shown.high().map(factor),
        p_value: judged.map(|judged| round_significant(judged.interval.p_value, P_DIGITS)),
        adjusted_p_value: adjusted.map(|adjusted| round_significant(adjusted, P_DIGITS)),
        verdict,
        unjudged: pair.judged.as_ref().err().copied(),
        trials_before: count(values.len()),
        trials_after: count(later.values.len()),
    }
}

/// Every measure of every ranked cell, in the order of the summary. Invalid points are not
/// compared. The baseline's twin counts as the baseline, as it does within a run. The knees come
/// from the `earlier` run. Too few blocks do not rule out a number here: they widen the interval
/// between runs.
pub fn samples(run: Side<'_>, earlier: &Summary) -> Vec<Sample> {
    let Side { spec, summary } = run;
    let effect = minimum_effect(spec);
    let is_untrusted = |cell: AnyCell<'_>| !cell.untrusted_because(effect).is_empty();
    let series = Series::ranked(summary.all_cells());
    let sample = |one: &Series<'_>| {
        let base = one
            .base(&series, &summary.baseline)
            .filter(|_| one.cell.variant != summary.baseline);
        let compared = summary.comparison(one.cell, one.metric);
        let is_shifted =
            compared.is_some_and(|found| found.untrusted.contains(&Reason::OrderEffect));
        Sample {
            cell: one.cell.cell(),
            metric: one.metric,
            values: one.by_block.values().copied().collect(),
            of_baseline: base.as_ref().map_or_else(Vec::new, |base| {
                paired_ratios(&one.by_block, &base.by_block)
            }),
            scatter: None,
            unjudged: is_beyond_knee(one.cell, earlier).then_some(Unjudged::BeyondKnee),
            is_untrusted: is_untrusted(one.cell),
            is_ratio_untrusted: is_shifted
                || base.is_some_and(|base| base.cells.into_iter().any(is_untrusted)),
        }
    };
    series
        .iter()
        .filter(|one| one.cell.variant != TWIN)
        .filter(|one| !one.by_block.is_empty())
        .map(sample)
        .collect()
}

/// Whether a point has more connections than the knee of the earlier run's baseline. Beyond it the
/// queue grows but the rate hardly does, and nothing is judged there within a run either. If the
/// baseline has no valid point, the variant's own knee counts.
fn is_beyond_knee(cell: AnyCell<'_>, earlier: &Summary) -> bool {
    let Point::Throughput { connections } = cell.point else {
        return false;
    };
    let knee_of = |variant: &str| knee(&earlier.cells, variant, cell.workload);
    knee_of(&earlier.baseline)
        .or_else(|| knee_of(cell.variant))
        .is_some_and(|knee| connections > knee.detail.connections)
}
