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

/// A ratio, and what it is from.
#[derive(Clone, Copy, Debug)]
pub struct FromRun<'a> {
    /// The ratio.
    pub ratio: Ratio,
    /// Name of the run.
    pub name: &'a str,
    /// The run.
    pub run: &'a Run,
    /// The middle of the values that were divided, and of those that they were divided by.
    pub sides: Option<(f64, f64)>,
}

/// Values by block.
type Blocks = BTreeMap<u32, f64>;
/// By variant and point.
type ByPlace<'a> = BTreeMap<(&'a str, u32), &'a Point>;

/// The values of a figure under a workload.
pub struct Values<'a> {
    figure: Figure,
    /// By run and its name, the best one first, then by variant and point. Others of the same study have the same runs.
    by_run: Vec<(&'a str, &'a Run, ByPlace<'a>)>,
}

impl<'a> Values<'a> {
    /// Those of `measured`.
    pub fn under(workload: &str, figure: Figure, measured: Option<&'a Measured>) -> Self {
        let runs = measured.map(Measured::best_first).unwrap_or_default();
        let of_run = |(name, run): (&'a str, &'a Run)| {
            let points = run.points.iter();
            let points =
                points.filter(|point| point.figure == figure && point.workload == workload);
            let values = points.map(|point| ((point.variant.as_str(), point.at), point));
            (name, run, values.collect())
        };
        Self {
            figure,
            by_run: runs.into_iter().map(of_run).collect(),
        }
    }

    fn places(&self) -> impl Iterator<Item = (&'a str, u32)> {
        self.by_run
            .iter()
            .flat_map(|(_, _, values)| values.keys().copied())
    }

    /// Every variant with a value.
    pub fn variants(&self) -> BTreeSet<&'a str> {
        self.places().map(|(variant, _)| variant).collect()
    }

    /// Whether the variant has a value at the point, or at any.
    pub fn is_measured(&self, variant: &str, at: Option<u32>) -> bool {
        let is_there = |(name, place)| name == variant && at.is_none_or(|at| at == place);
        self.places().any(is_there)
    }

    /// The best run that has a value of the variant at the point, or at any.
    pub fn run_of(&self, variant: &str, at: Option<u32>) -> Option<&'a str> {
        let is_there =
            |(name, place): &(&str, u32)| *name == variant && at.is_none_or(|at| at == *place);
        let mut runs = self.by_run.iter();
        let found = runs.find(|(_, _, values)| values.keys().any(is_there));
        found.map(|(name, _, _)| *name)
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
        if let Some(at) = at {
            return self.ratio_of_places((variant, at), (others, (base, at)));
        }
        let points: BTreeSet<u32> = self.places().map(|(_, at)| at).collect();
        let pairs: Vec<Pair<'_>> = points
            .into_iter()
            .filter_map(|at| self.pair((variant, at), (others, (base, at))))
            .collect();
        let values = pairs
            .iter()
            .map(|pair| (&pair.own.values, &pair.theirs.values));
        estimated(&mean_ratios(values), &pairs)
    }

    /// The value at a place (variant and point) as a multiple of that at another place among other values, in the best run that
    /// has both.
    pub fn ratio_of_places(&self, own: (&str, u32), theirs: (&Self, (&str, u32))) -> Option<Ratio> {
        self.ratio_with_run(own, theirs).map(|found| found.ratio)
    }

    /// The same with the run that it is from.
    pub fn ratio_with_run(
        &self,
        own: (&str, u32),
        theirs: (&Self, (&str, u32)),
    ) -> Option<FromRun<'a>> {
        let pair = self.pair(own, theirs)?;
        let (own, base) = (&pair.own.values, &pair.theirs.values);
        let middle = |blocks: &Blocks| median(blocks.values().copied());
        Some(FromRun {
            ratio: estimated(&paired_ratios(own, base), &[pair])?,
            name: pair.name,
            run: pair.run,
            sides: middle(own).zip(middle(base)),
        })
    }

    fn pair(&self, own: (&str, u32), (others, theirs): (&Self, (&str, u32))) -> Option<Pair<'a>> {
        let mut both = self.by_run.iter().zip(&others.by_run);
        both.find_map(|((name, run, mine), (_, _, other))| {
            Some(Pair {
                name,
                run,
                own: mine.get(&own)?,
                theirs: other.get(&theirs)?,
            })
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
        let point = runs.find_map(|(_, _, points)| points.get(&place))?;
        median(point.values.values().copied())
    }
}

/// Two points of a run, one to be divided by the other.
#[derive(Clone, Copy)]
struct Pair<'a> {
    name: &'a str,
    run: &'a Run,
    own: &'a Point,
    theirs: &'a Point,
}

impl Pair<'_> {
    fn is_doubted(&self) -> bool {
        let of_both = self.own.doubts.iter().chain(&self.theirs.doubts);
        of_both.chain(self.run.doubts_of_all()).next().is_some()
    }
}

/// The ratio over all blocks, from these pairs.
fn estimated(ratios: &[f64], pairs: &[Pair<'_>]) -> Option<Ratio> {
    let interval = Interval::from_ratios(ratios)?;
    let ends = interval.low().zip(interval.high());
    Some(Ratio {
        ratio: interval.estimate.exp(),
        interval: ends.map(|(low, high)| (low.exp(), high.exp())),
        is_doubted: pairs.iter().any(Pair::is_doubted),
    })
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
