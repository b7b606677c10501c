//! What is measured: the sweeps that load a subject, and the measures that are compared, each with
//! all that there is to know of it. What is shown and what is judged reads it here.

use serde::{Deserialize, Serialize};
pub use wasmbench_api::run::Metric;
use wasmbench_core::units;
use wasmbench_core::wire::record::Point;

/// The sweeps that load a subject.
#[derive(
    Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr,
)]
#[serde(rename_all = "camelCase")]
#[strum(serialize_all = "camelCase")]
pub enum Sweep {
    /// A fixed number of requests under very little load.
    WarmLatency,
    /// As many requests as the subject answers in a fixed time.
    Throughput,
    /// Requests at a fixed rate for a fixed time, whatever the answers do.
    OpenLoop,
}

/// What there is to know of a measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measure {
    /// The measure as a noun for people.
    pub noun: &'static str,
    /// The same at the head of a column.
    pub title: &'static str,
    /// Its unit in records and summaries.
    pub unit: Unit,
    /// Which of two is the better one.
    pub better: Better,
    /// What it says of a variant.
    pub says: Says,
    /// How people say that it differs.
    pub words: Words,
    /// What of it is judged.
    pub judged: Judged,
    /// Of so many requests one lies beyond it. A trial carries it when enough lie there.
    pub one_in: Option<u64>,
}

/// The unit of a measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Requests per second.
    PerSecond,
    /// Microseconds.
    Microseconds,
    /// Bytes.
    Bytes,
    /// A share of 1.
    Share,
}

/// What of a measure is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judged {
    /// The ratio.
    Ratio,
    /// The difference: the ratio depends on what is the cluster's in both.
    Difference,
    /// The ratio, and what differs by less than the smallest difference is equivalent all the same:
    /// a page or two more are a tenth of a small pod's memory.
    RatioOrDifference,
}

/// What a measure says of a variant: the words of its verdicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Says {
    /// How fast it is.
    HowFast,
    /// How much it uses.
    HowMuch,
}

/// How a difference in a measure is said: `more CPU`, `starts later`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Words {
    verb: &'static str,
    less: &'static str,
    more: &'static str,
}

impl Words {
    /// Of a time of which less is better, and nothing else is to be said.
    const SPEED: Self = Self {
        verb: "",
        less: "faster",
        more: "slower",
    };
    const RATE: Self = Self {
        verb: "",
        less: "fewer requests/s",
        more: "more requests/s",
    };
    const CPU: Self = Self {
        verb: "",
        less: "less CPU",
        more: "more CPU",
    };
    const MEMORY: Self = Self {
        verb: "",
        less: "less memory",
        more: "more memory",
    };
    const SUCCESS: Self = Self {
        verb: "",
        less: "fewer succeed",
        more: "more succeed",
    };
    const START: Self = Self {
        verb: "starts",
        less: "sooner",
        more: "later",
    };

    /// That there is more of it, or less, and `by` how much where that is known: `at least 44 %
    /// slower`, `starts at least 150 ms later`.
    pub fn said(self, is_more: bool, by: Option<&str>) -> String {
        let word = if is_more { self.more } else { self.less };
        let parts = [self.verb, by.unwrap_or_default(), word];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        parts.join(" ")
    }
}

/// Which of two numbers is the better one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// The larger one.
    More,
    /// The smaller one.
    Less,
}

impl Unit {
    /// A difference in this unit, for people: `+185 ms`.
    pub fn shown_difference(self, value: f64) -> String {
        let sign = if value < 0.0 { '-' } else { '+' };
        let size = value.abs();
        match self {
            // Of shares, percent would be taken for a part of them.
            Self::Share => format!("{sign}{} points", units::exact_percent(size)),
            Self::PerSecond | Self::Microseconds | Self::Bytes => {
                format!("{sign}{}", self.shown(size))
            }
        }
    }

    /// A number in this unit, for people.
    pub fn shown(self, value: f64) -> String {
        match self {
            Self::PerSecond => format!("{}/s", units::rate(value)),
            Self::Microseconds => units::micros(value),
            Self::Bytes => units::bytes(value),
            Self::Share => format!("{} %", units::exact_percent(value)),
        }
    }
}

/// A measure of which less is better, and which a single request may carry.
const fn measure(noun: &'static str, title: &'static str, unit: Unit) -> Measure {
    Measure {
        noun,
        title,
        unit,
        better: Better::Less,
        says: match unit {
            Unit::Bytes | Unit::Share => Says::HowMuch,
            Unit::PerSecond | Unit::Microseconds => Says::HowFast,
        },
        words: match unit {
            Unit::PerSecond => Words::RATE,
            Unit::Microseconds => Words::SPEED,
            Unit::Bytes => Words::MEMORY,
            Unit::Share => Words::SUCCESS,
        },
        judged: match unit {
            Unit::Bytes => Judged::RatioOrDifference,
            Unit::Share => Judged::Difference,
            Unit::PerSecond | Unit::Microseconds => Judged::Ratio,
        },
        one_in: None,
    }
}

/// The table of measures.
pub trait Measured: Sized + Copy {
    /// What there is to know of it.
    fn measure(self) -> Measure;

    /// The measure as a noun for people.
    fn noun(self) -> &'static str {
        self.measure().noun
    }

    /// The measure at a point, as a noun: `p99 from the schedule at 90 % of the peak`. The number
    /// of connections goes without saying: throughput is compared at one.
    fn at(self, point: Point) -> String {
        let noun = self.noun();
        match point {
            Point::OpenLoop { percent_of_peak } => {
                format!("{noun} at {percent_of_peak} % of the peak")
            }
            Point::ColdStart { concurrency } if concurrency > 1 => {
                format!("{noun} ({concurrency} pods at once)")
            }
            Point::ColdStart { .. }
            | Point::WarmLatency
            | Point::Throughput { .. }
            | Point::Density => noun.to_owned(),
        }
    }
}

impl Measured for Metric {
    fn measure(self) -> Measure {
        match self {
            Self::ThroughputRps => Measure {
                better: Better::More,
                ..measure("throughput", "Throughput", Unit::PerSecond)
            },
            Self::WarmP50 => measure("warm p50 latency", "Warm p50", Unit::Microseconds),
            Self::CpuPerRequest => Measure {
                says: Says::HowMuch,
                words: Words::CPU,
                ..measure("CPU per request", "CPU/req", Unit::Microseconds)
            },
            Self::Memory => measure("memory", "Memory", Unit::Bytes),
            Self::Succeeded => Measure {
                better: Better::More,
                ..measure("requests that succeed", "Succeeded", Unit::Share)
            },
            Self::ColdStartListening => Measure {
                judged: Judged::Difference,
                words: Words::START,
                ..measure("cold start to listening", "Listening", Unit::Microseconds)
            },
            Self::ColdStartAnswer => Measure {
                judged: Judged::Difference,
                words: Words::START,
                ..measure("cold start to first answer", "Answer", Unit::Microseconds)
            },
            Self::OpenLoopP50 => measure(
                "p50 from the schedule",
                "p50 from schedule",
                Unit::Microseconds,
            ),
            Self::OpenLoopP99 => Measure {
                one_in: Some(100),
                ..measure(
                    "p99 from the schedule",
                    "p99 from schedule",
                    Unit::Microseconds,
                )
            },
            Self::MemoryPerInstance => measure("memory per instance", "Per instance", Unit::Bytes),
        }
    }
}
