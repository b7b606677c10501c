//! Waits for the first correct answer: asks again and again without back-off, because the moment
//! of the first correct answer is itself a result.

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use wasmbench_api::run::Expectation;
use wasmbench_core::wire::document::{Answer, ProbeFailure, ProbeFailureReason, Readiness};

use crate::answer::{self, Judged};
use crate::clock::unix_nanoseconds;
use crate::http::{self, Error};
use crate::target::Target;

/// Time between the starts of two attempts, so that waiting leaves the CPU to the subject. It is
/// also the uncertainty of the moment of the first correct answer, which must stay below 1 ms: that
/// leaves room for what the kernel's timers and a busy node add.
const GAP: Duration = Duration::from_micros(600);
/// A starting service may answer 503 at first; after this time, it no longer counts as starting.
const GRACE: Duration = Duration::from_secs(3);

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
    pub fn of(limit: Duration) -> Self {
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

/// A request, and what its answer must be.
#[derive(Clone, Debug)]
pub struct Question<'a> {
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
    pub outcome: Result<Answer, ProbeFailure>,
    /// The last complete answer, if it was not correct.
    pub wrong_answer: Option<Answer>,
}

enum Attempt {
    Correct(Answer),
    Wrong(Option<Answer>, String),
    Refused(String),
    Slow,
    Nothing(String),
}

impl Question<'_> {
    fn ask(&self) -> Attempt {
        match http::ask(self.target) {
            Ok(response) => {
                let Judged { answer, wrong } =
                    answer::judge(&response, self.expect, self.variant_prefix);
                match wrong {
                    None => Attempt::Correct(answer),
                    Some(why) => Attempt::Wrong(Some(answer), why),
                }
            }
            Err(Error::Connect(error)) if error.kind() == ErrorKind::ConnectionRefused => {
                Attempt::Refused(Error::Connect(error).to_string())
            }
            // Something answers there, but not what is expected.
            Err(error @ Error::Malformed(_)) => Attempt::Wrong(None, error.to_string()),
            Err(Error::Slow(_)) => Attempt::Slow,
            Err(error) => Attempt::Nothing(error.to_string()),
        }
    }

    /// Waits until the answer is correct, or clearly will not be.
    pub fn wait(&self, patience: Patience) -> Waited {
        let began = Instant::now();
        let mut attempts = 0u32;
        let mut first_wrong: Option<Instant> = None;
        let mut wrong_answer = None;
        let mut last_wrong = String::new();
        let mut last_nothing = String::new();
        let mut asked_before: Option<Instant> = None;
        let mut refused_unix_nanoseconds = None;
        loop {
            let (asked, asked_at) = (Instant::now(), unix_nanoseconds());
            attempts = attempts.saturating_add(1);
            let attempt = self.ask();
            let is_slow = matches!(attempt, Attempt::Slow);
            let outcome = match attempt {
                Attempt::Correct(answer) => Some(Ok(answer)),
                Attempt::Wrong(answer, why) => {
                    let first = *first_wrong.get_or_insert(asked);
                    (wrong_answer, last_wrong) = (answer, why);
                    (first.elapsed() >= GRACE).then(|| Err(wrong(&last_wrong)))
                }
                Attempt::Refused(why) => {
                    (refused_unix_nanoseconds, last_nothing) = (Some(asked_at), why);
                    None
                }
                Attempt::Nothing(why) => {
                    last_nothing = why;
                    None
                }
                Attempt::Slow => None,
            };
            let outcome = outcome.or_else(|| {
                patience.is_over().then(|| match first_wrong {
                    Some(_) => Err(wrong(&last_wrong)),
                    None if is_slow => Err(slow()),
                    None => Err(given_up(patience.limit, &last_nothing)),
                })
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
                    refused_unix_nanoseconds,
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
    /// Asks after a load until any complete answer comes. The backlog of the load may have to be
    /// worked off first, so the first attempts may fail. Up to `failures` answers with another
    /// status do not count.
    pub fn ask_again(&self, patience: Duration, mut failures: u32) -> Result<Judged, String> {
        let began = Instant::now();
        loop {
            let (why, patience) = match http::ask(self.target) {
                Ok(response) => {
                    let judged = answer::judge(&response, self.expect, self.variant_prefix);
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

fn wrong(why: &str) -> ProbeFailure {
    ProbeFailure {
        reason: ProbeFailureReason::WrongAnswer,
        message: why.to_owned(),
    }
}

fn slow() -> ProbeFailure {
    let message = format!(
        "connections are accepted, but one answer takes longer than {} s: ask for less work in the \
         workload's path, or leave the variant out",
        http::ANSWER.as_secs()
    );
    ProbeFailure {
        reason: ProbeFailureReason::AnswerTooSlow,
        message,
    }
}

fn given_up(limit: Duration, last_nothing: &str) -> ProbeFailure {
    let message = format!(
        "no answer within {} s; the last attempt: {last_nothing}",
        limit.as_secs()
    );
    ProbeFailure {
        reason: ProbeFailureReason::NeverListened,
        message,
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::{SocketAddr, TcpListener};

    use super::*;
    use crate::testing::free_port;

    /// Waits for a service on this address.
    fn wait_for(address: SocketAddr) -> Waited {
        let target = Target::new(address.ip(), address.port(), "/").unwrap();
        let expect: Expectation = serde_json::from_str("{}").unwrap();
        let question = Question {
            target: &target,
            expect: &expect,
            variant_prefix: "",
        };
        question.wait(Patience::of(Duration::from_secs(5)))
    }

    fn answer_once(listener: &TcpListener) {
        let mut stream = listener.accept().unwrap().0;
        let _ = stream.read(&mut [0; 1024]);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
    }

    #[test]
    fn the_last_refused_attempt_began_before_the_service_listened() {
        let address = SocketAddr::from(([127, 0, 0, 1], free_port()));
        let began = unix_nanoseconds();
        let service = std::thread::spawn(move || {
            // Long enough for an attempt on any machine.
            std::thread::sleep(Duration::from_millis(500));
            let listener = TcpListener::bind(address).unwrap();
            let listening = unix_nanoseconds();
            answer_once(&listener);
            listening
        });
        let waited = wait_for(address);
        let listening = service.join().unwrap();
        let refused = waited.refused_unix_nanoseconds.expect("a refusal");
        assert!(began <= refused && refused <= listening, "{waited:?}");
    }

    #[test]
    fn without_a_refusal_there_is_no_moment_of_one() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let service = std::thread::spawn(move || answer_once(&listener));
        let waited = wait_for(address);
        service.join().unwrap();
        assert_eq!(waited.outcome.unwrap().excerpt, "hi");
        assert_eq!(waited.refused_unix_nanoseconds, None);
    }

    #[test]
    fn a_service_that_accepts_and_does_not_answer_in_time_is_called_slow() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let waited = wait_for(listener.local_addr().unwrap());
        let failure = waited.outcome.unwrap_err();
        assert_eq!(failure.reason, ProbeFailureReason::AnswerTooSlow);
        assert!(failure.message.contains("less work"), "{failure:?}");
    }
}
