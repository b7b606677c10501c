//! Waits for the first correct answer: asks again and again, because the moment of the first correct
//! answer is itself a result.

use std::io::ErrorKind;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use wasmbench_api::run::{Expectation, Ready};
use wasmbench_model::wire::document::{Answer, Readiness};
use wasmbench_model::wire::failure::{Failure, FailureReason};

use crate::answer::{self, Judged};
use crate::clock::unix_nanoseconds;
use crate::http::{self, Error, Malformed, Response};
use crate::request;
use crate::target::{self, Target};

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
    /// That of a service at this address and port.
    fn of((address, port): (IpAddr, u16), ready: &Ready) -> Result<Self, target::Error> {
        Ok(Self {
            target: Target::new(address, port, &ready.path)?,
            expect: Expectation {
                status: ready.status,
                ..Expectation::default()
            },
        })
    }
}

/// Returns what shows that the service at this address and port is ready, if that is not the
/// workload's own request.
pub fn readying(place: (IpAddr, u16), ready: Option<&Ready>) -> Result<Option<Readying>, Failure> {
    let made = ready.map(|ready| Readying::of(place, ready)).transpose();
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
                match wrong {
                    None => Attempt::Correct(answer),
                    Some(why) => Attempt::Wrong(Some(answer), why),
                }
            }
            Err(Error::Connect(error)) if error.kind() == ErrorKind::ConnectionRefused => {
                Attempt::Refused(Error::Connect(error).to_string())
            }
            Err(Error::Malformed(Malformed::TooLarge)) => Attempt::TooLarge,
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
        self.ask_once(waited)
    }

    /// Sends the request to a service that was `waited` for.
    fn ask_once(&self, waited: Waited) -> Waited {
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
            ..waited
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

fn wrong(limit: Duration, last: &str) -> Failure {
    let message = format!(
        "no correct answer within {} s; the last attempt: {last}: correct expect or the service, or \
         allow it more time to start",
        limit.as_secs()
    );
    Failure {
        reason: FailureReason::WrongAnswer,
        message,
    }
}

fn too_large() -> Failure {
    let message = format!(
        "the answer has more than {} MiB, and is not read to its end: ask for less in the workload's path",
        http::MAX_BODY >> 20
    );
    Failure {
        reason: FailureReason::AnswerTooLarge,
        message,
    }
}

fn slow() -> Failure {
    let message = format!(
        "connections are accepted, but one answer takes longer than {} s: ask for less work in the \
         workload's path, or leave the variant out",
        http::ANSWER.as_secs()
    );
    Failure {
        reason: FailureReason::AnswerTooSlow,
        message,
    }
}

fn given_up(limit: Duration, last_nothing: &str) -> Failure {
    let message = format!(
        "no answer within {} s; the last attempt: {last_nothing}: check the port, that it listens on all \
         addresses, and whether a NetworkPolicy keeps the probe out (kubectl wasmbench check)",
        limit.as_secs()
    );
    Failure {
        reason: FailureReason::NeverListened,
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
            ready: None,
            target: &target,
            expect: &expect,
            variant_prefix: "",
        };
        question.wait(Patience::start(Duration::from_secs(5)))
    }

    fn answer_once(listener: &TcpListener) {
        let mut stream = listener.accept().unwrap().0;
        let _ = stream.read(&mut [0; 1024]);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
    }

    /// A service with a health check, which counts the orders that it gets.
    #[test]
    fn where_something_else_shows_that_it_is_ready_the_request_is_sent_once() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let service = std::thread::spawn(move || {
            let mut paths = vec![];
            while !paths.contains(&"/order".to_owned()) {
                let mut stream = listener.accept().unwrap().0;
                let mut buffer = [0; 1024];
                let read = stream.read(&mut buffer).unwrap();
                let text = String::from_utf8_lossy(&buffer[..read]).into_owned();
                let path = text.split(' ').nth(1).unwrap().to_owned();
                let status = if paths.len() < 3 { 503 } else { 204 };
                let answer = match path.as_str() {
                    "/health" => format!("HTTP/1.1 {status} X\r\nContent-Length: 0\r\n\r\n"),
                    _ => "HTTP/1.1 409 X\r\nContent-Length: 0\r\n\r\n".to_owned(),
                };
                let _ = stream.write_all(answer.as_bytes());
                paths.push(path);
            }
            paths
        });
        let place = (address.ip(), address.port());
        let ready = Ready {
            path: "/health".into(),
            status: 204,
        };
        let ready = Readying::of(place, &ready).unwrap();
        let target = Target::new(place.0, place.1, "/order").unwrap();
        let question = Question {
            ready: Some(&ready),
            target: &target,
            expect: &Expectation::default(),
            variant_prefix: "",
        };
        let waited = question.wait(Patience::start(Duration::from_secs(60)));
        let failure = waited.outcome.unwrap_err();
        assert_eq!(failure.reason, FailureReason::WrongAnswer);
        assert!(failure.message.contains("was ready"), "{failure:?}");
        assert_eq!(
            service.join().unwrap(),
            ["/health", "/health", "/health", "/health", "/order"]
        );
        assert_eq!(waited.readiness.attempts, 5);
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
    fn a_service_that_stays_wrong_is_polled_less_often_to_save_ports() {
        let wrong_for = |time| Observed {
            first_wrong: Instant::now().checked_sub(time),
            ..Observed::default()
        };
        assert_eq!(Observed::default().gap(), GAP);
        assert_eq!(wrong_for(OFTEN / 2).gap(), GAP);
        assert_eq!(wrong_for(OFTEN).gap(), LONG_GAP);
        // Linux hands out ports from 32768 to 60999, and keeps each for 60 s.
        let kept = OFTEN.as_micros() / GAP.as_micros() + 60_000_000 / LONG_GAP.as_micros();
        assert!(kept < 60_999 - 32_768, "{kept}");
    }

    #[test]
    fn the_last_attempt_decides_how_a_timeout_is_reported() {
        let after = |attempts: Vec<Attempt>| {
            let mut observed = Observed::default();
            for attempt in attempts {
                observed.note(attempt, (Instant::now(), 0));
            }
            observed.failure(Duration::from_mins(2)).reason
        };
        let wrong = || Attempt::Wrong(None, "status 503".to_owned());
        let refused = || Attempt::Refused("refused".to_owned());
        for (attempts, reason) in [
            (vec![wrong(), refused()], FailureReason::NeverListened),
            (vec![refused(), wrong()], FailureReason::WrongAnswer),
            (vec![wrong(), Attempt::Slow], FailureReason::AnswerTooSlow),
            (
                vec![wrong(), Attempt::TooLarge],
                FailureReason::AnswerTooLarge,
            ),
        ] {
            assert_eq!(after(attempts), reason);
        }
    }

    #[test]
    fn a_service_that_accepts_and_does_not_answer_in_time_is_called_slow() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let waited = wait_for(listener.local_addr().unwrap());
        let failure = waited.outcome.unwrap_err();
        assert_eq!(failure.reason, FailureReason::AnswerTooSlow);
        assert!(failure.message.contains("less work"), "{failure:?}");
    }
}
