//! A value as a document has it: a number, the ends that its text states, or a bar without a number.

use serde::Deserialize;

/// A value of a document, in the unit of its table, or as a multiple of the base.
#[derive(Deserialize, Clone, Copy, Debug, PartialEq)]
#[serde(untagged)]
pub enum Printed {
    /// A number.
    Number(f64),
    /// The lowest and the highest that the text states: `8-20 %`.
    Range([f64; 2]),
    /// A bar or a curve without a printed number.
    Drawn,
}

impl Printed {
    /// The number, where there is one.
    pub fn number(self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(number),
            Self::Range(_) | Self::Drawn => None,
        }
    }

    /// With each number replaced, the lower end first; `None` where one has no replacement.
    pub fn map(self, convert: impl Fn(f64) -> Option<f64>) -> Option<Self> {
        match self {
            Self::Number(number) => convert(number).map(Self::Number),
            Self::Range([one, other]) => {
                let (one, other) = (convert(one)?, convert(other)?);
                Some(Self::Range([one.min(other), one.max(other)]))
            }
            Self::Drawn => Some(Self::Drawn),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_a_number_or_two_ends_or_drawn_only() {
        let read = |text: &str| serde_yaml::from_str::<Printed>(text).unwrap();
        assert_eq!(read("20"), Printed::Number(20.0));
        assert_eq!(read("[8, 20.5]"), Printed::Range([8.0, 20.5]));
        assert_eq!(read("~"), Printed::Drawn);
        assert!(serde_yaml::from_str::<Printed>("about 20").is_err());
    }

    #[test]
    fn the_lower_end_stays_first() {
        let less = |percent: f64| Some(1.0 - percent / 100.0);
        let range = Printed::Range([0.0, 25.0]).map(less);
        assert_eq!(range, Some(Printed::Range([0.75, 1.0])));
        assert_eq!(Printed::Drawn.map(less), Some(Printed::Drawn));
        assert_eq!(Printed::Range([1.0, 2.0]).map(|_| None), None);
    }
}
