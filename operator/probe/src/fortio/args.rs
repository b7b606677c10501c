//! fortio's command line, built from numbers and the subject's URL and body. Pure.

use std::time::Duration;

use wasmbench_api::run::ConnectionReuse;
use wasmbench_core::open_loop::Schedule;

use crate::buckets::Buckets;
use crate::target::Target;

/// How long a request may take. Long enough for an interpreter behind a full accept queue, short
/// enough that a dead subject does not hold the node for long.
pub const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// fortio's own default for the buffer of a connection.
const BUFFER_KB: u64 = 128;

/// The amount of load in one run of fortio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// A total number of requests.
    Requests(u32),
    /// A duration.
    Time(Duration),
}

/// What stays the same in all runs of a trial.
#[derive(Clone, Debug)]
pub struct Load<'a> {
    /// The target of all requests.
    pub target: &'a Target,
    /// The number of connections.
    pub connections: u32,
    /// Whether connections are reused.
    pub reuse: ConnectionReuse,
    /// Size of the correct answer's body.
    pub answer_bytes: u64,
}

impl Load<'_> {
    /// Returns the connections of one run: fortio never ends a run in which a connection has no
    /// request.
    pub fn connections(&self, amount: Amount) -> u32 {
        match amount {
            Amount::Requests(requests) => self.connections.clamp(1, requests.max(1)),
            Amount::Time(_) => self.connections.max(1),
        }
    }

    /// The arguments after the program's name. The URL is last and begins with `http://`.
    pub fn arguments(&self, amount_of: Amount, buckets: Buckets) -> Vec<String> {
        let (flag, value) = match amount_of {
            Amount::Requests(requests) => ("-n", requests.max(1).to_string()),
            Amount::Time(time) => ("-t", format!("{}ms", time.as_millis().max(1))),
        };
        // As fast as the answers come: no pauses, so no schedule to keep up with.
        let pace = words("-qps 0");
        let amount = [flag.to_owned(), value];
        self.line(pace, self.connections(amount_of), amount, buckets)
    }

    /// The arguments for a load on a schedule; `log` gets a line per request.
    pub fn scheduled(&self, schedule: &Schedule, buckets: Buckets, log: &str) -> Vec<String> {
        // Evenly spaced over all connections and without jitter: otherwise it is unknown when each
        // was due.
        let mut pace = vec!["-qps".to_owned(), schedule.rps().to_string()];
        pace.push("-uniform".to_owned());
        // With a duration, fortio would stretch the schedule and end before its last requests.
        pace.extend(words("-t -1s -access-log-format json -access-log-file"));
        pace.push(log.to_owned());
        let amount = ["-n".to_owned(), schedule.requests().to_string()];
        self.line(pace, schedule.connections(), amount, buckets)
    }

    fn line(
        &self,
        pace: Vec<String>,
        connections: u32,
        amount: [String; 2],
        buckets: Buckets,
    ) -> Vec<String> {
        let mut arguments = words("load -json - -p 50,75,90,95,99,99.9");
        arguments.extend(pace);
        // At this level, fortio prints on standard error when the timed part begins and ends;
        // `-quiet` would suppress these lines.
        arguments.extend(words("-loglevel warning -log-errors=false"));
        // A failing warm-up request must not end the run: failures are results.
        arguments.push("-allow-initial-errors".to_owned());
        // Without it fortio drops IPv6 addresses.
        arguments.extend(words("-resolve-ip-type ip"));
        arguments.extend(["-c".to_owned(), connections.to_string()]);
        arguments.extend(amount);
        let offset = format!("{}ns", buckets.offset.as_nanos());
        arguments.extend(["-offset".to_owned(), offset]);
        arguments.extend(["-r".to_owned(), format!("{:e}", buckets.resolution)]);
        arguments.extend([
            "-timeout".to_owned(),
            format!("{}s", REQUEST_TIMEOUT.as_secs()),
        ]);
        // The whole answer with its headers has to fit, or fortio counts an error.
        let buffer = BUFFER_KB.max(self.answer_bytes / 1024 + 65);
        arguments.extend(["-httpbufferkb".to_owned(), buffer.to_string()]);
        if self.reuse == ConnectionReuse::PerRequest {
            arguments.push("-keepalive=false".to_owned());
        }
        if let Some(body) = &self.target.body {
            let body = String::from_utf8_lossy(body).into_owned();
            arguments.extend(words("-content-type application/json"));
            arguments.extend(["-payload".to_owned(), body]);
        }
        arguments.push(self.target.url());
        arguments
    }
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;

    const BUCKETS: Buckets = Buckets {
        offset: Duration::from_nanos(36_500),
        resolution: 2e-6,
    };

    fn arguments(
        path: &str,
        amount: Amount,
        connections: u32,
        reuse: ConnectionReuse,
    ) -> Vec<String> {
        let target = Target::new([127, 0, 0, 1].into(), 80, path).unwrap();
        let load = Load {
            target: &target,
            connections,
            reuse,
            answer_bytes: 5,
        };
        load.arguments(amount, BUCKETS)
    }

    #[test]
    fn a_number_of_requests_is_asked_for_at_full_speed() {
        let line = arguments("/", Amount::Requests(300), 1, ConnectionReuse::KeepAlive).join(" ");
        assert_eq!(
            line,
            "load -json - -p 50,75,90,95,99,99.9 -qps 0 -loglevel warning -log-errors=false \
             -allow-initial-errors -resolve-ip-type ip -c 1 -n 300 -offset 36500ns -r 2e-6 -timeout 10s \
             -httpbufferkb 128 http://127.0.0.1:80/"
        );
    }

    #[test]
    fn a_time_and_a_connection_per_request_are_asked_for() {
        let time = Amount::Time(Duration::from_secs(30));
        let line = arguments("/", time, 100, ConnectionReuse::PerRequest).join(" ");
        assert!(line.contains("-c 100 -t 30000ms"));
        assert!(line.ends_with("-keepalive=false http://127.0.0.1:80/"));
    }

    #[test]
    fn a_schedule_is_asked_for_evenly_and_with_a_log() {
        let target = Target::new([127, 0, 0, 1].into(), 80, "/").unwrap();
        let reuse = ConnectionReuse::KeepAlive;
        let load = Load {
            target: &target,
            connections: 50,
            reuse,
            answer_bytes: 5,
        };
        let schedule = Schedule::new(1234.5, 50, 2).unwrap();
        let line = load
            .scheduled(&schedule, Buckets::CALIBRATION, "/proc/self/fd/9")
            .join(" ");
        assert!(
            line.contains(
                "-qps 1234.5 -uniform -t -1s -access-log-format json -access-log-file /proc/self/fd/9 "
            ),
            "{line}"
        );
        assert!(line.contains("-c 50 -n 2450 -offset 0ns -r"), "{line}");
        assert!(line.ends_with(" http://127.0.0.1:80/"));
    }

    #[test]
    fn a_body_is_posted_as_json_and_is_one_argument() {
        let target = Target::new([127, 0, 0, 1].into(), 80, "/run").unwrap();
        let target = target.posting(Arc::from(*br#"{"value": {"work": "hash"}}"#));
        let load = Load {
            target: &target,
            connections: 1,
            reuse: ConnectionReuse::KeepAlive,
            answer_bytes: 5,
        };
        let line = load.arguments(Amount::Requests(3), BUCKETS);
        let at = line.iter().position(|word| word == "-payload").unwrap();
        assert_eq!(line[at + 1], r#"{"value": {"work": "hash"}}"#);
        assert!(line.join(" ").contains("-content-type application/json"));
        assert_eq!(line.last().unwrap(), "http://127.0.0.1:80/run");
    }

    #[test]
    fn no_connection_is_left_without_a_request() {
        let line = arguments("/", Amount::Requests(3), 64, ConnectionReuse::KeepAlive).join(" ");
        assert!(line.contains("-c 3 -n 3"));
    }

    proptest! {
        #[test]
        fn whatever_the_path_is_it_stays_one_argument_and_no_flag(path in "/[!-~]{0,60}") {
            let list = arguments(&path, Amount::Requests(3), 1, ConnectionReuse::KeepAlive);
            prop_assert!(list.last().unwrap().starts_with("http://127.0.0.1:80/"));
            prop_assert_eq!(list.len(), 26);
        }

        #[test]
        fn fortio_can_read_every_resolution(resolution in 1e-7f64..0.1) {
            let target = Target::new([127, 0, 0, 1].into(), 80, "/").unwrap();
            let reuse = ConnectionReuse::KeepAlive;
            let load = Load { target: &target, connections: 1, reuse, answer_bytes: 5 };
            let buckets = Buckets { resolution, ..BUCKETS };
            let list = load.arguments(Amount::Requests(3), buckets);
            let at = list.iter().position(|word| word == "-r").unwrap();
            let read: f64 = list[at + 1].parse().unwrap();
            prop_assert_eq!(read.to_bits(), resolution.to_bits());
        }
    }
}
