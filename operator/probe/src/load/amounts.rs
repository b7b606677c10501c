//! The amount of load in each part of a trial. Pure.

use std::time::Duration;

use wasmbench_model::wire::request::{
    DEFAULT_REQUESTS, FEWEST_REQUESTS, LEAST_SECONDS, LEAST_WARMUP_MILLISECONDS, Load,
    MOST_SECONDS, REQUEST_TIMEOUT,
};

use crate::generator::task::Amount;

/// Warm-up if none was requested: it is still needed to choose the histogram's buckets.
const SHORTEST: (Amount, Amount) = (
    Amount::Requests(50),
    Amount::Time(Duration::from_millis(300)),
);
/// A warm-up of this many requests or seconds is divided, so that the buckets are chosen anew and
/// the rate is read once compilers and caches have settled. In a shorter one, the parts would show
/// nothing.
const DIVIDED: (u32, u32) = (40, 2);
/// Parts of a divided warm-up in seconds. Up to twice as many may be added until the rate has
/// settled.
const PARTS: u32 = 3;
/// Added to a warm-up of requests, because a fast subject answers those in a moment.
const SETTLING: Amount = Amount::Time(Duration::from_millis(250));
/// Most such parts that are added.
const SETTLING_PARTS: usize = 6;
/// Runs of the generator in a window.
const WINDOW_PARTS: u32 = 4;
/// Fewest requests per connection in a part of a window: opening connections must not dominate.
const REQUESTS_OF_PART: u32 = 25;
/// Time for all load of a trial with a number of requests; the operator stops the probe one minute
/// later.
const REQUESTS_BUDGET: Duration = Duration::from_mins(10);
/// Time for starting the generator, and for requests that time out at the end of a run.
const SLACK: Duration = Duration::from_secs(40);

/// The parts of a trial's load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Amounts {
    /// Discarded, one after the other; at least one.
    pub warmup: Vec<Amount>,
    /// Also discarded; run one by one while the rate still changes or `least` has not passed. Empty
    /// if the parts of the warm-up are too short to tell.
    pub settling: Vec<Amount>,
    /// The shortest warm-up.
    pub least: Duration,
    /// The timed window.
    pub timed: Timed,
    /// Time for everything, including both repeats of the window.
    pub budget: Duration,
}

/// The timed window as requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timed {
    /// A duration.
    Time(Duration),
    /// A number of requests, but at least one second; `None` for enough to carry a p99, but at most
    /// ten seconds, unless that is too few to carry a p50.
    Requests(Option<u32>),
}

impl Timed {
    /// The requested length; `None` where a number of requests was requested.
    pub fn requested_nanoseconds(self) -> Option<u64> {
        match self {
            Self::Time(time) => u64::try_from(time.as_nanos()).ok(),
            Self::Requests(_) => None,
        }
    }

    /// Returns the window for a subject that answered at `rps` requests per second when it was
    /// warm. If that many requests would take too little or too much time, the window is a
    /// duration, which a sudden slowdown of the subject cannot extend.
    pub fn at(self, rps: f64) -> Amount {
        let requested = match self {
            Self::Time(time) => return Amount::Time(time),
            Self::Requests(requested) => requested,
        };
        let requests = requested.unwrap_or(DEFAULT_REQUESTS);
        let seconds = f64::from(requests) / rps;
        if seconds < f64::from(LEAST_SECONDS) {
            Amount::Time(Duration::from_secs(LEAST_SECONDS.into()))
        } else if seconds > f64::from(MOST_SECONDS) && requested.is_none() {
            // With twice as many to spare: a rate that is read from a warm-up is not exact.
            if rps * f64::from(MOST_SECONDS) < f64::from(2 * FEWEST_REQUESTS) {
                return Amount::Requests(FEWEST_REQUESTS);
            }
            Amount::Time(Duration::from_secs(MOST_SECONDS.into()))
        } else {
            Amount::Requests(requests)
        }
    }
}

impl Amounts {
    /// Divides the requested load into parts.
    pub fn from_load(load: Load) -> Self {
        match load {
            Load::Requests {
                requests,
                warmup_requests,
            } => Self {
                warmup: match warmup_requests {
                    0 => vec![SHORTEST.0],
                    few if few < DIVIDED.0 => vec![Amount::Requests(few)],
                    n => vec![Amount::Requests(n / 2), Amount::Requests(n - n / 2)],
                },
                settling: match warmup_requests {
                    0 => vec![],
                    _ => vec![SETTLING; SETTLING_PARTS],
                },
                least: Duration::from_millis(LEAST_WARMUP_MILLISECONDS.into()),
                timed: Timed::Requests(requests),
                budget: REQUESTS_BUDGET,
            },
            Load::Duration {
                seconds,
                warmup_seconds,
            } => {
                let timed = Duration::from_secs(seconds.into());
                let warmup = Duration::from_secs(warmup_seconds.into());
                Self::of_time(timed, warmup_seconds, 3 * (timed + warmup))
            }
            Load::OpenLoop {
                seconds,
                warmup_seconds,
                ..
            } => {
                let timed = Duration::from_secs(seconds.into());
                let before = Duration::from_secs((3 * warmup_seconds).into());
                // Two windows, each of which may take twice its time.
                Self::of_time(timed, warmup_seconds, before + 4 * timed)
            }
        }
    }

    fn of_time(timed: Duration, warmup_seconds: u32, longest: Duration) -> Self {
        let warmup = Duration::from_secs(warmup_seconds.into());
        let part = Amount::Time(warmup / PARTS);
        let divided = warmup_seconds >= DIVIDED.1;
        Self {
            warmup: match warmup_seconds {
                0 => vec![SHORTEST.1],
                few if few < DIVIDED.1 => vec![Amount::Time(warmup)],
                _ => vec![part; PARTS as usize],
            },
            settling: if divided {
                vec![part; 2 * PARTS as usize]
            } else {
                vec![]
            },
            least: Duration::ZERO,
            timed: Timed::Time(timed),
            budget: longest + SLACK,
        }
    }
}

/// Returns the parts of a window, the first one separately: consecutive runs of the generator, so that a
/// change of rate within the window is seen. If the subject is so slow that a part would hold few
/// requests per connection, the window is not divided.
pub fn parts_of(window: Amount, rps: f64, connections: u32) -> (Amount, Vec<Amount>) {
    let requests = match window {
        Amount::Requests(requests) => f64::from(requests),
        Amount::Time(time) => rps * time.as_secs_f64(),
    };
    let few = f64::from(REQUESTS_OF_PART) * f64::from(connections) * f64::from(WINDOW_PARTS);
    if requests < few || requests.is_nan() {
        return (window, vec![]);
    }
    let others = WINDOW_PARTS - 1;
    match window {
        Amount::Requests(requests) => {
            let part = requests / WINDOW_PARTS;
            let first = Amount::Requests(requests - part * others);
            (first, vec![Amount::Requests(part); others as usize])
        }
        Amount::Time(time) => {
            let part = Amount::Time(time / WINDOW_PARTS);
            (part, vec![part; others as usize])
        }
    }
}

/// Time limit for one run of the generator. `per_request` is how long a request took before.
pub fn limit(amount: Amount, connections: u32, per_request: Duration) -> Duration {
    match amount {
        // The warm-up request of each connection before the window, and the last request of each,
        // may both run into their timeout.
        Amount::Time(time) => time + 2 * REQUEST_TIMEOUT + Duration::from_secs(5),
        Amount::Requests(requests) => {
            let rounds = requests.div_ceil(connections.max(1));
            // Requests that share the subject's CPU take longer than a lone one.
            let expected = per_request
                .saturating_mul(rounds)
                .saturating_mul(connections.max(1));
            (2 * REQUEST_TIMEOUT).saturating_add(expected.saturating_mul(4))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_empty_warm_up_is_a_short_calibration() {
        let amounts = Amounts::from_load(Load::Requests {
            requests: Some(300),
            warmup_requests: 0,
        });
        assert_eq!(amounts.warmup, [Amount::Requests(50)]);
        let amounts = Amounts::from_load(Load::Duration {
            seconds: 30,
            warmup_seconds: 0,
        });
        assert_eq!(amounts.warmup, [Amount::Time(Duration::from_millis(300))]);
    }

    #[test]
    fn a_window_of_requests_lasts_from_one_second_to_ten() {
        let at = |requested, rps| Timed::Requests(requested).at(rps);
        let seconds = |seconds| Amount::Time(Duration::from_secs(seconds));
        assert_eq!(at(Some(100), 10_000.0), seconds(1), "a fast subject");
        assert_eq!(
            at(Some(5000), 10.0),
            Amount::Requests(5000),
            "a slow one, as requested"
        );
        assert_eq!(at(None, 10.0), seconds(10), "a slow one");
        assert_eq!(at(None, 4.0), seconds(10), "a slower one");
        assert_eq!(at(None, 3.9), Amount::Requests(20), "a p50 is carried");
        assert_eq!(at(None, 0.5), Amount::Requests(20), "a p50 is carried");
        assert_eq!(at(None, 500.0), Amount::Requests(1000), "a p99 is carried");
        assert_eq!(
            at(None, f64::NAN),
            Amount::Requests(1000),
            "nothing is known of it"
        );
    }

    #[test]
    fn a_window_has_four_parts_where_each_holds_enough_requests() {
        let second = Amount::Time(Duration::from_secs(1));
        let quarter = Amount::Time(Duration::from_millis(250));
        assert_eq!(parts_of(second, 1000.0, 10), (quarter, vec![quarter; 3]));
        assert_eq!(parts_of(second, 999.0, 10), (second, vec![]));
        assert_eq!(parts_of(second, f64::NAN, 1), (second, vec![]));
    }

    proptest! {
        #[test]
        fn the_parts_of_a_window_are_the_window(requests in 1u32..1_000_000, connections in 1u32..2000) {
            let (first, others) = parts_of(Amount::Requests(requests), 1.0, connections);
            let all: u32 = others.iter().chain([&first]).map(|part| match part {
                Amount::Requests(requests) => *requests,
                Amount::Time(_) => 0,
            }).sum();
            prop_assert_eq!(all, requests);
        }

        #[test]
        fn a_warm_up_has_the_requested_number_of_requests(warmup_requests in 1u32..100_000) {
            let amounts = Amounts::from_load(Load::Requests { requests: Some(10), warmup_requests });
            let sum: u32 = amounts.warmup.iter().map(|part| match part {
                Amount::Requests(requests) => *requests,
                Amount::Time(_) => 0,
            }).sum();
            prop_assert_eq!(sum, warmup_requests);
        }

        #[test]
        fn a_warm_up_has_the_requested_length(warmup_seconds in 1u32..=120, seconds in 1u32..=600) {
            let amounts = Amounts::from_load(Load::Duration { seconds, warmup_seconds });
            let sum: Duration = amounts.warmup.iter().map(|part| match part {
                Amount::Time(time) => *time,
                Amount::Requests(_) => Duration::ZERO,
            }).sum();
            let requested = Duration::from_secs(warmup_seconds.into());
            prop_assert!(requested < sum + Duration::from_millis(1));
            let added: Duration = amounts.settling.iter().map(|part| match part {
                Amount::Time(time) => *time,
                Amount::Requests(_) => Duration::ZERO,
            }).sum();
            prop_assert!(added <= 2 * requested);
            // The operator stops a probe after three windows, three warm-ups and a minute.
            prop_assert!(amounts.budget <= 3 * (Duration::from_secs(seconds.into()) + requested)
                + Duration::from_mins(1));
        }
    }
}
