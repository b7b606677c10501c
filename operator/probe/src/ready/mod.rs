//! Waits for the first correct answer: asks again and again, because the moment of the first correct
//! answer is itself a result.

mod failures;

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use wasmbench_api::run::{Expectation, Ready};
use wasmbench_model::wire::document::{Answer, Readiness};
use wasmbench_model::wire::failure::{Failure, FailureReason};

use crate::answer::{self, Judged};
use crate::clock::unix_nanoseconds;
use crate::http::{self, Error, Malformed, Response};
use crate::request;
use crate::target::{self, Origin, Target};
use failures::{given_up, mismatch, slow, too_large, wrong};

/// Time between the starts of two attempts, so that waiting leaves the CPU to the subject. It is
/// also the uncertainty of the moment of the first correct answer, which must stay below 1 ms: that
/// leaves room for what the kernel's timers and a busy node add.
const GAP: Duration = Duration::from_micros(600);
/// The same once wrong answers have come for `OFTEN`. The kernel keeps the local port of an answered
/// request for a minute: at one every 0.6 ms, its 28,000 ports are used up after 17 s. The
/// uncertainty stays below the 5 ms that the smallest difference of starts bears by default.
const LONG_GAP: Duration = Duration::from_millis(4);
/// Most services that answer while they start are ready within this time.
const OFTEN: Duration = Duration::from_secs(3);

/// A port that refuses connections for this long after a load has nothing behind it: a backlog
/// makes an answer late, but never refused.
const GONE: Duration = Duration::from_secs(1);

/// How long a subject may take to get ready in total, from one moment on.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    began: Instant,
    limit: Duration,
}

impl Patience {
    /// Begins now.
    pub fn start(limit: Duration) -> Self {
        Self {
            began: Instant::now(),
            limit,
        }
    }

    /// Whether the time is up.
    pub fn is_over(&self) -> bool {
        self.began.elapsed() >= self.limit
    }
}

/// The request that shows that a service is ready, where the workload's own does not.
#[derive(Clone, Debug)]
pub struct Readying {
    target: Target,
    expect: Expectation,
}

impl Readying {
    /// That of a service with this origin.
    fn new(origin: Origin, ready: &Ready) -> Result<Self, target::Error> {
        Ok(Self {
            target: Target::new(origin, &ready.path)?,
            expect: Expectation {
                status: ready.status,
                ..Expectation::default()
            },
        })
    }
}

/// Returns what shows that the service with this origin is ready, if that is not the workload's own
/// request.
pub fn readying(origin: Origin, ready: Option<&Ready>) -> Result<Option<Readying>, Failure> {
    let made = ready.map(|ready| Readying::new(origin, ready)).transpose();
    made.map_err(|error| request::bad(error.to_string()))
}

/// A request, and what its answer must be.
#[derive(Clone, Debug)]
pub struct Question<'a> {
    /// What shows that the service is ready; `None`: the request itself does.
    pub ready: Option<&'a Readying>,
    /// Where the request goes.
    pub target: &'a Target,
    /// What the answer must be.
    pub expect: &'a Expectation,
    /// The prefix that the variant puts before every body.
    pub variant_prefix: &'a str,
}

/// The outcome of waiting.
#[derive(Debug)]
pub struct Waited {
    /// How long, and in how many attempts.
    pub readiness: Readiness,
    /// How long the correct answer took by itself.
    pub answer_time: Duration,
    /// From the start of the attempt before the last to the start of the last: the service may have
    /// been ready for this long. Absent if there was only one attempt.
    pub gap: Option<Duration>,
    /// When the last attempt with a refused connection began, in nanoseconds since the Unix epoch:
    /// nothing listened then. Absent if none was refused.
    pub refused_unix_nanoseconds: Option<i64>,
    /// The correct answer, or why there is none.
    pub outcome: Result<Answer, Failure>,
    /// The last complete answer, if it was not correct.
    pub wrong_answer: Option<Answer>,
}

enum Attempt {
    Correct(Answer),
    Wrong(Option<Answer>, String),
    Refused(String),
    TooLarge,
    Slow,
    Tls(String),
    Nothing(String),
}

impl Question<'_> {
    /// Compares an answer with what is expected.
    pub fn judge(&self, response: &Response) -> Judged {
        let has_body = self.target.has_answer_body();
        let prefix = if has_body { self.variant_prefix } else { "" };
        answer::judge(response, self.expect, prefix)
    }

    fn ask(&self) -> Attempt {
        match http::ask(self.target) {
            Ok(response) => {
                let Judged { answer, wrong } = self.judge(&response);
                let has_tls = self.target.origin.scheme.has_tls();
                match wrong {
                    None => Attempt::Correct(answer),
                    Some(_) if !has_tls && response.wants_tls() => {
                        Attempt::Tls(Malformed::Tls.to_string())
                    }
                    Some(why) => Attempt::Wrong(Some(answer), why),
                }
            }
            Err(Error::Connect(error)) if error.kind() == ErrorKind::ConnectionRefused => {
                Attempt::Refused(Error::Connect(error).to_string())
            }
            Err(Error::Malformed(Malformed::TooLarge)) => Attempt::TooLarge,
            Err(error @ (Error::Tls(_) | Error::Malformed(Malformed::Tls))) => {
                Attempt::Tls(error.to_string())
            }
            // Something answers there, but not what is expected.
            Err(error @ Error::Malformed(_)) => Attempt::Wrong(None, error.to_string()),
            Err(Error::Slow(_)) => Attempt::Slow,
            Err(error) => Attempt::Nothing(error.to_string()),
        }
    }

    /// Waits until the answer is correct, or patience is over. Where something else shows that the
    /// service is ready, the request itself is sent once, after that: it may change something.
    pub fn wait(&self, patience: Patience) -> Waited {
        let Some(ready) = self.ready else {
            return self.poll(patience);
        };
        let question = Question {
            ready: None,
            target: &ready.target,
            expect: &ready.expect,
            variant_prefix: "",
        };
        let waited = question.poll(patience);
        if waited.outcome.is_err() {
            return waited;
        }
        self.ask_once(&waited)
    }

    /// Sends the request to a service that was `waited` for.
    fn ask_once(&self, waited: &Waited) -> Waited {
        let mut observed = Observed::default();
        let began = (Instant::now(), unix_nanoseconds());
        let correct = observed.note(self.ask(), began);
        let readiness = Readiness {
            attempts: waited.readiness.attempts.saturating_add(1),
            ..waited.readiness
        };
        Waited {
            readiness,
            answer_time: began.0.elapsed(),
            wrong_answer: observed.wrong_answer.take().filter(|_| correct.is_none()),
            outcome: correct.ok_or_else(|| observed.failure_when_ready()),
            gap: waited.gap,
            refused_unix_nanoseconds: waited.refused_unix_nanoseconds,
        }
    }

    /// Asks until the answer is correct, or patience is over. Answers that are not correct are no
    /// reason to give up: a service that starts may give them for as long as the run allows.
    fn poll(&self, patience: Patience) -> Waited {
        let began = Instant::now();
        let mut observed = Observed::default();
        let mut attempts = 0u32;
        let mut previous: Option<Instant> = None;
        loop {
            let (sent, sent_at) = (Instant::now(), unix_nanoseconds());
            attempts = attempts.saturating_add(1);
            let correct = observed.note(self.ask(), (sent, sent_at));
            if correct.is_some() || patience.is_over() {
                return Waited {
                    readiness: Readiness {
                        waited_microseconds: microseconds(began.elapsed()),
                        attempts,
                    },
                    answer_time: sent.elapsed(),
                    gap: previous.map(|before| sent.duration_since(before)),
                    refused_unix_nanoseconds: observed.refused_unix_nanoseconds,
                    wrong_answer: observed.wrong_answer.take().filter(|_| correct.is_none()),
                    outcome: correct.ok_or_else(|| observed.failure(patience.limit)),
                };
            }
            previous = Some(sent);
            std::thread::sleep(observed.gap().saturating_sub(sent.elapsed()));
        }
    }
}

/// What the attempts have shown so far.
#[derive(Debug, Default)]
struct Observed {
    /// When the first attempt began that got a wrong answer.
    first_wrong: Option<Instant>,
    wrong_answer: Option<Answer>,
    refused_unix_nanoseconds: Option<i64>,
    last: Last,
}

/// What the last attempt came to. It decides why the wait was in vain: a service that answered
/// wrongly once and then ended gave no wrong answer that lasted.
#[derive(Debug)]
enum Last {
    Wrong(String),
    TooLarge,
    Slow,
    Tls(String),
    Nothing(String),
}

impl Default for Last {
    fn default() -> Self {
        Self::Nothing(String::new())
    }
}

impl Observed {
    /// Notes an attempt that began at this moment, on both clocks; returns the correct answer.
    fn note(&mut self, attempt: Attempt, (sent, sent_at): (Instant, i64)) -> Option<Answer> {
        self.last = match attempt {
            Attempt::Correct(answer) => return Some(answer),
            Attempt::Wrong(answer, why) => {
                self.first_wrong.get_or_insert(sent);
                self.wrong_answer = answer;
                Last::Wrong(why)
            }
            Attempt::Refused(why) => {
                self.refused_unix_nanoseconds = Some(sent_at);
                Last::Nothing(why)
            }
            Attempt::Nothing(why) => Last::Nothing(why),
            Attempt::TooLarge => {
                self.first_wrong.get_or_insert(sent);
                Last::TooLarge
            }
            Attempt::Slow => Last::Slow,
            Attempt::Tls(why) => {
                self.first_wrong.get_or_insert(sent);
                Last::Tls(why)
            }
        };
        None
    }

    /// Time from the start of the last attempt to that of the next.
    fn gap(&self) -> Duration {
        let wrong_for = self.first_wrong.map(|first| first.elapsed());
        if wrong_for.is_some_and(|time| time >= OFTEN) {
            LONG_GAP
        } else {
            GAP
        }
    }

    /// Why a service that was ready gave no correct answer.
    fn failure_when_ready(&self) -> Failure {
        let (reason, why) = match &self.last {
            Last::TooLarge => return too_large(),
            Last::Slow => return slow(),
            Last::Tls(why) => return mismatch(why),
            Last::Wrong(why) => (FailureReason::WrongAnswer, why),
            Last::Nothing(why) => (FailureReason::NeverListened, why),
        };
        let message = format!(
            "the service was ready, but {why}: correct expect, the request or the service, or what \
             container.ready waits for"
        );
        Failure { reason, message }
    }

    /// Why no correct answer came within `limit`.
    fn failure(&self, limit: Duration) -> Failure {
        match &self.last {
            Last::Wrong(why) => wrong(limit, why),
            Last::TooLarge => too_large(),
            Last::Slow => slow(),
            Last::Tls(why) => mismatch(why),
            Last::Nothing(why) => given_up(limit, why),
        }
    }
}

impl Question<'_> {
    /// Asks after a load until any complete answer comes. The backlog of the load may have to be
    /// worked off first, so the first attempts may fail. Up to `failures` answers with another
    /// status do not count.
    pub fn ask_again(&self, patience: Duration, mut failures: u32) -> Result<Judged, String> {
        let began = Instant::now();
        loop {
            let (why, patience) = match http::ask(self.target) {
                Ok(response) => {
                    let judged = self.judge(&response);
                    if judged.answer.status == self.expect.status || failures == 0 {
                        return Ok(judged);
                    }
                    failures -= 1;
                    continue;
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

#[cfg(test)]
mod tests;
