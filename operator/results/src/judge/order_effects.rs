//! How far the order of trials shifts what a run decides: a heavy variant that slows the next trial
//! never slows its own, and so looks better than it is. Every primary measure is tested for each
//! variant that may run before a trial, and for the trial's position in its block.

use std::collections::{BTreeMap, BTreeSet};

use wasmbench_api::run::{BenchmarkRunSpec, TWIN};
use wasmbench_model::wire::record::{Point, TrialId};

use crate::cells::Cells;
use crate::judge::comparison::Comparison;
use crate::judge::ratios::Series;
use crate::read::observation::Observation;
use crate::statistics::order::{Placed, Placements};
use crate::statistics::{Interval, mean};
use crate::vocabulary::measure::Metric;
use crate::vocabulary::minimum::smallest_change;

/// The share of runs that report an effect although there is none, whatever the number of tests.
const LEVEL: f64 = 0.01;

/// A comparison that is shifted by more than this share of the smallest change that matters is not
/// trusted. Precision leaves as much to the interval.
const TOLERATED: f64 = 0.5;

/// What moves the numbers of a measure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// This variant ran directly before.
    Predecessor(String),
    /// The position in the block.
    Position,
}

/// How the order of trials moves the numbers of one measure.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderEffect {
    /// Name of the workload.
    pub workload: String,
    /// The point of the sweep.
    pub point: Point,
    /// The measure.
    pub metric: Metric,
    /// What moves it.
    pub cause: Cause,
    /// By how much, as a logarithm: after that variant as compared with all others, or from the
    /// beginning of a block to its end.
    pub effect: f64,
    /// How far it shifts the ratios of the variants to the baseline. A position shifts none on
    /// average, because every variant may have any.
    pub shifts: Vec<Shift>,
}

/// How far a ratio to the baseline is shifted.
#[derive(Clone, Debug, PartialEq)]
pub struct Shift {
    /// Name of the variant.
    pub variant: String,
    /// The shift, as a logarithm.
    pub by: f64,
    /// Whether it is too large for the comparison to be trusted.
    pub is_too_large: bool,
}

impl OrderEffect {
    /// Whether it shifts the comparison too far.
    pub fn forbids(&self, compared: &Comparison) -> bool {
        let place = (&self.workload, self.point, self.metric);
        let mut shifts = self.shifts.iter();
        place == (&compared.workload, compared.point, compared.metric)
            && shifts.any(|shift| shift.is_too_large && shift.variant == compared.variant)
    }
}

/// The effects of the order on the primary measures among `comparisons`, at most one of each kind
/// of cause for each measure: where one variant slows the next trial, the trials after all others
/// look faster.
pub fn order_effects(
    spec: &BenchmarkRunSpec,
    observations: &BTreeMap<TrialId, Observation>,
    cells: &Cells,
    comparisons: &[Comparison],
) -> Vec<OrderEffect> {
    let order = Order::new(spec.baseline_name(), observations);
    let series = Series::ranked(cells.all());
    // A bound is no number that an order could have moved.
    let primary = comparisons
        .iter()
        .filter(|one| one.primary && one.estimate.censored_blocks == 0);
    let places: BTreeSet<(&str, Point, Metric)> = primary
        .map(|one| (one.workload.as_str(), one.point, one.metric))
        .collect();
    let tested: Vec<(Measure<'_>, Tests<'_>)> = places
        .into_iter()
        .map(|place| {
            let measure = Measure::new(place, &series, &order);
            let tests = measure.tests();
            (measure, tests)
        })
        .collect();
    let tests: usize = tested.iter().map(|(_, tests)| tests.count()).sum();
    let level = LEVEL / tests.max(1) as f64;
    let mut effects = vec![];
    for (measure, tests) in &tested {
        for (cause, found) in tests.most_certain() {
            if found.p_value <= level {
                effects.push(measure.effect(spec, cause, found.estimate));
            }
        }
    }
    effects
}

/// The order of a run's trials.
struct Order<'a> {
    baseline: &'a str,
    observations: &'a BTreeMap<TrialId, Observation>,
    /// The measured trials by their positions.
    at: BTreeMap<u32, &'a TrialId>,
    /// Trials of a block.
    per_block: usize,
}

impl<'a> Order<'a> {
    fn new(baseline: &'a str, observations: &'a BTreeMap<TrialId, Observation>) -> Self {
        let of_blocks = observations.iter().filter(|(trial, _)| !trial.is_scout());
        let cells: BTreeSet<_> = of_blocks.clone().map(|(trial, _)| &trial.cell).collect();
        let measured = of_blocks.filter(|(_, observed)| observed.is_measured());
        Self {
            baseline,
            observations,
            at: measured
                .map(|(trial, observed)| (observed.position, trial))
                .collect(),
            per_block: cells.len(),
        }
    }

    /// The place of a trial in the order; `None` if its `number` has no logarithm.
    fn placed(&self, trial: &TrialId, number: f64) -> Option<Placed<'a>> {
        let position = self.observations.get(trial)?.position;
        let before = position.checked_sub(1).and_then(|one| self.at.get(&one));
        let before = before.filter(|before| before.block == trial.block);
        let log = libm::log(number);
        log.is_finite().then(|| Placed {
            log,
            when: f64::from(position) / self.per_block as f64,
            after: before.map(|before| match before.cell.variant.as_str() {
                // It is the baseline.
                TWIN => self.baseline,
                variant => variant,
            }),
        })
    }
}

/// A measure of all variants under a workload at a point.
struct Measure<'a> {
    place: (&'a str, Point, Metric),
    variants: Vec<&'a str>,
    trials: Placements<'a>,
}

impl<'a> Measure<'a> {
    fn new(place: (&'a str, Point, Metric), series: &[Series<'a>], order: &Order<'a>) -> Self {
        let (workload, point, metric) = place;
        let here = series.iter().filter(|one| {
            (one.cell.workload, one.cell.point, one.metric) == (workload, point, metric)
        });
        let of_variant = |one: &Series<'a>| {
            let trial = |block: u32| TrialId {
                cell: one.cell.cell(),
                block,
            };
            let placed = one.by_block.iter().filter_map(|(block, number)| {
                Some((*block, order.placed(&trial(*block), *number)?))
            });
            (one.cell.variant, placed.collect::<BTreeMap<_, _>>())
        };
        let (variants, trials): (Vec<&str>, Vec<_>) = here.map(of_variant).unzip();
        Self {
            place,
            variants,
            trials: Placements::new(&trials),
        }
    }

    fn tests(&self) -> Tests<'a> {
        let predecessors = self.trials.predecessors().into_iter();
        Tests {
            carry_over: predecessors
                .filter_map(|variant| Some((variant, self.trials.carry_over(variant)?)))
                .collect(),
            position: self.trials.position(),
        }
    }

    fn effect(&self, spec: &BenchmarkRunSpec, cause: Cause, effect: f64) -> OrderEffect {
        let (workload, point, metric) = self.place;
        OrderEffect {
            workload: workload.to_owned(),
            point,
            metric,
            shifts: match &cause {
                Cause::Predecessor(variant) => self.shifts(spec, variant, effect),
                Cause::Position => vec![],
            },
            cause,
            effect,
        }
    }

    /// How far the ratios are shifted if trials after `before` are off by `effect`: as far as
    /// trials of a variant run after it more often than the baseline's do.
    fn shifts(&self, spec: &BenchmarkRunSpec, before: &str, effect: f64) -> Vec<Shift> {
        let (workload, _, metric) = self.place;
        let is_base = |variant: &str| variant == spec.baseline_name() || variant == TWIN;
        let of_base = |numbers: &[f64]| {
            let all = self.variants.iter().zip(numbers);
            let base = all.filter(|(variant, _)| is_base(variant));
            mean(&base.map(|(_, number)| *number).collect::<Vec<f64>>())
        };
        let shares = self.trials.shares_after(before);
        let typical = of_base(&self.trials.typical());
        let matters = smallest_change(spec, workload, metric, typical);
        let of_variant = |(variant, share): (&&str, &f64)| {
            let by = effect * (share - of_base(&shares));
            (!is_base(variant)).then(|| Shift {
                variant: (*variant).to_owned(),
                by,
                is_too_large: by.abs() > TOLERATED * matters,
            })
        };
        let variants = self.variants.iter().zip(&shares);
        variants.filter_map(of_variant).collect()
    }
}

/// The tests of a measure.
struct Tests<'a> {
    /// For each variant, how trials after it differ.
    carry_over: Vec<(&'a str, Interval)>,
    position: Option<Interval>,
}

impl Tests<'_> {
    fn count(&self) -> usize {
        self.carry_over.len() + usize::from(self.position.is_some())
    }

    /// The most certain result of each kind.
    fn most_certain(&self) -> Vec<(Cause, Interval)> {
        let variants = self.carry_over.iter();
        let variant = variants.min_by(|one, other| one.1.p_value.total_cmp(&other.1.p_value));
        let variant = variant.map(|(name, found)| (Cause::Predecessor((*name).to_owned()), *found));
        let position = self.position.map(|found| (Cause::Position, found));
        variant.into_iter().chain(position).collect()
    }
}
