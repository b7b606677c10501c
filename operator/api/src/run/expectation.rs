//! What must hold for the condition `Passed`.

use kube::KubeSchema;
use serde::{Deserialize, Serialize};

use crate::run::metric::{BoundUnit, Metric};
use crate::validation;

/// Pattern of a bound: a ratio, or a difference with its unit.
const BOUND: &str = r"^([0-9]{1,4}(\.[0-9]{1,6})?|[+-]?[0-9]{1,6}(\.[0-9]{1,3})?(ms|%))$";

/// A bound on how a variant compares with the baseline, e.g. at least 0.8 of its throughput, or at
/// most 20 ms more for a cold start.
#[serde_with::skip_serializing_none]
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new(validation::BOUND_RULE).message(validation::BOUND_MESSAGE),
    validation = Rule::new(validation::BOUND_UNIT_RULE).message(validation::BOUND_UNIT_MESSAGE)
)]
pub struct RatioExpectation {
    /// Name in the condition and the report: lower-case letters, digits and dashes, at most 40.
    #[schemars(
        length(min = 1, max = 40),
        regex(pattern = r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?$")
    )]
    pub name: String,

    /// What is compared.
    pub metric: Metric,

    /// Name of the variant.
    #[schemars(length(min = 1, max = 40))]
    pub variant: String,

    /// Name of the workload.
    #[schemars(length(min = 1, max = 40))]
    pub workload: String,

    /// What the variant is compared with. Only the baseline for now, which is also the default.
    #[schemars(length(min = 1, max = 40))]
    pub relative_to: Option<String>,

    /// The smallest ratio to the baseline that is good enough, as a decimal number in quotes such
    /// as `"0.8"`. For throughput, where more is better. Of `succeeded`, the smallest difference in
    /// percentage points: `-0.5%` lets half a point fewer requests succeed. Of cold starts, the
    /// smallest difference in milliseconds.
    #[schemars(length(max = 13), regex(pattern = BOUND))]
    pub at_least: Option<String>,

    /// The largest ratio to the baseline that is good enough, e.g. `"1.25"`. For times, CPU and
    /// memory, where less is better. Of cold starts, the largest difference in milliseconds: `20ms`
    /// is 20 ms later than the baseline, `-5ms` is 5 ms sooner. Of `succeeded`, the largest
    /// difference in percentage points.
    #[schemars(length(max = 13), regex(pattern = BOUND))]
    pub at_most: Option<String>,
}

/// A bound as it is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// A ratio to the baseline: `0.8`.
    Ratio(f64),
    /// A difference to the baseline in milliseconds: `-5ms`.
    Milliseconds(f64),
    /// A difference to the baseline in percentage points: `-0.5%`.
    Points(f64),
}

impl Bound {
    /// Parses a bound. Returns `None` for what is none.
    pub fn parse(text: &str) -> Option<Self> {
        let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
        if let Some(milliseconds) = text.strip_suffix("ms") {
            number(milliseconds).map(Self::Milliseconds)
        } else if let Some(points) = text.strip_suffix('%') {
            number(points).map(Self::Points)
        } else {
            number(text).filter(|ratio| *ratio >= 0.0).map(Self::Ratio)
        }
    }

    /// Returns the unit in which it is written.
    pub const fn unit(self) -> BoundUnit {
        match self {
            Self::Ratio(_) => BoundUnit::Ratio,
            Self::Milliseconds(_) => BoundUnit::Milliseconds,
            Self::Points(_) => BoundUnit::Points,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_has_the_unit_that_its_text_names() {
        assert_eq!(Bound::parse("0.8"), Some(Bound::Ratio(0.8)));
        assert_eq!(Bound::parse("20ms"), Some(Bound::Milliseconds(20.0)));
        assert_eq!(Bound::parse("-5ms"), Some(Bound::Milliseconds(-5.0)));
        assert_eq!(Bound::parse("-0.5%"), Some(Bound::Points(-0.5)));
        for wrong in ["", "ms", "%", "-0.8", "half", "nan", "inf", "nanms", "5s"] {
            assert_eq!(Bound::parse(wrong), None, "{wrong}");
        }
    }
}
