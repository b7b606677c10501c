//! On which scale numbers are compared.

/// Whether numbers are compared by their ratio or by their difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// By their ratio: as natural logarithms, where half and double are equally far from one.
    Ratio,
    /// By their difference: as they are, in their unit.
    Difference,
}

impl Scale {
    /// How a number compares with another: its ratio to it, or its difference from it.
    pub fn compare(self, number: f64, other: f64) -> f64 {
        match self {
            Self::Ratio => number / other,
            Self::Difference => number - other,
        }
    }

    /// A number, ratio or difference on the scale; not finite if it has no place there.
    pub fn transform(self, number: f64) -> f64 {
        match self {
            Self::Ratio => libm::log(number),
            Self::Difference => number,
        }
    }

    /// The number, ratio or difference at a place on the scale.
    pub fn inverse(self, place: f64) -> f64 {
        match self {
            Self::Ratio => libm::exp(place),
            Self::Difference => place,
        }
    }
}
