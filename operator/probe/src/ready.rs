//! Waits for the first correct answer: asks again and again without back-off, because the moment
//! of the first correct answer is itself a result.

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use wasmbench_api::run::Expectation;
use wasmbench_core::wire::document::{Answer, ProbeFailure, ProbeFailureReason, Readiness};

use crate::answer::{self, Judged};
use crate::http::{self, Error};
use crate::target::Target;

/// Between the beginnings of two attempts (with the kernel's timer slack below 1 ms), so that waiting leaves the processor to the subject. It is also the
/// uncertainty of the moment of the first correct answer.
const GAP: Duration = Duration::from_micros(900);
/// A starting service may answer 503 at first; after this time it is not starting any more.
const GRACE: Duration = Duration::from_secs(3);

/// A port that refuses connections for this long after a load has nobody behind it: a backlog
/// makes an answer late, but never refused.
const GONE: Duration = Duration::from_secs(1);

/// What is asked, and what the answer must be.
#[derive(Clone, Debug)]
pub struct Question<'a> {
    /// Whom.
    pub target: &'a Target,
    /// What the answer must be.
    pub expect: &'a Expectation,
    /// What the variant puts before every body.
    pub variant_prefix: &'a str,
}

/// The end of waiting.
#[derive(Debug)]
pub struct Waited {
    /// How long, and in how many attempts.
    pub readiness: Readiness,
    /// How long the correct answer took by itself.
    pub answer_time: Duration,
    /// From the beginning of the last attempt before it to the beginning of the one that got it:
    /// the service may have been ready for so long. Absent when the first attempt got it.
    pub gap: Option<Duration>,
    /// The correct answer, or why there is none.
    pub outcome: Result<Answer, ProbeFailure>,
    /// The last complete answer, when it was not the correct one.
    pub wrong_answer: Option<Answer>,
}

enum Attempt {
    Correct(Answer),
    Wrong(Option<Answer>, String),
    Nothing(String),
}

impl Question<'_> {
    fn ask(&self) -> Attempt {
        match http::get(self.target) {
            Ok(response) => {
                let Judged { answer, wrong } =
                    answer::judge(&response, self.expect, self.variant_prefix);
                match wrong {
                    None => Attempt::Correct(answer),
                    Some(why) => Attempt::Wrong(Some(answer), why),
                }
            }
            // Something answers there, and it is not what is asked for.
            Err(error @ Error::Malformed(_)) => Attempt::Wrong(None, error.to_string()),
            Err(error) => Attempt::Nothing(error.to_string()),
        }
    }

    /// Waits until the answer is correct, or clearly will not be.
    pub fn wait(&self, timeout: Duration) -> Waited {
        let began = Instant::now();
        let mut attempts = 0u32;
        let mut first_wrong: Option<Instant> = None;
        let mut wrong_answer = None;
        let mut last_wrong = String::new();
        let mut last_nothing = String::new();
        let mut asked_before: Option<Instant> = None;
        loop {
            let asked = Instant::now();
            attempts = attempts.saturating_add(1);
            let outcome = match self.ask() {
                Attempt::Correct(answer) => Some(Ok(answer)),
                Attempt::Wrong(answer, why) => {
                    let first = *first_wrong.get_or_insert(asked);
                    (wrong_answer, last_wrong) = (answer, why);
                    (first.elapsed() >= GRACE).then(|| Err(wrong(&last_wrong)))
                }
                Attempt::Nothing(why) => {
                    last_nothing = why;
                    None
                }
            };
            let outcome = outcome.or_else(|| {
                let over = began.elapsed() >= timeout;
                over.then(|| Err(given_up(timeout, first_wrong, &last_wrong, &last_nothing)))
            });
            if let Some(outcome) = outcome {
                let readiness = Readiness {
                    waited_microseconds: microseconds(began.elapsed()),
                    attempts,
                };
                let wrong_answer = wrong_answer.filter(|_| outcome.is_err());
                return Waited {
                    readiness,
                    answer_time: asked.elapsed(),
                    gap: asked_before.map(|before| asked.duration_since(before)),
                    outcome,
                    wrong_answer,
                };
            }
            asked_before = Some(asked);
            std::thread::sleep(GAP.saturating_sub(asked.elapsed()));
        }
    }
}

impl Question<'_> {
    /// Asks until there is any complete answer: the one after a load. The backlog of the load may
    /// have to be worked off first, so the first attempts may fail.
    pub fn ask_again(&self, patience: Duration) -> Result<Judged, String> {
        let began = Instant::now();
        loop {
            let (why, patience) = match http::get(self.target) {
                Ok(response) => {
                    return Ok(answer::judge(&response, self.expect, self.variant_prefix));
                }
                Err(Error::Connect(error)) if error.kind() == ErrorKind::ConnectionRefused => {
                    (Error::Connect(error).to_string(), GONE.min(patience))
                }
                Err(error) => (error.to_string(), patience),
            };
            if began.elapsed() >= patience {
                return Err(why);
            }
            std::thread::sleep(GAP);
        }
    }
}

fn microseconds(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

fn wrong(why: &str) -> ProbeFailure {
    ProbeFailure {
        reason: ProbeFailureReason::WrongAnswer,
        message: why.to_owned(),
    }
}

fn given_up(
    timeout: Duration,
    first_wrong: Option<Instant>,
    last_wrong: &str,
    last_nothing: &str,
) -> ProbeFailure {
    if first_wrong.is_some() {
        return wrong(last_wrong);
    }
    let message = format!(
        "no answer within {} s; the last attempt: {last_nothing}",
        timeout.as_secs()
    );
    ProbeFailure {
        reason: ProbeFailureReason::NeverListened,
        message,
    }
}
