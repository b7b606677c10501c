//! What was measured of a figure under a workload, and ratios of it. Values of one run alone are divided.

use std::collections::{BTreeMap, BTreeSet};

use wasmbench_results::statistics::{Interval, paired_ratios};

use crate::beside::Ratio;
use crate::figure::Figure;
use crate::measured::Measured;

/// The values of a figure under a workload, by variant and point.
pub struct Values<'a> {
    figure: Figure,
    /// Points at which something speaks against the run.
    doubted: BTreeSet<u32>,
    by_variant: BTreeMap<&'a str, BTreeMap<u32, &'a BTreeMap<u32, f64>>>,
}

impl<'a> Values<'a> {
    /// Those of `measured`.
    pub fn under(workload: &str, figure: Figure, measured: Option<&'a Measured>) -> Self {
        let mut by_variant: BTreeMap<&str, BTreeMap<u32, _>> = BTreeMap::new();
        let mut doubted = BTreeSet::new();
        let points = measured.map(|measured| measured.points(figure, workload));
        for (run, point) in points.into_iter().flatten() {
            let variant = by_variant.entry(point.variant.as_str()).or_default();
            variant.insert(point.at, &point.values);
            if !run.doubts.is_empty() {
                doubted.insert(point.at);
            }
        }
        Self {
            figure,
            doubted,
            by_variant,
        }
    }

    /// Every variant with a value.
    pub fn variants(&self) -> impl Iterator<Item = &'a str> {
        self.by_variant.keys().copied()
    }

    /// Whether the variant has a value at any point.
    pub fn is_measured(&self, variant: &str) -> bool {
        self.by_variant.contains_key(variant)
    }

    /// Whether anything was measured at the point, or at all.
    pub fn has(&self, at: Option<u32>) -> bool {
        let mut variants = self.by_variant.values();
        match at {
            Some(at) => variants.any(|points| points.contains_key(&at)),
            None => variants.next().is_some(),
        }
    }

    /// `variant` as a multiple of a base among other values of the same run, at a point. Over all points: in each block
    /// the geometric mean of the ratios at those that both have.
    pub fn ratio(&self, variant: &str, base: (&Self, &str), at: Option<u32>) -> Option<Ratio> {
        let (others, base) = base;
        let (variant, base) = (self.by_variant.get(variant)?, others.by_variant.get(base)?);
        let ratios = match at {
            Some(at) => paired_ratios(variant.get(&at)?, base.get(&at)?),
            None => mean_ratios(variant, base),
        };
        let interval = Interval::of(&ratios)?;
        Some(Ratio {
            ratio: interval.estimate.exp(),
            interval: interval
                .low()
                .zip(interval.high())
                .map(|(low, high)| (low.exp(), high.exp())),
            is_doubted: match at {
                Some(at) => self.doubted.contains(&at),
                None => !self.doubted.is_empty(),
            },
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
        let values = self.by_variant.get(variant)?.get(&at?)?;
        wasmbench_results::statistics::median(values.values().copied())
    }
}

type Points<'a> = BTreeMap<u32, &'a BTreeMap<u32, f64>>;

fn mean_ratios(variant: &Points<'_>, base: &Points<'_>) -> Vec<f64> {
    let mut logs: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for (at, values) in variant {
        for (block, value) in *values {
            if let Some(base) = base.get(at).and_then(|values| values.get(block)) {
                logs.entry(*block).or_default().push((value / base).ln());
            }
        }
    }
    let means = logs.values();
    means
        .map(|logs| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
        .collect()
}
