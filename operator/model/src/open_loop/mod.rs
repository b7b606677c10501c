//! A load on a schedule: when each request is due, and its latency counted from then. The schedule
//! is the one that fortio's runner follows with a rate and a number of requests: the requests
//! are evenly spaced and use the connections in turn. Pure; the probe runs the load, and the
//! results read its output.

use crate::wire::open_loop::{OpenLoopWindow, Quantiles};

/// Most requests of one window: their log lines take 110 MB of the probe's memory.
pub const MOST_REQUESTS: u32 = 1_000_000;
/// A window that achieves less than this share of the requested rate measures a different load than
/// it claims.
pub const LEAST_ACHIEVED: f64 = 0.98;
/// fortio's runner gives each connection at least two requests.
const LEAST_PER_CONNECTION: u32 = 2;
/// Requests needed for p99.9: like every percentile, it needs ten requests beyond it.
const CARRIES_P999: usize = 10_000;

/// When each request is due: request `round` of connection `connection` is due `round x connections
/// + connection` intervals after the start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    rps: f64,
    connections: u32,
    per_connection: u32,
}

impl Schedule {
    /// `rps` requests per second for `seconds`, or for as long as [`MOST_REQUESTS`] last, over at
    /// most `connections`. `None` for a rate that yields fewer than two requests, or is not finite.
    pub fn new(rps: f64, connections: u32, seconds: u32) -> Option<Self> {
        let requested = (rps * f64::from(seconds)).min(f64::from(MOST_REQUESTS));
        if !rps.is_finite() || requested < f64::from(LEAST_PER_CONNECTION) {
            return None;
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 2 and a million"
        )]
        let requested = requested as u32;
        let connections = connections.clamp(1, requested / LEAST_PER_CONNECTION);
        Some(Self {
            rps,
            connections,
            per_connection: requested / connections,
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

    /// The total number of requests; each connection sends the same number.
    pub fn requests(&self) -> u32 {
        self.connections * self.per_connection
    }

    /// Seconds from the start to the end of the last request's interval.
    pub fn seconds(&self) -> f64 {
        f64::from(self.requests()) / self.rps
    }

    /// Nanoseconds from the start until a request is due.
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
    /// Time from then to its response, in nanoseconds.
    pub service_nanoseconds: f64,
    /// Whether the response was complete and had the expected status.
    pub as_expected: bool,
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

/// Computes the latencies of the requests of `schedule`, which may be in any order.
///
/// A request is sent as soon as it is due and its connection is free. The *latency from the
/// schedule* is that of a perfectly punctual generator: each connection is replayed with the
/// observed service times, so that a request begins when it is due or when the previous response
/// has arrived, whichever is later. Any time beyond that is the generator's own delay: its timers
/// fire late, and it waits for a CPU like other processes.
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
    // A service that sheds load answers at once that it does not: such answers show nothing about
    // how long an answer takes.
    let (expected, others): (Vec<&Times>, Vec<&Times>) =
        replayed.iter().partition(|times| times.as_expected);
    let from_schedule = |of: &[&Times]| {
        quantiles(
            of.iter()
                .map(|times| times.waited + times.service)
                .collect(),
        )
    };
    Ok(OpenLoopWindow {
        connections: schedule.connections,
        requested_rps: schedule.rps,
        achieved_share: achieved(schedule, &sent),
        requests: u64::try_from(replayed.len()).unwrap_or(u64::MAX),
        waited_share: waited as f64 / replayed.len().max(1) as f64,
        service: quantiles(expected.iter().map(|times| times.service).collect()),
        from_schedule: from_schedule(&expected),
        failed: u64::try_from(others.len()).unwrap_or(u64::MAX),
        failed_from_schedule: (!others.is_empty()).then(|| from_schedule(&others)),
        generator_delay: quantiles(replayed.iter().map(|times| times.generator).collect()),
    })
}

/// The times of one request, in nanoseconds.
struct Times {
    /// Waiting for its connection.
    waited: f64,
    service: f64,
    /// Delay that the generator added.
    generator: f64,
    as_expected: bool,
}

/// Replays every connection with a generator that is never late.
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
        all.push(Times {
            waited: begins - due,
            service: request.service_nanoseconds,
            generator: (request.at_nanoseconds - begins).max(0.0),
            as_expected: request.as_expected,
        });
    }
    all
}

/// How much of the rate was achieved: the time until the last request was due, divided by the time
/// until the last one was sent.
fn achieved(schedule: &Schedule, sent: &[Sent]) -> f64 {
    let due = sent.iter().map(|request| schedule.due(request));
    let (due, at) = (
        due.fold(0.0, f64::max),
        sent.iter().map(|r| r.at_nanoseconds).fold(0.0, f64::max),
    );
    if at > 0.0 { (due / at).min(1.0) } else { 1.0 }
}

/// Percentiles, in microseconds, of times in nanoseconds; zeros if there are no times.
fn quantiles(mut times: Vec<f64>) -> Quantiles {
    times.sort_unstable_by(f64::total_cmp);
    let count = times.len();
    // In per mille, so that every percentile is a whole number.
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
