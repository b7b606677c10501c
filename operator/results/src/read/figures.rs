//! Every figure that the load generator prints: whether it is read, and if not, why not. A test of
//! the probe compares the list with what the real generator prints.

/// What happens to a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// It is read here or by the probe.
    Read,
    /// It is not, for this reason.
    Unread(&'static str),
}

use Use::{Read, Unread};

const REQUESTED: Use = Unread("it repeats what was requested");
const COMPUTED: Use = Unread("it is computed from the buckets, over all runs of a window");
const UNUSED: Use = Unread("nothing is put into it");
const SPREAD: Use = Unread("a mean and a deviation of a skewed distribution mean little");

/// All figures, in the order in which they are printed; `[]` stands for each item of a list, `*`
/// for each key of a map.
pub const FIGURES: [(&str, Use); 55] = [
    ("RunType", REQUESTED),
    ("Labels", UNUSED),
    ("StartTime", Read),
    ("RequestedQPS", REQUESTED),
    ("RequestedDuration", REQUESTED),
    ("ActualQPS", Unread("it counts failed requests, too")),
    ("ActualDuration", Read),
    ("NumThreads", Read),
    ("Version", Read),
    ("DurationHistogram.Count", Read),
    ("DurationHistogram.Min", Unread("one request decides it")),
    ("DurationHistogram.Max", Unread("one request decides it")),
    ("DurationHistogram.Sum", Read),
    ("DurationHistogram.Avg", COMPUTED),
    ("DurationHistogram.StdDev", SPREAD),
    ("DurationHistogram.Data[].Start", Read),
    ("DurationHistogram.Data[].End", Read),
    ("DurationHistogram.Data[].Percent", COMPUTED),
    ("DurationHistogram.Data[].Count", Read),
    ("DurationHistogram.Percentiles[].Percentile", COMPUTED),
    ("DurationHistogram.Percentiles[].Value", COMPUTED),
    ("ErrorsDurationHistogram.Count", Read),
    (
        "ErrorsDurationHistogram.Min",
        Unread("one request decides it"),
    ),
    (
        "ErrorsDurationHistogram.Max",
        Unread("one request decides it"),
    ),
    (
        "ErrorsDurationHistogram.Sum",
        Unread("how long failures took is compared nowhere"),
    ),
    ("ErrorsDurationHistogram.Avg", COMPUTED),
    ("ErrorsDurationHistogram.StdDev", SPREAD),
    ("ErrorsDurationHistogram.Data[].Start", Read),
    ("ErrorsDurationHistogram.Data[].End", Read),
    ("ErrorsDurationHistogram.Data[].Percent", COMPUTED),
    ("ErrorsDurationHistogram.Data[].Count", Read),
    ("ErrorsDurationHistogram.Percentiles[].Percentile", COMPUTED),
    ("ErrorsDurationHistogram.Percentiles[].Value", COMPUTED),
    ("Exactly", REQUESTED),
    ("Jitter", REQUESTED),
    ("Uniform", REQUESTED),
    ("NoCatchUp", REQUESTED),
    ("RunID", UNUSED),
    ("AccessLoggerInfo", REQUESTED),
    ("ID", Unread("the record has a name of its own")),
    ("RetCodes.*", Read),
    ("Seen.Connections", Read),
    (
        "Seen.Announced",
        Unread("whether an end was announced changes no number"),
    ),
    ("Seen.Resent", Read),
    ("Seen.Failures.closed", Read),
    ("Seen.Failures.cut", Read),
    ("Seen.Failures.excess", Read),
    ("Seen.Failures.malformed", Read),
    ("Seen.Failures.noPort", Read),
    ("Seen.Failures.notConnected", Read),
    ("Seen.Failures.timedOut", Read),
    ("Seen.Bytes.Count", Read),
    ("Seen.Bytes.Min", Read),
    ("Seen.Bytes.Max", Read),
    (
        "Seen.Bytes.Sum",
        Unread("the smallest and the largest size are reported"),
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::traffic::kind_text;

    #[test]
    fn every_kind_of_failure_has_words_for_people() {
        let kinds: Vec<&str> = FIGURES
            .iter()
            .filter_map(|(name, _)| name.strip_prefix("Seen.Failures."))
            .collect();
        assert_eq!(kinds.len(), 7);
        for kind in kinds {
            assert_ne!(kind_text(kind), kind);
        }
    }
}
