//! What is compared: the trials of each measure of a run, and how they compare with the baseline's in
//! the same blocks.

use wasmbench_api::run::TWIN;
use wasmbench_model::wire::record::{Cell, Point};

use crate::cells::any::AnyCell;
use crate::cells::curve::knee;
use crate::judge::ratios::Series;
use crate::runs::across::{Side, Unjudged};
use crate::runs::history::Scatter;
use crate::statistics::{Estimated, Interval, Scale};
use crate::summary::Summary;
use crate::vocabulary::doubt::Reason;
use crate::vocabulary::measure::{Measured as _, Metric, Unit};
use crate::vocabulary::minimum::minimum_effect;

/// The valid trials of one metric of one cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The cell.
    pub cell: Cell,
    /// What was measured.
    pub metric: Metric,
    /// The number of each block.
    pub values: Vec<f64>,
    /// The values as multiples of the baseline's and its twin's in the same blocks, or minus these if
    /// differences are judged; empty for the baseline itself, and where the baseline has no such
    /// number.
    pub versus_baseline: Vec<[f64; 2]>,
    /// How far runs of the schedule scatter, where there is one.
    pub scatter: Option<Scatter>,
    /// Why the sample has no verdict, whatever the other runs say.
    pub unjudged: Option<Unjudged>,
    /// Whether the sample's own run does not trust it.
    is_untrusted: bool,
    /// Whether the sample's own run does not trust what it is versus the baseline.
    is_ratio_untrusted: bool,
}

impl Sample {
    /// What is judged: the number versus the baseline, as within its run, or the value itself.
    pub fn estimated(&self, is_of_baseline: bool) -> Option<Estimated> {
        if is_of_baseline {
            Estimated::from_pairs(&self.versus_baseline, self.scale())
        } else {
            Estimated::from_values(&self.values, self.scale())
        }
    }

    /// The trimmed mean of the values; 0 without any.
    pub fn value(&self) -> f64 {
        trimmed_mean(&self.values, self.scale())
    }

    /// How far such a run shifts on its own, on the scale of the measure, if runs scatter by this
    /// share.
    pub fn shift(&self, scatter: f64) -> f64 {
        match self.scale() {
            Scale::Ratio => scatter,
            Scale::Difference => scatter * self.own_number().abs(),
        }
    }

    /// The variant's own number, of which a difference scatters by a share: the time of a start, and
    /// of the share of requests that succeed the share that fails, because nearly all succeed.
    fn own_number(&self) -> f64 {
        match self.metric.measure().unit {
            Unit::Share => 1.0 - self.value(),
            Unit::PerSecond | Unit::Microseconds | Unit::Bytes | Unit::Count => self.value(),
        }
    }

    /// The scale on which the measure is judged.
    pub fn scale(&self) -> Scale {
        self.metric.scale()
    }

    /// Whether the sample's own run does not trust what is judged: the number versus the baseline,
    /// or the value.
    pub fn is_untrusted_as(&self, is_of_baseline: bool) -> bool {
        self.is_untrusted || (is_of_baseline && self.is_ratio_untrusted)
    }

    /// Whether both are of the same metric of the same cell.
    pub fn is_same_cell(&self, other: &Self) -> bool {
        self.cell == other.cell && self.metric == other.metric
    }
}

/// The trimmed mean of numbers on a scale, as a number; 0 without any.
pub fn trimmed_mean(numbers: &[f64], scale: Scale) -> f64 {
    let found = Interval::new(numbers, scale);
    found.map_or(0.0, |found| scale.inverse(found.estimate))
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
            versus_baseline: base
                .as_ref()
                .map_or_else(Vec::new, |base| base.pairs(one, one.metric.scale())),
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
