//! A comparison in words.

use wasmbench_model::units;

use super::{Comparison, Difference, Estimate};
use crate::vocabulary::cell::place;
use crate::vocabulary::measure::{Judged, Measured as _, Metric, Unit};

/// A rate below this ratio is worded as how many times fewer it is.
const FEW: f64 = 0.5;

impl Comparison {
    /// What is compared, with the point if the measure is compared at several: `p99 from the
    /// schedule at 200 requests/s`.
    pub fn what(&self) -> String {
        self.metric.at(self.point)
    }

    /// What is compared, of which variant and where: `throughput of embedded on hello at 50
    /// connections`.
    pub fn subject(&self) -> String {
        let Self {
            variant, workload, ..
        } = self;
        let noun = self.metric.noun();
        // The noun names the sweep.
        if self.metric == Metric::WarmP50 {
            return format!("{noun} of {variant} on {workload}");
        }
        format!("{noun} of {}", place(variant, workload, self.point))
    }

    /// The suffix of a verdict that is not to be trusted.
    pub fn mark(&self) -> &'static str {
        if self.untrusted.is_empty() {
            ""
        } else {
            ", untrusted"
        }
    }

    /// The difference, if it is what is judged.
    pub fn judged_difference(&self) -> Option<Difference> {
        match self.metric.measure().judged {
            Judged::Difference => self.difference,
            Judged::Ratio | Judged::RatioOrDifference => None,
        }
    }

    /// The ratio in words, with interval and verdict, preceded by the difference if that is judged.
    pub fn text(&self) -> String {
        let verdict = self.verdict.text(self.metric) + self.mark();
        let ratio = self.estimate.text(&verdict);
        let unit = self.metric.measure().unit;
        match self.judged_difference() {
            Some(difference) => format!("{}, {ratio}", difference.text(unit)),
            None => ratio,
        }
    }

    /// The judged number with its interval, `1.91x (1.90-1.93)` or `+154 ms (152 ms to 157 ms)`.
    pub fn judged_text(&self) -> String {
        if let Some(difference) = self.judged_difference() {
            return difference.text(self.metric.measure().unit);
        }
        let ratio = self.estimate.ratio_text();
        if self.estimate.bound.is_some() {
            return ratio;
        }
        let interval = self.estimate.interval_text();
        format!("{ratio} ({})", interval.as_deref().unwrap_or("1 block"))
    }

    /// The verdict with the near end of a difference: `at least 44 % slower`.
    pub fn verdict_text(&self) -> String {
        let least = self.least_text().map(|least| format!("at least {least}"));
        self.verdict.text_by(self.metric, least.as_deref())
    }

    /// The near end of a difference: `183 ms`, `2.10x`, `44 %`.
    fn least_text(&self) -> Option<String> {
        if let Some(least) = self.difference.and_then(|difference| difference.at_least) {
            return Some(self.metric.measure().unit.shown(least));
        }
        Some(self.factor_text(self.at_least?))
    }

    /// A factor above 1 in words, in the direction of the ratio: `2.10x`, `44 %`.
    fn factor_text(&self, factor: f64) -> String {
        if factor >= 2.0 {
            units::ratio(factor)
        } else if self.estimate.ratio < 1.0 {
            units::excess(2.0 - 1.0 / factor)
        } else {
            units::excess(factor)
        }
    }

    /// What was found, as briefly as possible: `44 % more CPU`, `starts 154 ms later`, `memory:
    /// equivalent`.
    pub fn short_text(&self) -> String {
        if !self.verdict.is_difference() {
            let verdict = self.verdict.text(self.metric);
            return format!("{}: {verdict}", self.metric.noun());
        }
        let ratio = self.estimate.stated();
        let bounded = if self.estimate.bound.is_some() {
            "at least "
        } else {
            ""
        };
        let found = self.judged_difference().map_or_else(
            || bounded.to_owned() + &self.factor_text(ratio.max(1.0 / ratio)),
            |difference| self.metric.measure().unit.shown(difference.value.abs()),
        );
        self.verdict.text_by(self.metric, Some(&found))
    }

    /// How many times fewer a rate below half of the baseline's is, `18.5x fewer requests/s`,
    /// because few people grasp what 0.054x means. `None` for everything else.
    pub fn fewer_text(&self) -> Option<String> {
        let Estimate { ratio, .. } = self.estimate;
        let measure = self.metric.measure();
        let is_rate = measure.unit == Unit::PerSecond && self.verdict.is_difference();
        let is_far = is_rate && ratio > 0.0 && ratio < FEW && self.estimate.bound.is_none();
        is_far.then(|| {
            let times = units::ratio(1.0 / ratio);
            measure.words.phrase(false, Some(&times))
        })
    }

    /// The suffix of [`Self::fewer_text`]: `(17.9-19.2), at least 17.1x`.
    pub fn fewer_interval_text(&self) -> String {
        let ends = self.estimate.ends().filter(|(low, _)| *low > 0.0);
        let interval = ends.map_or_else(
            || "1 block".to_owned(),
            |(low, high)| {
                let (least, most) = (1.0 / high, 1.0 / low);
                let (least, most) = (units::ratio_number(least), units::ratio_number(most));
                format!("{least}-{most}")
            },
        );
        let least = self
            .at_least
            .map(units::ratio)
            .map_or_else(String::new, |least| format!(", at least {least}"));
        format!("({interval}){least}")
    }
}
