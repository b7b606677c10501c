//! How far runs of the same thing differ.

use std::fmt;

use crate::share::share_of;

/// How far a variant shifts on its own from run to run: the standard deviation of the natural
/// logarithm of its ratio to the baseline in one measure, as a share. A single pair of runs cannot
/// show it, so it is stated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunScatter(f64);

/// The largest scatter that can be stated.
const MOST: f64 = 0.5;

impl RunScatter {
    /// Runs that differ by nothing but the scatter of their trials.
    pub const NONE: Self = Self(0.0);

    /// Parses a percentage from `0%` to `50%`. Returns `None` for anything else.
    pub fn parse(percent: &str) -> Option<Self> {
        let share = share_of(percent)?;
        (0.0..=MOST).contains(&share).then_some(Self(share))
    }

    /// Returns the scatter as a share (0.035 for 3.5 %).
    pub const fn share(self) -> f64 {
        self.0
    }
}

/// The largest scatter of rates and CPU per request that was measured: of the same run seven hours
/// apart, on the same machine and kernel, each scatters by 2.7 to 3.5 % beyond what its trials show,
/// by measure and baseline (gateway-report; docs/adr/0029-runs-scatter-by-a-stated-share.md).
impl Default for RunScatter {
    fn default() -> Self {
        Self(0.035)
    }
}

/// As users write it: `3.5%`.
impl fmt::Display for RunScatter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without the digits that multiplying by 100 adds.
        let percent = (self.0 * 1e5).round() / 1e3;
        write!(formatter, "{percent}%")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scatter_is_a_percentage_up_to_a_half() {
        let share = |text| RunScatter::parse(text).map(RunScatter::share);
        assert_eq!(share("0%"), Some(0.0));
        assert_eq!(share("2.5%"), Some(0.025));
        for wrong in ["51%", "-1%", "0.03", "3", "nan%", "inf%", ""] {
            assert_eq!(share(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_scatter_is_shown_as_it_is_written() {
        for text in ["0%", "2%", "3.5%", "0.7%", "14%"] {
            let shown = RunScatter::parse(text).map(|scatter| scatter.to_string());
            assert_eq!(shown.as_deref(), Some(text));
        }
        assert_eq!(RunScatter::default().to_string(), "3.5%");
    }
}
