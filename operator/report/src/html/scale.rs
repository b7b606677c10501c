//! Maps numbers to coordinates: linear and logarithmic axes with round ticks. Uses `libm` for
//! logarithms, which gives the same bytes on every platform.

/// An axis is logarithmic if the largest number is more than this many times the smallest: a linear
/// axis would squeeze most of the points into one end.
const LOGARITHMIC_FROM: f64 = 50.0;
/// The smallest span of an axis, as a share of its high end. It must not magnify differences that
/// the numbers at its ticks, with their three digits, could not show.
const LEAST_SPAN: f64 = 0.05;
/// The largest difference that has a place on an axis.
const FARTHEST: f64 = 1e100;
/// The approximate number of ticks on a linear axis.
const TICKS: f64 = 5.0;

/// An axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Scale {
    logarithmic: bool,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    /// Values with a line and a number, in ascending order.
    pub ticks: Vec<f64>,
}

impl Scale {
    /// An axis from the coordinate `from` to `to` that holds all finite, non-negative `values`.
    /// Round numbers are multiples of powers of `base`: 1000, or 1024 for memory.
    pub fn fit(values: impl IntoIterator<Item = f64>, base: f64, (from, to): (f64, f64)) -> Self {
        let (low, high) = extremes(values).unwrap_or((0.0, 0.0));
        let unit = unit(high, base);
        let (logarithmic, ticks) = if low > 0.0 && high / low > LOGARITHMIC_FROM {
            (true, logarithmic_ticks(low, high))
        } else {
            let ticks = linear_ticks(low / unit, high / unit);
            (false, ticks.into_iter().map(|tick| tick * unit).collect())
        };
        Self::between(logarithmic, ticks, (from, to))
    }

    /// An axis for ratios. It is logarithmic, so that half and twice are equally far from 1, and
    /// always includes 1.
    pub fn ratios(values: impl IntoIterator<Item = f64>, (from, to): (f64, f64)) -> Self {
        let values = values.into_iter().filter(|ratio| *ratio > 0.0);
        let (low, high) = extremes(values.chain([1.0 - LEAST_SPAN, 1.0 + LEAST_SPAN]))
            .unwrap_or((1.0 - LEAST_SPAN, 1.0 + LEAST_SPAN));
        let round = if high / low > 4.0 {
            logarithmic_ticks(low, high)
        } else {
            linear_ticks(low, high)
        };
        // Linear ticks may begin at 0, which has no place on a logarithmic axis.
        let ticks = round.into_iter().filter(|tick| *tick > 0.0).collect();
        let mut scale = Self::between(true, ticks, (from, to));
        scale.low = scale.low.min(low);
        scale
    }

    /// A linear axis for differences, which may be negative; it always includes 0.
    pub fn differences(values: impl IntoIterator<Item = f64>, (from, to): (f64, f64)) -> Self {
        let usable = values.into_iter().filter(|value| value.abs() <= FARTHEST);
        let (low, high) = usable.fold((0.0_f64, 0.0_f64), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        let high = if high > low { high } else { 1.0 };
        Self::between(false, multiples(low, high), (from, to))
    }

    /// An axis for numbers of connections: each is a tick of its own.
    pub fn connections(counts: &[u32], (from, to): (f64, f64)) -> Self {
        let mut ticks: Vec<f64> = counts.iter().copied().map(f64::from).collect();
        ticks.sort_by(f64::total_cmp);
        ticks.dedup();
        Self::between(true, ticks, (from, to))
    }

    fn between(logarithmic: bool, ticks: Vec<f64>, (from, to): (f64, f64)) -> Self {
        Self {
            logarithmic,
            low: ticks.first().copied().unwrap_or_default(),
            high: ticks.last().copied().unwrap_or_default(),
            from,
            to,
            ticks,
        }
    }

    /// The coordinate of `value`; a value outside the axis is drawn at its end.
    pub fn at(&self, value: f64) -> f64 {
        let place = |value: f64| {
            if self.logarithmic {
                libm::log(value.max(f64::MIN_POSITIVE))
            } else {
                value
            }
        };
        let span = place(self.high) - place(self.low);
        let share = if span > 0.0 {
            ((place(value) - place(self.low)) / span).clamp(0.0, 1.0)
        } else {
            0.5
        };
        self.from + share * (self.to - self.from)
    }

    /// The coordinate of the middle of the axis.
    pub fn middle(&self) -> f64 {
        f64::midpoint(self.from, self.to)
    }

    /// What a reader must know about the axis; `None` for a linear one that begins at 0.
    pub fn caution(&self) -> Option<&'static str> {
        match (self.logarithmic, self.low > 0.0) {
            (true, _) => Some("logarithmic axis"),
            (false, true) => Some("the axis does not begin at 0"),
            (false, false) => None,
        }
    }
}

fn extremes(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    let usable = values
        .into_iter()
        .filter(|value| value.is_finite() && *value >= 0.0);
    usable.fold(None, |found: Option<(f64, f64)>, value| {
        let (low, high) = found.unwrap_or((value, value));
        Some((low.min(value), high.max(value)))
    })
}

/// The largest power of `base` that is not above `high`.
fn unit(high: f64, base: f64) -> f64 {
    let mut unit = 1.0;
    while high >= unit * base {
        unit *= base;
    }
    unit
}

/// Multiples of a round step that enclose `low` to `high`, from 0 when that costs little.
fn linear_ticks(low: f64, high: f64) -> Vec<f64> {
    let (mut low, mut high) = (low, high);
    if high <= 0.0 {
        high = 1.0;
    }
    if low <= high / 2.0 {
        low = 0.0;
    }
    let missing = LEAST_SPAN * high - (high - low);
    if missing > 0.0 {
        low -= missing / 2.0;
        high += missing / 2.0;
    }
    multiples(low, high)
}

/// Multiples of a round step that enclose `low` to `high`.
fn multiples(low: f64, high: f64) -> Vec<f64> {
    let step = round_step((high - low) / TICKS);
    let (first, last) = ((low / step).floor(), (high / step).ceil());
    let mut ticks = vec![];
    let mut count = first;
    while count <= last {
        ticks.push(count * step);
        count += 1.0;
    }
    ticks
}

/// The smallest of 1, 2, 5, 10, 20, ... that is not below `least`.
fn round_step(least: f64) -> f64 {
    let mut power = 1.0;
    while power > least {
        power /= 10.0;
    }
    while power * 10.0 <= least {
        power *= 10.0;
    }
    let steps = [power, 2.0 * power, 5.0 * power];
    let found = steps.into_iter().find(|step| *step >= least);
    found.unwrap_or(10.0 * power)
}

/// 1, 2, 5, 10, 20, ... enclosing `low` to `high`, where `low` is above 0; only powers of ten over
/// more than three decades.
fn logarithmic_ticks(low: f64, high: f64) -> Vec<f64> {
    let factors: &[f64] = if high / low > 1e3 {
        &[1.0]
    } else {
        &[1.0, 2.0, 5.0]
    };
    let mut power = libm::pow(10.0, libm::floor(libm::log10(low)));
    let mut all = vec![];
    while all.last().is_none_or(|last| *last < high) {
        all.extend(factors.iter().map(|factor| factor * power));
        power *= 10.0;
    }
    let first = all.iter().rposition(|tick| *tick <= low).unwrap_or(0);
    let last = all.iter().position(|tick| *tick >= high);
    all[first..=last.unwrap_or(all.len() - 1)].to_vec()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use wasmbench_model::units;

    const PLACE: (f64, f64) = (100.0, 500.0);

    #[test]
    fn ticks_are_round_and_begin_at_zero_when_that_costs_little() {
        let ticks = Scale::fit([120.0, 480.0], 1000.0, PLACE).ticks;
        assert_eq!(ticks, [0.0, 100.0, 200.0, 300.0, 400.0, 500.0]);
        let ticks = Scale::fit([900.0, 980.0], 1000.0, PLACE).ticks;
        assert_eq!(ticks, [900.0, 920.0, 940.0, 960.0, 980.0]);
    }

    #[test]
    fn memory_has_round_numbers_of_binary_units() {
        let mib = 1024.0 * 1024.0;
        let ticks = Scale::fit([4.1 * mib, 20.8 * mib], 1024.0, PLACE).ticks;
        let shown: Vec<String> = ticks.into_iter().map(units::bytes).collect();
        assert_eq!(
            shown,
            [
                "0 B", "5.00 MiB", "10.0 MiB", "15.0 MiB", "20.0 MiB", "25.0 MiB"
            ]
        );
    }

    #[test]
    fn numbers_far_apart_get_a_logarithmic_axis() {
        let scale = Scale::fit([8.0, 900.0], 1000.0, PLACE);
        assert_eq!(
            scale.ticks,
            [5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0]
        );
        assert_eq!(scale.caution(), Some("logarithmic axis"));
    }

    #[test]
    fn one_is_on_the_axis_of_ratios_and_midway_between_half_and_twice() {
        let scale = Scale::ratios([0.5, 2.0], PLACE);
        let (half, one, twice) = (scale.at(0.5), scale.at(1.0), scale.at(2.0));
        assert!((2.0 * one - half - twice).abs() < 1e-6);
        let narrow = Scale::ratios([], PLACE);
        assert!(narrow.ticks.contains(&1.0), "{narrow:?}");
    }

    #[test]
    fn an_axis_of_differences_includes_0_and_negative_numbers() {
        let scale = Scale::differences([-20_000.0, 30_000.0], PLACE);
        assert_eq!(
            scale.ticks,
            [-20_000.0, -10_000.0, 0.0, 10_000.0, 20_000.0, 30_000.0]
        );
        assert!(scale.at(-20_000.0) < scale.at(0.0));
        let above = Scale::differences([110_000.0, 120_000.0], PLACE);
        assert_eq!(above.ticks.first(), Some(&0.0));
        assert!(
            Scale::differences([f64::MAX, f64::NAN, 0.0], PLACE)
                .ticks
                .len()
                > 1
        );
    }

    #[test]
    fn an_axis_without_numbers_is_still_an_axis() {
        assert_eq!(Scale::fit([], 1000.0, PLACE).ticks.first(), Some(&0.0));
        assert!(Scale::fit([f64::NAN, -1.0], 1000.0, PLACE).at(0.5) >= 100.0);
    }

    fn measured() -> impl Strategy<Value = Vec<f64>> {
        (1e-3..1e9).prop_flat_map(|scale| {
            prop::collection::vec(prop_oneof![Just(0.0), 0.5..1.0, 1e-6..1e3], 1..30)
                .prop_map(move |values| values.into_iter().map(|value| value * scale).collect())
        })
    }

    proptest! {
        #[test]
        fn ticks_rise_and_enclose_all_values(values in measured(), binary: bool) {
            let scale = Scale::fit(values.clone(), if binary { 1024.0 } else { 1000.0 }, PLACE);
            prop_assert!(scale.ticks.windows(2).all(|pair| pair[0] < pair[1]));
            prop_assert!((2..=16).contains(&scale.ticks.len()), "{:?}", scale.ticks);
            let (first, last) = (scale.ticks[0], scale.ticks[scale.ticks.len() - 1]);
            // A rounding error from multiplying by the step does not belong on the axis.
            let slack = 1e-9 * last;
            prop_assert!(values.iter().all(|v| first <= v + slack && *v <= last + slack));
        }

        #[test]
        fn no_two_ticks_carry_the_same_number(values in measured()) {
            let numbers = |scale: &Scale, label: fn(f64) -> String| {
                let shown = scale.ticks.iter().map(|tick| label(*tick));
                shown.collect::<std::collections::BTreeSet<_>>().len()
            };
            let decimal = Scale::fit(values.clone(), 1000.0, PLACE);
            prop_assert_eq!(numbers(&decimal, units::micros), decimal.ticks.len());
            let ratios = Scale::ratios(values, PLACE);
            prop_assert_eq!(numbers(&ratios, units::ratio), ratios.ticks.len());
        }

        #[test]
        fn coordinates_stay_on_the_axis_and_keep_the_order(
            values in measured(), one in prop::num::f64::POSITIVE, other in prop::num::f64::POSITIVE
        ) {
            let scale = Scale::fit(values, 1000.0, PLACE);
            let (low, high) = (scale.at(one.min(other)), scale.at(one.max(other)));
            prop_assert!(PLACE.0 <= low && low <= high && high <= PLACE.1);
        }
    }
}
