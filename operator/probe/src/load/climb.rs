//! A climb: one window after the other, each at a higher rate, until the target is missed. Being behind
//! schedule is a result here: it says that the rate is above the subject's capacity.

use std::time::Instant;

use serde_json::Value;
use wasmbench_model::ladder::{self, Outcome};
use wasmbench_model::wire::document::{LoadDocument, Rung, TimedWindow};
use wasmbench_model::wire::failure::Failure;
use wasmbench_model::wire::request::Ladder;

use super::absent;
use super::scheduled::ScheduledLoad;
use super::timed::{Bench, Warm};
use super::window::Answered;
use crate::output::progress;

/// Climbs a ladder of rates, and notes its rungs. What is missing in the window of one is missing in all of
/// them. Returns whether any request was answered as expected.
pub fn climb(
    bench: &Bench<'_>,
    ladder: &Ladder,
    warm: &Warm,
    document: &mut LoadDocument,
) -> Result<Answered, Failure> {
    let (rungs, answered) = bench.climb(ladder, warm)?;
    if let Some(window) = rungs.iter().find_map(|rung| rung.window.as_ref()) {
        let missing = absent::reasons(window, document.cpus.as_ref(), bench);
        document.absent.extend(missing);
    }
    document.rungs = rungs;
    Ok(answered)
}

impl Bench<'_> {
    /// Climbs until the ladder ends or nothing is left to climb for, then tries rates next to the
    /// crossing, as long as there is time. Also returns whether any request was answered as expected. A
    /// noisy rung is not repeated: the rungs above it show whether the noise mattered.
    fn climb(&self, ladder: &Ladder, warm: &Warm) -> Result<(Vec<Rung>, Answered), Failure> {
        let mut rungs: Vec<Rung> = vec![];
        let mut answered: Answered = Err("nothing".to_owned());
        for rps in &ladder.rates {
            if !rungs.is_empty() && self.deadline <= Instant::now() {
                break;
            }
            let (rung, of_rung) = self.rung(*rps, ladder, warm)?;
            answered = answered.or(of_rung);
            rungs.push(rung);
            let outcomes = ladder::outcomes(&rungs, ladder.target);
            progress(text(outcomes.last()));
            if ladder::is_over(&outcomes) {
                break;
            }
        }
        for _ in 0..ladder::BETWEEN {
            let next = ladder::between(&rungs, ladder.target);
            let Some(rps) = next.filter(|_| Instant::now() < self.deadline) else {
                break;
            };
            let (rung, _) = self.rung(rps, ladder, warm)?;
            let place = rungs.partition_point(|other| other.requested_rps < rps);
            rungs.insert(
                place,
                Rung {
                    between: true,
                    ..rung
                },
            );
            let outcomes = ladder::outcomes(&rungs, ladder.target);
            progress(text(outcomes.get(place)));
        }
        Ok((rungs, answered))
    }

    fn rung(&self, rps: f64, ladder: &Ladder, warm: &Warm) -> Result<(Rung, Answered), Failure> {
        let seconds = ladder::seconds(rps, self.load.connections, ladder.seconds);
        let schedule = self.schedule(ScheduledLoad { rps, seconds })?;
        let rung = |window| Rung {
            requested_rps: rps,
            between: false,
            window,
        };
        let Some(window) = self.on_schedule(&schedule, warm)? else {
            progress("stopped: what was due took more than twice its time");
            return Ok((rung(None), Err("not in time".to_owned())));
        };
        let timed = TimedWindow {
            // Its counts and latencies are those of the log, which are exact.
            fortio: Value::Null,
            ..window.timed
        };
        Ok((rung(Some(timed)), window.answered))
    }
}

fn text(outcome: Option<&Outcome>) -> &'static str {
    match outcome {
        Some(Outcome::Met) => "the target is met",
        Some(Outcome::Missed) => "the target is missed",
        Some(Outcome::Invalid) | None => "the load generator was late",
    }
}
