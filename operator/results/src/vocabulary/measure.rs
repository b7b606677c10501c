//! What is measured: the sweeps that load a subject, and the measures that are compared, each with
//! all its properties. Code that shows or judges measures reads them from here.

use serde::{Deserialize, Serialize};
pub use wasmbench_api::run::Metric;
use wasmbench_model::units;
use wasmbench_model::wire::record::Point;

use crate::statistics::Scale;

/// The sweeps that load a subject.
#[derive(
    Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr,
)]
#[serde(rename_all = "camelCase")]
#[strum(serialize_all = "camelCase")]
pub enum Sweep {
    /// A number of requests, for a minimum time, under very little load.
    WarmLatency,
    /// As many requests as the subject can answer in a fixed time.
    Throughput,
    /// Requests at a fixed rate for a fixed time, without waiting for responses.
    OpenLoop,
}

/// The properties of a measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measure {
    /// The measure as a noun for people.
    pub noun: &'static str,
    /// Its unit in records and summaries.
    pub unit: Unit,
    /// Which of two numbers is better.
    pub better: Better,
    /// What the measure shows of a variant.
    pub aspect: Aspect,
    /// How a difference is worded for people.
    pub words: Words,
    /// Whether its ratio or its difference is judged.
    pub judged: Judged,
    /// For a percentile: one request in this many lies beyond it. A trial needs enough requests
    /// there.
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
    /// A count; the noun says of what, and per what.
    Count,
}

/// Whether the ratio or the difference of a measure is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judged {
    /// The ratio.
    Ratio,
    /// The difference: the ratio depends on the part of both numbers that belongs to the cluster.
    Difference,
    /// The ratio, but numbers that differ by less than the smallest difference are also equivalent:
    /// a page or two more can be a tenth of a small pod's memory.
    RatioOrDifference,
}

impl Judged {
    /// The scale on which numbers are compared.
    pub const fn scale(self) -> Scale {
        match self {
            Self::Ratio | Self::RatioOrDifference => Scale::Ratio,
            Self::Difference => Scale::Difference,
        }
    }
}

/// What a measure shows of a variant; this determines the words of its verdicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aspect {
    /// How fast the variant is.
    HowFast,
    /// How much the variant uses.
    HowMuch,
}

/// How a difference in a measure is worded: `more CPU`, `starts later`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Words {
    verb: &'static str,
    less: &'static str,
    more: &'static str,
}

impl Words {
    /// For times where less is better and that need no words of their own.
    const SPEED: Self = Self::new("", "faster", "slower");
    const RATE: Self = Self::new("", "fewer requests/s", "more requests/s");
    const CPU: Self = Self::new("", "less CPU", "more CPU");
    const MEMORY: Self = Self::new("", "less memory", "more memory");
    const SUCCESS: Self = Self::new("", "fewer succeed", "more succeed");
    const START: Self = Self::new("starts", "sooner", "later");
    const COUNT: Self = Self::new("", "fewer", "more");
    const SWITCHES: Self = Self::new("", "fewer context switches", "more context switches");
    const FAULTS: Self = Self::new("", "fewer page faults", "more page faults");
    const SYSTEM: Self = Self::new("", "less CPU in the kernel", "more CPU in the kernel");
    const INSTANCES: Self = Self::new("makes instances", "faster", "slower");
    const USE: Self = Self::new("uses", "less of its CPUs", "more of its CPUs");

    const fn new(verb: &'static str, less: &'static str, more: &'static str) -> Self {
        Self { verb, less, more }
    }

    /// More or less in words, with the size of the difference if `by` is given: `at least 44 % slower`,
    /// `starts at least 150 ms later`.
    pub fn phrase(self, is_more: bool, by: Option<&str>) -> String {
        let word = if is_more { self.more } else { self.less };
        let parts: Vec<&str> = [self.verb, by.unwrap_or_default(), word]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect();
        parts.join(" ")
    }
}

/// Which of two numbers is better.
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
            // A percentage of a share would be read as a relative difference.
            Self::Share => format!("{sign}{} points", units::exact_percent(size)),
            Self::PerSecond | Self::Microseconds | Self::Bytes | Self::Count => {
                format!("{sign}{}", self.shown(size))
            }
        }
    }

    /// A difference with its interval, for people: `+185 ms (+183 ms to +187 ms)`; without the
    /// interval if there is none.
    pub fn difference_within(self, value: f64, interval: Option<(f64, f64)>) -> String {
        let value = self.shown_difference(value);
        match interval {
            Some((low, high)) => {
                let (low, high) = (self.shown_difference(low), self.shown_difference(high));
                format!("{value} ({low} to {high})")
            }
            None => value,
        }
    }

    /// A number in this unit, for people.
    pub fn shown(self, value: f64) -> String {
        match self {
            Self::PerSecond => format!("{}/s", units::rate(value)),
            Self::Microseconds => units::micros(value),
            Self::Bytes => units::bytes(value),
            Self::Share => format!("{} %", units::exact_percent(value)),
            Self::Count => units::rate(value),
        }
    }
}

/// A measure where less is better and that needs no minimum number of requests.
const fn measure(noun: &'static str, unit: Unit) -> Measure {
    Measure {
        noun,
        unit,
        better: Better::Less,
        aspect: match unit {
            Unit::Bytes | Unit::Share | Unit::Count => Aspect::HowMuch,
            Unit::PerSecond | Unit::Microseconds => Aspect::HowFast,
        },
        words: match unit {
            Unit::PerSecond => Words::RATE,
            Unit::Microseconds => Words::SPEED,
            Unit::Bytes => Words::MEMORY,
            Unit::Share => Words::SUCCESS,
            Unit::Count => Words::COUNT,
        },
        judged: match unit {
            Unit::Bytes => Judged::RatioOrDifference,
            Unit::Share => Judged::Difference,
            Unit::PerSecond | Unit::Microseconds | Unit::Count => Judged::Ratio,
        },
        one_in: None,
    }
}

/// The table of measures.
pub trait Measured: Sized + Copy {
    /// The properties of the measure.
    fn measure(self) -> Measure;

    /// The scale on which the measure is judged, within a run and between runs.
    fn scale(self) -> Scale {
        self.measure().judged.scale()
    }

    /// The measure as a noun for people.
    fn noun(self) -> &'static str {
        self.measure().noun
    }

    /// The measure at a point, as a noun: `p99 from the schedule at 200 requests/s`. Leaves out
    /// the number of connections, because throughput is compared at only one.
    fn at(self, point: Point) -> String {
        let noun = self.noun();
        match point {
            Point::OpenLoop { rate } => format!("{noun} at {rate}"),
            Point::ColdStart { concurrency } if concurrency > 1 => {
                format!("{noun} ({concurrency} pods at once)")
            }
            Point::ColdStart { .. }
            | Point::WarmLatency
            | Point::Throughput { .. }
            | Point::Capacity
            | Point::Payload
            | Point::Density
            | Point::Scout => noun.to_owned(),
        }
    }
}

impl Measured for Metric {
    fn measure(self) -> Measure {
        match self {
            Self::ThroughputRps => Measure {
                better: Better::More,
                ..measure("throughput", Unit::PerSecond)
            },
            Self::WarmP50 => measure("warm p50 latency", Unit::Microseconds),
            Self::CpuPerRequest => Measure {
                aspect: Aspect::HowMuch,
                words: Words::CPU,
                ..measure("CPU per request", Unit::Microseconds)
            },
            Self::Memory => measure("memory", Unit::Bytes),
            Self::Succeeded => Measure {
                better: Better::More,
                ..measure("requests that succeed", Unit::Share)
            },
            Self::ColdStartListening => Measure {
                judged: Judged::Difference,
                words: Words::START,
                ..measure("cold start to listening", Unit::Microseconds)
            },
            Self::ColdStartAnswer => Measure {
                judged: Judged::Difference,
                words: Words::START,
                ..measure("cold start to first answer", Unit::Microseconds)
            },
            Self::OpenLoopP50 => measure("p50 from the schedule", Unit::Microseconds),
            Self::OpenLoopP99 => Measure {
                one_in: Some(100),
                ..measure("p99 from the schedule", Unit::Microseconds)
            },
            Self::Capacity => Measure {
                better: Better::More,
                ..measure("capacity", Unit::PerSecond)
            },
            Self::PayloadCpuPerMegabyte => Measure {
                aspect: Aspect::HowMuch,
                words: Words::CPU,
                ..measure("CPU per MB of payload", Unit::Microseconds)
            },
            Self::PayloadFixedCpu => Measure {
                aspect: Aspect::HowMuch,
                words: Words::CPU,
                ..measure("CPU per request without its payload", Unit::Microseconds)
            },
            Self::MemoryPerInstance => measure("memory per instance", Unit::Bytes),
            Self::ContextSwitchesPerCpuSecond => Measure {
                words: Words::SWITCHES,
                ..measure("context switches per CPU second", Unit::Count)
            },
            Self::PageFaultsPerRequest => Measure {
                words: Words::FAULTS,
                ..measure("page faults per request", Unit::Count)
            },
            Self::SystemCpuPerRequest => Measure {
                aspect: Aspect::HowMuch,
                words: Words::SYSTEM,
                ..measure("CPU in the kernel per request", Unit::Microseconds)
            },
            Self::InstanceTimePerRequest => Measure {
                words: Words::INSTANCES,
                ..measure("instance time per request", Unit::Microseconds)
            },
            // Under a load that does not wait, CPUs that are left unused are time spent waiting.
            Self::CpuUse => Measure {
                better: Better::More,
                words: Words::USE,
                judged: Judged::Ratio,
                ..measure("CPU use", Unit::Share)
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use strum::IntoEnumIterator as _;
    use wasmbench_api::run::BoundUnit;

    use super::*;

    #[test]
    fn bounds_are_written_as_what_is_judged_in_its_unit() {
        for metric in Metric::iter() {
            let Measure { unit, judged, .. } = metric.measure();
            let bound = match (judged.scale(), unit) {
                (Scale::Ratio, _) => BoundUnit::Ratio,
                (Scale::Difference, Unit::Microseconds) => BoundUnit::Milliseconds,
                (Scale::Difference, Unit::Share) => BoundUnit::Points,
                (Scale::Difference, Unit::PerSecond | Unit::Bytes | Unit::Count) => {
                    panic!("no bound for {metric:?}")
                }
            };
            assert_eq!(metric.bound(), bound, "{metric:?}");
        }
    }
}
