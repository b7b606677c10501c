//! What was measured of a figure under a workload, or as the geometric mean over several, and ratios of it. Values of one
//! run alone are divided.

use std::collections::{BTreeMap, BTreeSet};

use wasmbench_results::statistics::{Interval, mean, median, paired_ratios};

use crate::figure::Figure;
use crate::measured::{Length, Measured, Point, Run};

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
type ByPlace<'a> = BTreeMap<(&'a str, u32), Series<'a>>;

/// What was measured at a place: the values of a point, or in each block the geometric mean of those of several workloads.
struct Series<'a> {
    values: Blocks,
    doubts: Vec<&'a String>,
}

/// The values of a figure under a workload, or as the mean over several.
pub struct Values<'a> {
    figure: Figure,
    /// By run and its name, the best one first, then by variant and point. Others of the same study have the same runs.
    by_run: Vec<(&'a str, &'a Run, ByPlace<'a>)>,
}

impl<'a> Values<'a> {
    /// Those of `measured`, with a mean where there are several workloads.
    pub fn under(workloads: &[&str], figure: Figure, measured: Option<&'a Measured>) -> Self {
        let runs = measured.map(Measured::best_first).unwrap_or_default();
        let of_run =
            |(name, run): (&'a str, &'a Run)| (name, run, by_place(run, workloads, figure));
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
        let pairs: Vec<Pair<'_, 'a>> = points
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

    fn pair<'s>(
        &'s self,
        own: (&'s str, u32),
        (others, theirs): (&'s Self, (&'s str, u32)),
    ) -> Option<Pair<'s, 'a>> {
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
        let found = runs.find_map(|(_, _, places)| places.get(&place))?;
        median(found.values.values().copied())
    }
}

/// What a run has of all workloads. A whole run counts with all of them only; a shortened one has fewer by intent.
fn by_place<'a>(run: &'a Run, workloads: &[&str], figure: Figure) -> ByPlace<'a> {
    let mut points: Vec<&'a Point> = run.points.iter().collect();
    points.retain(|point| point.figure == figure);
    let has = |workload: &str| points.iter().any(|point| point.workload == workload);
    let mut wanted = workloads.to_vec();
    wanted.retain(|workload| run.length == Length::Full || has(workload));
    points.retain(|point| wanted.contains(&point.workload.as_str()));
    let mut places: BTreeMap<(&'a str, u32), Vec<&'a Point>> = BTreeMap::new();
    for point in points {
        let place = (point.variant.as_str(), point.at);
        places.entry(place).or_default().push(point);
    }
    places.retain(|_, points| points.len() == wanted.len());
    let places = places.into_iter();
    places
        .map(|(place, points)| (place, Series::from_points(&points)))
        .collect()
}

impl<'a> Series<'a> {
    fn from_points(points: &[&'a Point]) -> Self {
        let doubts = points.iter().copied().flat_map(|point| &point.doubts);
        Self {
            values: match points {
                [point] => point.values.clone(),
                _ => block_means(points),
            },
            doubts: doubts.collect(),
        }
    }
}

/// The geometric means of the blocks in which all points have a value. In each block the ratio of two such means is the
/// geometric mean of the ratios.
fn block_means(points: &[&Point]) -> Blocks {
    let mut logs: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for (block, value) in points.iter().copied().flat_map(|point| &point.values) {
        if *value > 0.0 {
            logs.entry(*block).or_default().push(value.ln());
        }
    }
    logs.retain(|_, logs| logs.len() == points.len());
    let means = logs.into_iter();
    means
        .map(|(block, logs)| (block, mean(&logs).exp()))
        .collect()
}

/// Two places of a run, one to be divided by the other.
#[derive(Clone, Copy)]
struct Pair<'s, 'a> {
    name: &'a str,
    run: &'a Run,
    own: &'s Series<'a>,
    theirs: &'s Series<'a>,
}

impl Pair<'_, '_> {
    fn is_doubted(&self) -> bool {
        let mut of_both = self.own.doubts.iter().chain(&self.theirs.doubts);
        of_both.next().is_some() || self.run.doubts_of_all().next().is_some()
    }
}

/// The ratio over all blocks, from these pairs.
fn estimated(ratios: &[f64], pairs: &[Pair<'_, '_>]) -> Option<Ratio> {
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

#[cfg(test)]
mod tests {
    use super::*;

    const KERNELS: [&str; 2] = ["gemm", "lu"];

    /// Warm latencies of one run: kernel, variant, values by block from 1 on.
    fn measured(length: Length, series: &[(&str, &str, &[f64])]) -> Measured {
        let mut found = crate::measured::from_summaries(length, &[]);
        let point = |(kernel, variant, values): &(&str, &str, &[f64])| Point {
            figure: Figure::WarmP50,
            workload: (*kernel).into(),
            at: 1,
            variant: (*variant).into(),
            values: (1..).zip(values.iter().copied()).collect(),
            doubts: BTreeSet::new(),
        };
        let run = Run {
            length,
            node: BTreeMap::new(),
            blocks: 2,
            doubts: BTreeSet::new(),
            points: series.iter().map(point).collect(),
            without: vec![],
        };
        found.runs.insert("one".into(), run);
        found
    }

    fn wasm_over_clang(measured: &Measured) -> Option<Ratio> {
        let values = Values::under(&KERNELS, Figure::WarmP50, Some(measured));
        values.ratio("wasm", (&values, "clang"), Some(1))
    }

    fn close(found: f64, expected: f64) -> bool {
        (found / expected - 1.0).abs() < 1e-9
    }

    #[test]
    fn a_mean_over_kernels_is_that_of_their_ratios_in_each_block() {
        // The machine is twice as slow in the second block, for all alike.
        let measured = measured(
            Length::Full,
            &[
                ("gemm", "clang", &[10.0, 20.0]),
                ("lu", "clang", &[100.0, 200.0]),
                ("gemm", "wasm", &[40.0, 80.0]),
                ("lu", "wasm", &[100.0, 200.0]),
            ],
        );
        let found = wasm_over_clang(&measured).unwrap();
        let (low, high) = found.interval.unwrap();
        assert!(close(found.ratio, 2.0), "the geometric mean of 4 and 1");
        assert!(
            close(low, 2.0) && close(high, 2.0),
            "blocks differ in nothing that is compared"
        );
    }

    #[test]
    fn a_block_counts_with_all_kernels_only() {
        let measured = measured(
            Length::Full,
            &[
                ("gemm", "clang", &[10.0, 10.0, 10.0]),
                ("lu", "clang", &[10.0, 10.0]),
                ("gemm", "wasm", &[40.0, 40.0, 40.0]),
                ("lu", "wasm", &[10.0, 10.0, 10.0]),
            ],
        );
        assert!(close(wasm_over_clang(&measured).unwrap().ratio, 2.0));
    }

    #[test]
    fn a_variant_without_one_of_the_kernels_has_no_mean() {
        let series: &[(&str, &str, &[f64])] = &[
            ("gemm", "clang", &[10.0]),
            ("lu", "clang", &[10.0]),
            ("gemm", "wasm", &[40.0]),
        ];
        assert_eq!(wasm_over_clang(&measured(Length::Full, series)), None);
        assert_eq!(wasm_over_clang(&measured(Length::Short, series)), None);
    }

    #[test]
    fn a_shortened_run_has_the_mean_of_its_kernels() {
        let series: &[(&str, &str, &[f64])] =
            &[("gemm", "clang", &[10.0]), ("gemm", "wasm", &[40.0])];
        let found = wasm_over_clang(&measured(Length::Short, series));
        assert!(close(found.unwrap().ratio, 4.0));
        assert_eq!(wasm_over_clang(&measured(Length::Full, series)), None);
    }

    #[test]
    fn a_mean_is_doubted_with_any_of_its_kernels() {
        let mut measured = measured(
            Length::Short,
            &[("gemm", "clang", &[10.0]), ("gemm", "wasm", &[40.0])],
        );
        assert!(!wasm_over_clang(&measured).unwrap().is_doubted);
        let run = measured.runs.get_mut("one").unwrap();
        run.points[1].doubts.insert("NotSteady".into());
        assert!(wasm_over_clang(&measured).unwrap().is_doubted);
    }
}
