//! The workloads of the benchmark, the same for every gateway.
//!
//! | path | response |
//! |---|---|
//! | `/` | `hello` |
//! | `/echo?TEXT` | the text, or the body of a POST |
//! | `/compute?iters=N` | the digest of a chain of N SHA-256, in hexadecimal |
//! | `/blake3?iters=N` | the same with BLAKE3; about 100 ms by default |
//! | `/heavy?n=N` | the Fibonacci number N, by recursion |
//! | `/sleep?ms=N` | `slept`, N milliseconds later; other requests are served meanwhile |
//! | `/mixed?seed=N` | `mixed`, after the work of `/blake3` or of `/sleep`, as drawn for this request |
//! | `/json?orders=N` | what each customer owes, from a document of N orders, as JSON |
//! | `/state` | the number of requests for it so far, from 1 |
//! | `/health` | `ok`, never transformed |
//! | `/engine` | how the gateway executes, as JSON, never transformed |
//! | any other | the upstream's response |

mod compute;
mod orders;

use crate::children::ChildCommand;
use crate::message::{Request, Status};
use crate::service::{Failed, Kind, Outcome, Service};
use compute::{append_hex, blake3_chain, fibonacci};
use std::io::Write as _;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

pub use compute::sha256_chain;

/// A number in the query: its name, its value if absent, and its bounds.
struct Number {
    name: &'static str,
    default: u32,
    bounds: RangeInclusive<u32>,
}

/// As in the study. The longest chain takes 0.4 s with SHA instructions and 2 s without; nothing
/// else is served meanwhile.
const SHA256: Number = Number {
    name: "iters",
    default: 20_000,
    bounds: 0..=5_000_000,
};
/// The study's work takes about 100 ms in native code.
const BLAKE3: Number = Number {
    name: "iters",
    default: 1_000_000,
    bounds: 0..=10_000_000,
};
/// As in the study; 40 takes a second.
const FIBONACCI: Number = Number {
    name: "n",
    default: 30,
    bounds: 0..=40,
};
/// As in the study.
const SLEEP: Number = Number {
    name: "ms",
    default: 300,
    bounds: 0..=60_000,
};
/// About 20 kB.
const ORDERS: Number = Number {
    name: "orders",
    default: 100,
    bounds: 0..=10_000,
};
const SEED: Number = Number {
    name: "seed",
    default: 1,
    bounds: 0..=u32::MAX,
};

/// The compiler's profile: a service built without optimisation measures something else.
pub const PROFILE: &str = if cfg!(debug_assertions) {
    "debug"
} else {
    "release"
};

/// What a gateway does to each response of a workload.
pub trait Transform {
    /// Replaces the body with the transformed one. After a failure the body's content does not
    /// matter.
    fn apply(&mut self, body: &mut Vec<u8>) -> Result<(), Failed>;

    /// The program that does this instead, in a process per response: [`Transform::apply`] is then
    /// not called.
    fn child(&self) -> Option<ChildCommand> {
        None
    }

    /// How this gateway executes, as a JSON object.
    fn describe(&self) -> String;
}

/// Leaves responses as they are.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unchanged;

impl Transform for Unchanged {
    fn apply(&mut self, _body: &mut Vec<u8>) -> Result<(), Failed> {
        Ok(())
    }

    fn describe(&self) -> String {
        format!(r#"{{"engine":"none","profile":"{PROFILE}"}}"#)
    }
}

/// The workloads, with each response passed through a [`Transform`].
#[derive(Debug)]
pub struct Workloads<T> {
    transform: T,
    /// Whether a child process does the transform's work.
    in_child: bool,
    // A single thread needs no atomic, but the study's workload has one, and its cost is the
    // workload.
    counter: AtomicU64,
    /// The position in the sequence of `/mixed`.
    drawn: u64,
}

impl<T: Transform> Workloads<T> {
    /// Workloads whose responses pass through `transform`.
    pub fn new(transform: T) -> Self {
        Self {
            in_child: transform.child().is_some(),
            transform,
            counter: AtomicU64::new(0),
            drawn: 0,
        }
    }

    /// The same workloads, at another position in the sequence of `/mixed`: where every request has
    /// workloads of its own, all of them would draw the first number.
    #[must_use]
    pub fn drawing_from(self, drawn: u64) -> Self {
        Self { drawn, ..self }
    }

    fn finished(&mut self, work: Work, body: &mut Vec<u8>) -> Outcome {
        match work {
            Work::Done => self.transformed(body),
            Work::Json => {
                let transformed = self.transformed(body);
                if let Outcome::Text(status) = transformed
                    && status.is_success()
                {
                    return Outcome::Json(status);
                }
                transformed
            }
            Work::Wait(time) => {
                let transformed = self.transformed(body);
                if let Outcome::Text(status) = transformed {
                    return Outcome::Later(status, time);
                }
                transformed
            }
            Work::Forward => Outcome::Forward,
        }
    }

    fn transformed(&mut self, body: &mut Vec<u8>) -> Outcome {
        match self.transform.apply(body) {
            Ok(()) => Outcome::Text(Status::OK),
            Err(failed) => {
                body.clear();
                body.extend_from_slice(failed.0.as_bytes());
                Outcome::Text(Status::INTERNAL_SERVER_ERROR)
            }
        }
    }
}

impl<T: Transform> Service for Workloads<T> {
    fn handle(&mut self, request: &Request, body: &mut Vec<u8>) -> Outcome {
        match request.path() {
            "/health" => {
                body.extend_from_slice(b"ok");
                return Outcome::Text(Status::OK);
            }
            "/engine" => {
                body.extend_from_slice(self.transform.describe().as_bytes());
                return Outcome::Json(Status::OK);
            }
            _ => {}
        }
        match self.work(request, body) {
            Ok(work) if self.in_child => for_child(work),
            Ok(work) => self.finished(work, body),
            Err(message) => {
                body.clear();
                body.extend_from_slice(message.as_bytes());
                Outcome::Text(Status::BAD_REQUEST)
            }
        }
    }

    fn child(&self) -> Option<ChildCommand> {
        self.transform.child()
    }

    fn change_forwarded(&mut self, body: &mut Vec<u8>) -> Result<(), Failed> {
        self.transform.apply(body)
    }
}

fn for_child(work: Work) -> Outcome {
    match work {
        Work::Done => Outcome::Child(Kind::Text, Duration::ZERO),
        Work::Json => Outcome::Child(Kind::Json, Duration::ZERO),
        Work::Wait(time) => Outcome::Child(Kind::Text, time),
        Work::Forward => Outcome::Forward,
    }
}

/// What remains to be done with the body of a response.
#[derive(Clone, Copy)]
enum Work {
    Done,
    Json,
    /// It is sent this much later.
    Wait(Duration),
    /// There is no body: the request goes to the upstream.
    Forward,
}

impl<T> Workloads<T> {
    fn work(&mut self, request: &Request, body: &mut Vec<u8>) -> Result<Work, String> {
        match request.path() {
            "/" => body.extend_from_slice(b"hello"),
            "/echo" => body.extend_from_slice(echoed(request)),
            "/compute" => append_hex(&sha256_chain(SHA256.read(request)?), body),
            "/blake3" => append_hex(&blake3_chain(BLAKE3.read(request)?), body),
            "/heavy" => {
                let number = fibonacci(FIBONACCI.read(request)?);
                // Writing to memory does not fail.
                let _ = write!(body, "{number}");
            }
            "/sleep" => {
                body.extend_from_slice(b"slept");
                return Ok(wait(SLEEP.read(request)?));
            }
            "/mixed" => {
                body.extend_from_slice(b"mixed");
                if self.draw(SEED.read(request)?) {
                    return Ok(wait(SLEEP.default));
                }
                std::hint::black_box(blake3_chain(BLAKE3.default));
            }
            "/json" => {
                accounts(ORDERS.read(request)?, body)?;
                return Ok(Work::Json);
            }
            "/state" => {
                let count = self.counter.fetch_add(1, Ordering::Relaxed) + 1;
                let _ = write!(body, "{count}");
            }
            _ => return Ok(Work::Forward),
        }
        Ok(Work::Done)
    }

    /// Whether the next request of `/mixed` waits; the others compute. The sequence depends only on
    /// the seed.
    fn draw(&mut self, seed: u32) -> bool {
        self.drawn = self.drawn.wrapping_add(1);
        // The finalizer of SplitMix64: neighbouring inputs give unrelated bits.
        let mut mixed = (u64::from(seed) << 32).wrapping_add(self.drawn);
        mixed = mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) & 1 == 0
    }
}

/// The document is made anew for each request: keeping it would favour instances that outlive one
/// request.
fn accounts(orders: u32, body: &mut Vec<u8>) -> Result<(), String> {
    orders::accounts(&orders::document(orders), body).map_err(|error| error.to_string())
}

fn wait(milliseconds: u32) -> Work {
    Work::Wait(Duration::from_millis(milliseconds.into()))
}

fn echoed(request: &Request) -> &[u8] {
    match request.target.split_once('?') {
        _ if !request.body().is_empty() => request.body(),
        Some((_, text)) => text.as_bytes(),
        None => b"",
    }
}

impl Number {
    /// The number in `request`, or what is wrong with it.
    fn read(&self, request: &Request) -> Result<u32, String> {
        let Some(digits) = request.query(self.name) else {
            return Ok(self.default);
        };
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(format!("{} is not a number", self.name));
        }
        let number = digits.parse().unwrap_or(u32::MAX);
        if number > *self.bounds.end() {
            Err(format!("{} is more than {}", self.name, self.bounds.end()))
        } else {
            Ok(number)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer_to(workloads: &mut Workloads<Unchanged>, target: &str) -> (Outcome, String) {
        let request = Request {
            target: target.to_owned(),
            ..Request::default()
        };
        let mut body = Vec::new();
        let outcome = workloads.handle(&request, &mut body);
        (outcome, String::from_utf8(body).unwrap())
    }

    #[test]
    fn every_workload_gives_the_answer_of_its_table() {
        let mut workloads = Workloads::new(Unchanged);
        let text = Outcome::Text(Status::OK);
        for (target, body) in [
            ("/", "hello"),
            ("/echo?some=thing", "some=thing"),
            ("/heavy", "832040"),
            ("/heavy?n=10", "55"),
            ("/state", "1"),
            ("/state", "2"),
        ] {
            assert_eq!(
                answer_to(&mut workloads, target),
                (text, body.to_owned()),
                "{target}"
            );
        }
        let (outcome, body) = answer_to(&mut workloads, "/json?orders=3");
        assert_eq!(outcome, Outcome::Json(Status::OK));
        assert!(body.starts_with("{\"customer-"), "{body}");
        assert_eq!(answer_to(&mut workloads, "/elsewhere").0, Outcome::Forward);
    }

    #[test]
    fn sleep_is_answered_later() {
        let mut workloads = Workloads::new(Unchanged);
        let later = |ms| Outcome::Later(Status::OK, Duration::from_millis(ms));
        assert_eq!(answer_to(&mut workloads, "/sleep").0, later(300));
        assert_eq!(answer_to(&mut workloads, "/sleep?ms=7").0, later(7));
    }

    #[test]
    fn mixed_draws_half_of_each_and_repeats_with_the_same_seed() {
        let draws = |seed| {
            let mut workloads = Workloads::new(Unchanged);
            (0..1000).map(|_| workloads.draw(seed)).collect::<Vec<_>>()
        };
        let waits = draws(1).into_iter().filter(|wait| *wait).count();
        assert!((450..=550).contains(&waits), "{waits} of 1000");
        assert_eq!(draws(7), draws(7));
        assert_ne!(draws(7), draws(8));
    }

    #[test]
    fn a_number_out_of_bounds_is_named() {
        let mut workloads = Workloads::new(Unchanged);
        let wrong = (
            Outcome::Text(Status::BAD_REQUEST),
            "n is more than 40".to_owned(),
        );
        assert_eq!(answer_to(&mut workloads, "/heavy?n=41"), wrong);
        let (_, message) = answer_to(&mut workloads, "/sleep?ms=soon");
        assert_eq!(message, "ms is not a number");
    }

    #[test]
    fn mixed_waits_at_half_of_the_starting_places() {
        let waits =
            (0..1000).filter(|&place| Workloads::new(Unchanged).drawing_from(place).draw(1));
        let waits = waits.count();
        assert!((450..=550).contains(&waits), "{waits}");
        // The sequence has no end.
        let _ = Workloads::new(Unchanged).drawing_from(u64::MAX).draw(1);
    }
}
