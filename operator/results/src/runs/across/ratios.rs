//! The judged numbers: takes what is compared from two or more runs and produces ratios and
//! differences with verdicts.

use wasmbench_api::run::BenchmarkRunSpec;
use wasmbench_model::rounding::{P_DIGITS, round_number, round_significant};

use crate::judge::comparison::{Difference, factor};
use crate::judge::verdict::{Thresholds, Verdict, judge};
use crate::runs::across::judged::{Judged, Judging, judged};
use crate::runs::across::numbers::{Sample, trimmed_mean};
use crate::runs::across::{CellRatio, Unjudged, VersusBaseline};
use crate::statistics::{Contrast, Estimated, Interval, Scale, false_discovery};
use crate::vocabulary::minimum::smallest_on_scale;

/// A cell that both the later run and earlier ones have.
struct Pair<'a> {
    later: &'a Sample,
    /// From each earlier run that has the cell, the latest first.
    earlier: Vec<&'a Sample>,
    judged: Result<Judged, Unjudged>,
}

/// The ratios of all cells that both the later run and earlier ones have, and the number of metrics
/// of cells that only one side has. `before` holds the samples of each earlier run, the latest run
/// first; `spec` is the later run's.
pub fn ratios(
    before: &[Vec<Sample>],
    after: &[Sample],
    how: Judging,
    spec: &BenchmarkRunSpec,
) -> (Vec<CellRatio>, u32) {
    let pairs: Vec<Pair<'_>> = after
        .iter()
        .filter_map(|later| pair(before, later, how))
        .collect();
    let decided = pairs.iter().filter_map(Pair::decided);
    let p_values: Vec<f64> = decided
        .map(|judged| judged.contrast.interval.p_value)
        .collect();
    let mut adjusted = false_discovery::adjusted(&p_values).into_iter();
    let is_missing = |sample: &&Sample| !after.iter().any(|later| later.is_same_cell(sample));
    let lost = before
        .first()
        .map_or(0, |last| last.iter().filter(is_missing).count());
    let single = lost + after.len() - pairs.len();
    let ratios = pairs.into_iter().filter_map(|pair| {
        let adjusted = pair.decided().and_then(|_| adjusted.next());
        pair.ratio(adjusted, p_values.len(), spec)
    });
    (ratios.collect(), u32::try_from(single).unwrap_or(u32::MAX))
}

fn pair<'a>(before: &'a [Vec<Sample>], later: &'a Sample, how: Judging) -> Option<Pair<'a>> {
    let same = |run: &'a Vec<Sample>| run.iter().find(|sample| sample.is_same_cell(later));
    let earlier: Vec<&Sample> = before.iter().filter_map(same).collect();
    let pair = Pair {
        later,
        judged: judged(&earlier, later, how),
        earlier,
    };
    pair.whole(Scale::Ratio).is_some().then_some(pair)
}

impl Pair<'_> {
    /// What has a verdict.
    fn decided(&self) -> Option<&Judged> {
        self.judged
            .as_ref()
            .ok()
            .filter(|judged| !judged.is_untrusted)
    }

    /// Why there is no verdict.
    fn unjudged(&self) -> Option<Unjudged> {
        match &self.judged {
            Ok(judged) => judged.is_untrusted.then_some(Unjudged::Untrusted),
            Err(why) => Some(*why),
        }
    }

    /// The numbers of all earlier runs together.
    fn all<T: Clone>(&self, numbers: fn(&Sample) -> &Vec<T>) -> Vec<T> {
        let runs = self.earlier.iter();
        runs.flat_map(|run| numbers(run).clone()).collect()
    }

    /// The change of the number itself over all runs together, for the table: by the scatter of
    /// trials alone.
    fn whole(&self, scale: Scale) -> Option<Interval> {
        let before = self.all(|sample| &sample.values);
        let sides = [&self.later.values, &before];
        let [after, before] = sides.map(|values| Estimated::from_values(values, scale));
        Some(Contrast::unpaired(&after?, &before?, [0.0; 2]).interval)
    }

    /// What is judged or would be, were it trusted, if that is a number on this scale, and the whole
    /// change otherwise.
    fn shown(&self, scale: Scale) -> Option<Interval> {
        let judged = self.judged.as_ref().ok();
        let judged = judged.filter(|_| self.later.scale() == scale);
        judged.map_or_else(
            || self.whole(scale),
            |judged| Some(judged.contrast.interval),
        )
    }

    /// Both numbers versus the baseline.
    fn versus_baseline(&self) -> Option<VersusBaseline> {
        let scale = self.later.scale();
        let middle = |pairs: &[[f64; 2]]| {
            let found = Interval::from_pairs(pairs, scale)?;
            Some(round_number(scale.inverse(found.estimate)))
        };
        Some(VersusBaseline {
            before: middle(&self.all(|sample| &sample.versus_baseline))?,
            after: middle(&self.later.versus_baseline)?,
        })
    }

    /// The verdict, and the smallest change that such runs find, on the scale of the measure.
    fn verdict(
        &self,
        adjusted: Option<f64>,
        among: usize,
        smallest: f64,
    ) -> (Option<Verdict>, Option<f64>) {
        let Some(judged) = self.decided() else {
            return (None, None);
        };
        let thresholds = Thresholds {
            minimum_effect: smallest,
            is_gate: true,
        };
        let interval = &judged.contrast.interval;
        let verdict = |adjusted| judge(self.later.metric, interval, adjusted, thresholds);
        let found = judged.contrast.smallest_found(among, smallest);
        (adjusted.map(verdict), found)
    }

    /// The change of a measure that is judged by its difference.
    fn difference(&self, smallest: f64, found: Option<f64>) -> Option<Difference> {
        match self.later.scale() {
            Scale::Ratio => None,
            Scale::Difference => Some(Difference {
                smallest_found: found.map(round_number),
                ..Difference::new(&self.shown(Scale::Difference)?, smallest)
            }),
        }
    }

    /// The result; `among` is the number of judged ratios.
    fn ratio(
        &self,
        adjusted: Option<f64>,
        among: usize,
        spec: &BenchmarkRunSpec,
    ) -> Option<CellRatio> {
        let Sample {
            cell,
            metric,
            values,
            ..
        } = self.later;
        let count = |samples: usize| u32::try_from(samples).unwrap_or(u32::MAX);
        let earlier = self.all(|sample| &sample.values);
        let before = round_number(trimmed_mean(&earlier, self.later.scale()));
        let smallest = smallest_on_scale(spec, &cell.workload, *metric, before);
        let (verdict, found) = self.verdict(adjusted, among, smallest);
        let difference = self.difference(smallest, found);
        let shown = self.shown(Scale::Ratio)?;
        let judged = self.judged.as_ref().ok();
        let decided = self.decided();
        let p_value = decided.map(|judged| judged.contrast.interval.p_value);
        Some(CellRatio {
            variant: cell.variant.clone(),
            workload: cell.workload.clone(),
            point: cell.point.to_string(),
            metric: *metric,
            before,
            after: round_number(self.later.value()),
            versus_baseline: self.versus_baseline(),
            is_of_baseline: judged.is_some_and(|judged| judged.is_of_baseline),
            runs: judged.and_then(|judged| judged.runs),
            ratio: factor(shown.estimate),
            low: shown.low().map(factor),
            high: shown.high().map(factor),
            smallest: difference.is_none().then(|| factor(smallest)),
            smallest_found: found.filter(|_| difference.is_none()).map(factor),
            difference,
            p_value: p_value.map(|p_value| round_significant(p_value, P_DIGITS)),
            adjusted_p_value: adjusted.map(|adjusted| round_significant(adjusted, P_DIGITS)),
            verdict,
            unjudged: self.unjudged(),
            trials_before: count(earlier.len()),
            trials_after: count(values.len()),
        })
    }
}
