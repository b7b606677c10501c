//! Variants as multiples of the baseline, in the same way for all sweeps. Ratios are taken within
//! blocks, because both trials of a block saw the node in the same state, then summarised over
//! blocks and judged in families.

use std::collections::BTreeMap;

use wasmbench_api::run::{BenchmarkRunSpec, TWIN};
use wasmbench_model::rounding::{P_DIGITS, round_number, round_significant};
use wasmbench_model::wire::record::TrialId;

use crate::cells::Cells;
use crate::judge::comparison::{Comparison, Difference, Estimate, NoiseFloor, factor};
use crate::judge::order_effects::{OrderEffect, order_effects};
use crate::judge::ratios::{Ratio, ratios};
use crate::judge::verdict::{Thresholds, Verdict, judge};
use crate::read::observation::Observation;
use crate::statistics::ratio::{fewest_freedom, noise_with_pilot, simultaneous, smallest_found};
use crate::statistics::{Interval, false_discovery};
use crate::vocabulary::doubt::Reason;
use crate::vocabulary::measure::{Judged, Measured as _};
use crate::vocabulary::minimum::minimum_effect;
use crate::vocabulary::primary;

/// The comparisons of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparisons {
    /// The variants compared with the baseline.
    pub with_baseline: Vec<Comparison>,
    /// The baseline compared with its twin.
    pub noise_floors: Vec<NoiseFloor>,
    /// How the order of trials moves the primary measures, once that is examined.
    pub order_effects: Vec<OrderEffect>,
}

impl Comparisons {
    /// The same with the effects of the order of trials. Comparisons that they shift too far are
    /// not trusted.
    #[must_use]
    pub fn with_order_effects(
        mut self,
        spec: &BenchmarkRunSpec,
        observations: &BTreeMap<TrialId, Observation>,
        cells: &Cells,
    ) -> Self {
        self.order_effects = order_effects(spec, observations, cells, &self.with_baseline);
        for one in &mut self.with_baseline {
            if self.order_effects.iter().any(|effect| effect.forbids(one)) {
                one.untrusted.push(Reason::OrderEffect);
                one.untrusted.sort();
            }
        }
        self
    }
}

/// All ratios of a run with their verdicts, by workload, variant and measure. Points that are not
/// ranked on both sides are not compared.
///
/// Throughput is compared at the *baseline's* knee, the same number of connections for every
/// variant: comparing each at its own peak would compare different loads and let the noisiest
/// variant choose its luckiest point. If the curve is flat, the baseline's own peak is such a lucky
/// point too, and the others would seem slower there. CPU per request and memory are compared at
/// the knee as well, or in the warm-latency sweep if there is no throughput sweep. Latency from the
/// schedule is compared at equal rates.
///
/// `pilot` is the number of blocks from which the run planned how many it has: the primary
/// comparisons, which the plan is about, have their degrees of freedom.
pub fn comparisons(
    spec: &BenchmarkRunSpec,
    baseline: &str,
    cells: &Cells,
    pilot: Option<u32>,
) -> Comparisons {
    let (twins, found): (Vec<Ratio<'_>>, Vec<Ratio<'_>>) = ratios(spec, baseline, cells)
        .into_iter()
        .partition(|found| found.variant == TWIN);
    let primary = primary::places(spec, found.iter().map(Ratio::place));
    let is_primary = |one: &Ratio<'_>| primary.contains(&one.place());
    let found: Vec<Ratio<'_>> = found
        .into_iter()
        .map(|one| match pilot.filter(|_| is_primary(&one)) {
            Some(pilot) => one.with_pilot(pilot),
            None => one,
        })
        .collect();
    let judged = judged(spec, &found, is_primary);
    let floors: Vec<NoiseFloor> = twins.iter().map(Ratio::floor).collect();
    let with_floor = |mut comparison: Comparison| {
        let floor = floors.iter().find(|floor| floor.is_of(&comparison));
        comparison.noise_floor = floor.and_then(|floor| floor.factor);
        comparison
    };
    Comparisons {
        with_baseline: judged.into_iter().map(with_floor).collect(),
        noise_floors: floors,
        order_effects: vec![],
    }
}

/// Primary and secondary ratios are separate families, so that the secondary ones cost the primary
/// ones no power.
fn judged<'a>(
    spec: &BenchmarkRunSpec,
    found: &[Ratio<'a>],
    is_primary: impl Fn(&Ratio<'a>) -> bool,
) -> Vec<Comparison> {
    let thresholds = Thresholds {
        minimum_effect: minimum_effect(spec),
        is_gate: false,
    };
    let (primary, secondary): (Vec<usize>, Vec<usize>) =
        (0..found.len()).partition(|index| is_primary(&found[*index]));
    let mut all: BTreeMap<usize, Comparison> = BTreeMap::new();
    for (members, primary) in [(primary, true), (secondary, false)] {
        // Equivalent ratios are never reported as differences, so their small p-values must not
        // help those that are.
        let p_value = |one: &Ratio<'_>| {
            if one.is_equivalent(thresholds) {
                1.0
            } else {
                one.judged_interval().p_value
            }
        };
        let p_values: Vec<f64> = members.iter().map(|one| p_value(&found[*one])).collect();
        let adjusted = false_discovery::adjusted(&p_values);
        let family = members.len();
        for (one, adjusted_p) in members.into_iter().zip(adjusted) {
            let comparison = found[one].judged(adjusted_p, thresholds, family);
            all.insert(
                one,
                Comparison {
                    primary,
                    ..comparison
                },
            );
        }
    }
    all.into_values().collect()
}

impl Ratio<'_> {
    /// The noise floor that this ratio of the twin to the baseline shows. It is not tested: both run
    /// in fresh pods in random order, so on average they are equal whatever the node does to pods.
    fn floor(&self) -> NoiseFloor {
        NoiseFloor {
            workload: self.workload.to_owned(),
            metric: self.metric,
            point: self.point,
            estimate: self.estimate(),
            factor: self.two_sided().farthest().map(factor),
        }
    }

    fn estimate(&self) -> Estimate {
        Estimate::new(&self.interval, &self.per_block).within(self.bound, self.censored)
    }

    /// The interval that is judged: that of the difference, or that of the ratio.
    fn judged_interval(&self) -> &Interval {
        match (self.metric.measure().judged, &self.difference) {
            (Judged::Difference, Some((difference, _))) => difference,
            (Judged::Ratio | Judged::RatioOrDifference | Judged::Difference, _) => &self.interval,
        }
    }

    fn is_equivalent(&self, thresholds: Thresholds) -> bool {
        self.verdict(1.0, thresholds) == Verdict::Equivalent
    }

    fn verdict(&self, adjusted_p: f64, thresholds: Thresholds) -> Verdict {
        let Some((difference, smallest)) = &self.difference else {
            return judge(self.metric, &self.two_sided(), adjusted_p, thresholds);
        };
        let of_difference = Thresholds {
            minimum_effect: *smallest,
            ..thresholds
        };
        match self.metric.measure().judged {
            Judged::Difference => judge(self.metric, difference, adjusted_p, of_difference),
            Judged::Ratio | Judged::RatioOrDifference => {
                if difference
                    .farthest()
                    .is_some_and(|farthest| farthest <= *smallest)
                {
                    Verdict::Equivalent
                } else {
                    judge(self.metric, &self.interval, adjusted_p, thresholds)
                }
            }
        }
    }

    /// The comparison, if `family` comparisons are judged together.
    fn judged(&self, adjusted_p: f64, thresholds: Thresholds, family: usize) -> Comparison {
        let verdict = self.verdict(adjusted_p, thresholds);
        let near_end = |interval: &Interval| {
            let near_end = self.near_end(interval, family);
            near_end.filter(|_| verdict.is_difference())
        };
        let is_judged = self.metric.measure().judged == Judged::Difference;
        let difference = self
            .difference
            .as_ref()
            .map(|(interval, smallest)| Difference {
                at_least: near_end(interval).filter(|_| is_judged).map(round_number),
                smallest_found: self
                    .smallest_found(interval, *smallest, family)
                    .map(round_number),
                ..Difference::new(interval, *smallest)
            });
        Comparison {
            variant: self.variant.to_owned(),
            workload: self.workload.to_owned(),
            metric: self.metric,
            point: self.point,
            estimate: Estimate {
                pilot_blocks: self.pilot,
                ..self.estimate()
            },
            difference,
            p_value: round_significant(self.judged_interval().p_value, P_DIGITS),
            adjusted_p_value: round_significant(adjusted_p, P_DIGITS),
            primary: false,
            noise_floor: None,
            verdict,
            untrusted: self.untrusted.clone(),
            at_least: near_end(&self.interval).filter(|_| !is_judged).map(factor),
            smallest_found: self
                .smallest_found(&self.two_sided(), self.matters, family)
                .map(factor),
        }
    }

    /// The end that is nearer to 0 of an interval that holds together with those of the whole
    /// family: whichever differences are reported, in 95 of 100 runs none is smaller than stated.
    /// `None` where that interval contains 0: there is a difference, and its least size is unknown.
    fn near_end(&self, interval: &Interval, family: usize) -> Option<f64> {
        let blocks = fewest_freedom(self.blocks(), self.pilot);
        let half_width = simultaneous(interval.half_width?, blocks, family);
        Some(interval.estimate.abs() - half_width).filter(|near_end| *near_end > 0.0)
    }

    /// The smallest difference that such a run finds, in the unit of the interval.
    fn smallest_found(&self, interval: &Interval, matters: f64, family: usize) -> Option<f64> {
        let noise = noise_with_pilot(interval.half_width?, self.blocks(), self.pilot)?;
        smallest_found(noise, self.blocks(), family, matters)
    }
}
