//! The series of runs and schedules. All are gauges: each holds the latest value.

/// A value with its labels.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// What the value means.
    pub family: Family,
    /// Name and value of each label.
    pub labels: Vec<(&'static str, String)>,
    /// The value, in the unit of the family.
    pub value: f64,
}

/// Series with the same meaning and unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumIter)]
pub enum Family {
    /// The estimate of a ratio.
    Ratio,
    /// The lower bound of a ratio's confidence interval.
    RatioLower,
    /// The upper bound of a ratio's confidence interval.
    RatioUpper,
    /// The estimate of a difference in time.
    DifferenceSeconds,
    /// The lower bound of its confidence interval.
    DifferenceLowerSeconds,
    /// The upper bound of its confidence interval.
    DifferenceUpperSeconds,
    /// The estimate of a difference in a share of 1.
    DifferenceShare,
    /// The lower bound of its confidence interval.
    DifferenceLowerShare,
    /// The upper bound of its confidence interval.
    DifferenceUpperShare,
    /// A measured time.
    Seconds,
    /// A measured size.
    Bytes,
    /// A measured rate.
    RequestsPerSecond,
    /// A measured share of 1.
    Share,
    /// A measured count.
    Count,
    /// The condition `Trustworthy`.
    Trustworthy,
    /// The condition `Passed`.
    Passed,
    /// How long the run took.
    Duration,
    /// When a run of the schedule last succeeded.
    LastSuccess,
    /// The condition `Regressed`.
    Regressed,
    /// How many of the last runs in a row were untrustworthy.
    UntrustworthyRuns,
    /// Whether the last run failed.
    LastRunFailed,
}

impl Family {
    /// The name, without the prefix that all metrics share.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ratio => "run_ratio",
            Self::RatioLower => "run_ratio_lower",
            Self::RatioUpper => "run_ratio_upper",
            Self::DifferenceSeconds => "run_difference_seconds",
            Self::DifferenceLowerSeconds => "run_difference_lower_seconds",
            Self::DifferenceUpperSeconds => "run_difference_upper_seconds",
            Self::DifferenceShare => "run_difference_share",
            Self::DifferenceLowerShare => "run_difference_lower_share",
            Self::DifferenceUpperShare => "run_difference_upper_share",
            Self::Seconds => "run_measured_seconds",
            Self::Bytes => "run_measured_bytes",
            Self::RequestsPerSecond => "run_measured_requests_per_second",
            Self::Share => "run_measured_share",
            Self::Count => "run_measured_count",
            Self::Trustworthy => "run_trustworthy",
            Self::Passed => "run_passed",
            Self::Duration => "run_duration_seconds",
            Self::LastSuccess => "schedule_last_success_timestamp_seconds",
            Self::Regressed => "schedule_regressed",
            Self::UntrustworthyRuns => "schedule_untrustworthy_runs",
            Self::LastRunFailed => "schedule_last_run_failed",
        }
    }

    /// The help text.
    pub const fn help(self) -> &'static str {
        match self {
            Self::Ratio => "A measure of a variant as a multiple of the baseline's.",
            Self::RatioLower => "Lower end of the ratio's 95 % interval.",
            Self::RatioUpper => "Upper end of the ratio's 95 % interval.",
            Self::DifferenceSeconds => {
                "How much more time a variant's starts take than the baseline's."
            }
            Self::DifferenceShare => {
                "How many more requests of a variant succeed, as a share of 1."
            }
            Self::DifferenceLowerSeconds | Self::DifferenceLowerShare => {
                "Lower end of the difference's 95 % interval."
            }
            Self::DifferenceUpperSeconds | Self::DifferenceUpperShare => {
                "Upper end of the difference's 95 % interval."
            }
            Self::Seconds => "Measured time, the median over the blocks.",
            Self::Bytes => "Measured memory, the median over the blocks.",
            Self::RequestsPerSecond => "Measured throughput, the median over the blocks.",
            Self::Share => "Measured share of 1, the median over the blocks.",
            Self::Count => "Measured count, the median over the blocks.",
            Self::Trustworthy => "Whether the numbers of the run are trustworthy.",
            Self::Passed => "Whether the run met all of its expectations.",
            Self::Duration => "Time from the first trial to the report.",
            Self::LastSuccess => "When the last trustworthy run of the schedule ended.",
            Self::Regressed => "Whether a measure became worse and has stayed so.",
            Self::UntrustworthyRuns => "How many of the last runs in a row were untrustworthy.",
            Self::LastRunFailed => "Whether the last run was refused or not fully measured.",
        }
    }
}
