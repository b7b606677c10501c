//! What was measured of a figure under a workload, and ratios of it. Values of one run alone are divided.

use std::collections::{BTreeMap, BTreeSet};

use wasmbench_results::statistics::{Interval, median, paired_ratios};

use crate::figure::Figure;
use crate::measured::{Measured, Point, Run};

/// A multiple of the base.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The ratio.
    pub ratio: f64,
    /// Its 95 % interval over blocks, from two blocks on.
    pub interval: Option<(f64, f64)>,
    /// Whether there is a reason to doubt it, or the whole run that it comes from.
    pub is_doubted: bool,
}

/// Values by block.
type Blocks = BTreeMap<u32, f64>;
/// By variant and point.
type ByPlace<'a> = BTreeMap<(&'a str, u32), &'a Point>;

/// The values of a figure under a workload.
pub struct Values<'a> {
    figure: Figure,
    /// By run, the best one first, then by variant and point. Others of the same study have the same runs.
    by_run: Vec<(&'a Run, ByPlace<'a>)>,
}

impl<'a> Values<'a> {
    /// Those of `measured`.
    pub fn under(workload: &str, figure: Figure, measured: Option<&'a Measured>) -> Self {
        let runs = measured.map(Measured::best_first).unwrap_or_default();
        let of_run = |run: &'a Run| {
            let points = run.points.iter();
            let points =
                points.filter(|point| point.figure == figure && point.workload == workload);
            let values = points.map(|point| ((point.variant.as_str(), point.at), point));
            (run, values.collect())
        };
        Self {
            figure,
            by_run: runs.into_iter().map(of_run).collect(),
        }
    }

    fn places(&self) -> impl Iterator<Item = (&'a str, u32)> {
        self.by_run
            .iter()
            .flat_map(|(_, values)| values.keys().copied())
    }

    /// Every variant with a value.
    pub fn variants(&self) -> BTreeSet<&'a str> {
        self.places().map(|(variant, _)| variant).collect()
    }

    /// Whether the variant has a value at any point.
    pub fn is_measured(&self, variant: &str) -> bool {
        self.places().any(|(measured, _)| measured == variant)
    }

    /// Whether anything was measured at the point, or at all.
    pub fn has(&self, at: Option<u32>) -> bool {
        self.places()
            .any(|(_, measured)| at.is_none_or(|at| at == measured))
    }

    /// `variant` as a multiple of a base among other values, in the best run that has both at a point. Over all points: in each
    /// block the geometric mean of the ratios at those that both have.
    pub fn ratio(&self, variant: &str, base: (&Self, &str), at: Option<u32>) -> Option<Ratio> {
        let (others, base) = base;
        let pair = |at: u32| {
            let mut both = self.by_run.iter().zip(&others.by_run);
            both.find_map(|((run, own), (_, theirs))| {
                let (own, theirs) = (own.get(&(variant, at))?, theirs.get(&(base, at))?);
                Some((*run, *own, *theirs))
            })
        };
        let points: BTreeSet<u32> = match at {
            Some(at) => BTreeSet::from([at]),
            None => self.places().map(|(_, at)| at).collect(),
        };
        let pairs: Vec<_> = points.into_iter().filter_map(pair).collect();
        let ratios = match pairs.as_slice() {
            [(_, own, theirs)] => paired_ratios(&own.values, &theirs.values),
            _ => mean_ratios(
                pairs
                    .iter()
                    .map(|(_, own, theirs)| (&own.values, &theirs.values)),
            ),
        };
        let interval = Interval::of(&ratios)?;
        let is_doubted = |(run, own, theirs): &(&Run, &Point, &Point)| {
            let of_both = own.doubts.iter().chain(&theirs.doubts);
            of_both.chain(run.doubts_of_all()).next().is_some()
        };
        Some(Ratio {
            ratio: interval.estimate.exp(),
            interval: interval
                .low()
                .zip(interval.high())
                .map(|(low, high)| (low.exp(), high.exp())),
            is_doubted: pairs.iter().any(is_doubted),
        })
    }

    /// The middle of the values of `variant` at a point, for people.
    pub fn shown(&self, variant: &str, at: Option<u32>) -> String {
        let median = self.median(variant, at);
        median.map_or_else(|| "1".into(), |median| self.figure.shown(median))
    }

    /// Requests per second of one core, of CPU time per request.
    pub fn per_core(&self, variant: &str, at: Option<u32>) -> String {
        let median = self.median(variant, at);
        let shown = |microseconds: f64| Figure::Throughput.shown(1e6 / microseconds);
        median.map_or_else(|| "1".into(), shown)
    }

    fn median(&self, variant: &str, at: Option<u32>) -> Option<f64> {
        let place = (variant, at?);
        let mut runs = self.by_run.iter();
        let point = runs.find_map(|(_, points)| points.get(&place))?;
        median(point.values.values().copied())
    }
}

fn mean_ratios<'a>(pairs: impl Iterator<Item = (&'a Blocks, &'a Blocks)>) -> Vec<f64> {
    let mut logs: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for (own, theirs) in pairs {
        for (block, value) in own {
            if let Some(base) = theirs.get(block) {
                logs.entry(*block).or_default().push((value / base).ln());
            }
        }
    }
    let means = logs.values();
    means
        .map(|logs| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
        .collect()
}
