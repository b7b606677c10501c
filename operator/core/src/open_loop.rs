//! A load on a schedule: which request is due when, and what its requests took counted from there.
//! The schedule is the one that fortio keeps with `-qps`, `-uniform` and a number of requests: they
//! go over the connections in turn, evenly spaced. Pure; the probe runs the load, the results read
//! what comes out.

use crate::wire::open_loop::{OpenLoopWindow, Quantiles};

/// Requests of one window: so many lines of its log take 110 MB of the probe's memory.
pub const MOST_REQUESTS: u32 = 1_000_000;
/// A window below this share of the rate that was asked for measures another load than it says.
pub const LEAST_ACHIEVED: f64 = 0.98;
/// fortio gives each connection at least two requests.
const LEAST_PER_CONNECTION: u32 = 2;
/// p99.9 needs ten requests beyond it, as every percentile does.
const CARRIES_P999: usize = 10_000;

/// Which request is due when: request `round` of connection `connection` at `round x connections +
/// connection` intervals after the start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    rps: f64,
    connections: u32,
    per_connection: u32,
}

impl Schedule {
    /// `rps` requests per second for `seconds`, or for as long as [`MOST_REQUESTS`] last, over at
    /// most `connections`. `None` for a rate that gives no two requests.
    pub fn new(rps: f64, connections: u32, seconds: u32) -> Option<Self> {
        let asked = (rps * f64::from(seconds)).min(f64::from(MOST_REQUESTS));
        if !rps.is_finite() || asked < f64::from(LEAST_PER_CONNECTION) {
            return None;
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 2 and a million"
        )]
        let asked = asked as u32;
        let connections = connections.clamp(1, asked / LEAST_PER_CONNECTION);
        Some(Self {
            rps,
            connections,
            per_connection: asked / connections,
        })
    }

    /// Requests per second.
    pub fn rps(&self) -> f64 {
        self.rps
    }

    /// Connections that take turns.
    pub fn connections(&self) -> u32 {
        self.connections
    }

    /// Requests in all; as many for each connection.
    pub fn requests(&self) -> u32 {
        self.connections * self.per_connection
    }

    /// Seconds from the start to the end of the last request's interval.
    pub fn seconds(&self) -> f64 {
        f64::from(self.requests()) / self.rps
    }

    /// Nanoseconds from the start to when a request is due.
    fn due(&self, request: &Sent) -> f64 {
        let turn = f64::from(request.round) * f64::from(self.connections);
        (turn + f64::from(request.connection)) / self.rps * 1e9
    }
}

/// One request as it was sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sent {
    /// Its connection, counted from 0.
    pub connection: u32,
    /// Which request of the connection it was, counted from 0.
    pub round: u32,
    /// When it was sent, in nanoseconds after the start of the schedule.
    pub at_nanoseconds: f64,
    /// From there to its answer, in nanoseconds.
    pub service_nanoseconds: f64,
}

/// The log does not hold every request of the schedule exactly once.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("the log of requests has {seen} of {planned} requests, or one of them twice")]
pub struct NotTheSchedule {
    /// Requests in the log.
    pub seen: usize,
    /// Requests of the schedule.
    pub planned: u32,
}

/// What the requests of `schedule` took, in any order.
///
/// A request is sent when it is due and its connection is free. The *latency from the schedule* is
/// that of a generator which keeps this to the letter: each connection is replayed with the service
/// times that were seen, so that a request begins when it is due or when the answer before it has
/// come, whichever is later. What the request took longer than that, the generator was late by: its
/// timers fire late, and it waits for a CPU as others do.
pub fn measured(
    schedule: &Schedule,
    mut sent: Vec<Sent>,
) -> Result<OpenLoopWindow, NotTheSchedule> {
    sent.sort_unstable_by_key(|request| (request.connection, request.round));
    let expected = (0..schedule.connections)
        .flat_map(|connection| (0..schedule.per_connection).map(move |round| (connection, round)));
    let found = sent
        .iter()
        .map(|request| (request.connection, request.round));
    if !found.eq(expected) {
        return Err(NotTheSchedule {
            seen: sent.len(),
            planned: schedule.requests(),
        });
    }
    let replayed = replay(schedule, &sent);
    let waited = replayed.iter().filter(|times| times.waited > 0.0).count();
    let of = |time: fn(&Times) -> f64| quantiles(replayed.iter().map(time).collect());
    Ok(OpenLoopWindow {
        connections: schedule.connections,
        requested_rps: schedule.rps,
        achieved_share: achieved(schedule, &sent),
        requests: u64::try_from(replayed.len()).unwrap_or(u64::MAX),
        waited_share: waited as f64 / replayed.len().max(1) as f64,
        service: of(|times| times.service),
        from_schedule: of(|times| times.waited + times.service),
        generator_delay: of(|times| times.generator),
        ..OpenLoopWindow::default()
    })
}

/// The times of one request, in nanoseconds.
struct Times {
    /// For its connection.
    waited: f64,
    service: f64,
    /// What the generator added.
    generator: f64,
}

/// Every connection with a generator that is never late, without its first request, which opens it.
fn replay(schedule: &Schedule, sent: &[Sent]) -> Vec<Times> {
    let mut free = 0.0_f64;
    let mut all = Vec::with_capacity(sent.len());
    for request in sent {
        if request.round == 0 {
            free = 0.0;
        }
        let due = schedule.due(request);
        let begins = due.max(free);
        free = begins + request.service_nanoseconds;
        if request.round > 0 {
            all.push(Times {
                waited: begins - due,
                service: request.service_nanoseconds,
                generator: (request.at_nanoseconds - begins).max(0.0),
            });
        }
    }
    all
}

/// How much of the rate was kept: the time after which the last request was due, divided by the
/// time after which the last one was sent.
fn achieved(schedule: &Schedule, sent: &[Sent]) -> f64 {
    let due = sent.iter().map(|request| schedule.due(request));
    let (due, at) = (
        due.fold(0.0, f64::max),
        sent.iter().map(|r| r.at_nanoseconds).fold(0.0, f64::max),
    );
    if at > 0.0 { (due / at).min(1.0) } else { 1.0 }
}

/// Percentiles of times in nanoseconds; zeros without any.
fn quantiles(mut times: Vec<f64>) -> Quantiles {
    times.sort_unstable_by(f64::total_cmp);
    let count = times.len();
    // Per mille: the rank of a percentile is a whole number then.
    let at = |per_mille: usize| {
        let rank = (count * per_mille).div_ceil(1000).max(1);
        let nanoseconds = times.get(rank - 1).copied().unwrap_or_default();
        (nanoseconds / 100.0).round() / 10.0
    };
    Quantiles {
        p50_microseconds: at(500),
        p90_microseconds: at(900),
        p99_microseconds: at(990),
        p999_microseconds: (count >= CARRIES_P999).then(|| at(999)),
        max_microseconds: at(1000),
    }
}

#[cfg(test)]
mod tests;
