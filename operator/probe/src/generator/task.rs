//! What the load generator is to do, built from numbers and the subject's request. Pure.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::Serialize;
use wasmbench_api::run::ConnectionReuse;
use wasmbench_model::open_loop::Schedule;
use wasmbench_model::wire::request::REQUEST_TIMEOUT;

use crate::buckets::Buckets;
use crate::target::{Sender, Target};

/// The amount of load in one run of the generator.
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
    /// The target of all requests; of a mix, that of the first.
    pub target: &'a Target,
    /// The requests of a mix; empty if there is one.
    pub parts: &'a [Part],
    /// The status of a correct answer.
    pub status: u16,
    /// The number of connections.
    pub connections: u32,
    /// Whether connections are reused.
    pub reuse: ConnectionReuse,
    /// Size of the correct answer's body.
    pub answer_bytes: u64,
}

/// A request of a mix.
#[derive(Clone, Debug)]
pub struct Part {
    /// Its name.
    pub name: String,
    /// Where it goes, and what is sent.
    pub target: Target,
    /// The status of a correct answer.
    pub status: u16,
    /// Weight of its share of the connections.
    pub weight: u32,
}

/// The same, as `operator/generator` reads it.
#[derive(Serialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
struct TaskPart {
    name: String,
    /// In base64.
    request: String,
    /// Absent without TLS.
    #[serde(skip_serializing_if = "Option::is_none")]
    server_name: Option<String>,
    status: u16,
    weight: u32,
}

/// One run, as `operator/generator` reads it.
#[derive(Serialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    address: String,
    /// In base64.
    request: String,
    /// Absent without TLS.
    #[serde(skip_serializing_if = "Option::is_none")]
    server_name: Option<String>,
    status: u16,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parts: Vec<TaskPart>,
    connections: u32,
    keep_alive: bool,
    requests: u64,
    nanoseconds: u64,
    requests_per_second: f64,
    timeout_nanoseconds: u64,
    offset_nanoseconds: u64,
    resolution_seconds: f64,
    log: String,
}

impl Load<'_> {
    /// Returns the connections of one run: none is left without a request, and no part of a mix
    /// without a connection.
    pub fn connections(&self, amount: Amount) -> u32 {
        let connections = match amount {
            Amount::Requests(requests) => self.connections.clamp(1, requests.max(1)),
            Amount::Time(_) => self.connections.max(1),
        };
        connections.max(u32::try_from(self.parts.len()).unwrap_or(u32::MAX))
    }

    /// A load as fast as the answers come: no pauses, so no schedule to keep up with.
    pub fn task(&self, amount: Amount, buckets: Buckets) -> Task {
        let connections = self.connections(amount);
        let part = |part: &Part| TaskPart {
            name: part.name.clone(),
            request: self.bytes(&part.target),
            server_name: part.target.server_name(),
            status: part.status,
            weight: part.weight,
        };
        let (requests, nanoseconds) = match amount {
            Amount::Requests(requests) => (requests.max(connections).into(), 0),
            Amount::Time(time) => (0, nanoseconds_of(time).max(1)),
        };
        Task {
            address: self.target.host(),
            request: self.bytes(self.target),
            server_name: self.target.server_name(),
            status: self.status,
            parts: self.parts.iter().map(part).collect(),
            connections,
            keep_alive: self.reuse == ConnectionReuse::KeepAlive,
            requests,
            nanoseconds,
            requests_per_second: 0.0,
            timeout_nanoseconds: nanoseconds_of(REQUEST_TIMEOUT),
            offset_nanoseconds: nanoseconds_of(buckets.offset),
            resolution_seconds: buckets.resolution,
            log: String::new(),
        }
    }

    /// A request as it is sent, in base64.
    fn bytes(&self, target: &Target) -> String {
        BASE64.encode(target.request(Sender::Generator(self.reuse)))
    }

    /// A load on a schedule, evenly spaced over all connections; `log` gets a line per request.
    pub fn scheduled(&self, schedule: &Schedule, buckets: Buckets, log: String) -> Task {
        Task {
            connections: schedule.connections(),
            requests: schedule.requests().into(),
            nanoseconds: 0,
            requests_per_second: schedule.rps(),
            log,
            ..self.task(Amount::Requests(1), buckets)
        }
    }
}

fn nanoseconds_of(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;
    use std::sync::Arc;

    use proptest::prelude::*;
    use serde_json::{Value, json};
    use wasmbench_api::run::{Header, Method, Scheme};
    use wasmbench_model::wire::sent::Sent;

    use super::*;
    use crate::target::Origin;

    const BUCKETS: Buckets = Buckets {
        offset: Duration::from_nanos(36_500),
        resolution: 2e-6,
    };

    fn load(target: &Target, connections: u32, reuse: ConnectionReuse) -> Load<'_> {
        Load {
            target,
            parts: &[],
            status: 204,
            connections,
            reuse,
            answer_bytes: 5,
        }
    }

    fn target(path: &str) -> Target {
        Target::new(SocketAddr::from(([127, 0, 0, 1], 80)), path).unwrap()
    }

    fn json_of(task: &Task) -> Value {
        serde_json::to_value(task).unwrap()
    }

    fn request_of(task: &Task) -> String {
        String::from_utf8(BASE64.decode(&task.request).unwrap()).unwrap()
    }

    #[test]
    fn a_number_of_requests_is_sent_at_full_speed() {
        let target = target("/x?y=1");
        let task = load(&target, 1, ConnectionReuse::KeepAlive);
        let task = task.task(Amount::Requests(300), BUCKETS);
        let mut json = json_of(&task);
        let request = json["request"].take();
        assert_eq!(
            json,
            json!({
                "address": "127.0.0.1:80", "request": null, "status": 204, "connections": 1,
                "keepAlive": true, "requests": 300, "nanoseconds": 0, "requestsPerSecond": 0.0,
                "timeoutNanoseconds": 10_000_000_000u64, "offsetNanoseconds": 36500,
                "resolutionSeconds": 2e-6, "log": "",
            })
        );
        assert!(request.is_string());
        let sent = request_of(&task);
        assert!(
            sent.starts_with(
                "GET /x?y=1 HTTP/1.1\r\nHost: 127.0.0.1:80\r\nUser-Agent: wasmbench-generator/"
            ),
            "{sent}"
        );
        assert!(
            sent.ends_with("\r\n\r\n") && !sent.contains("Connection"),
            "{sent}"
        );
    }

    #[test]
    fn a_time_and_a_connection_per_request_are_passed_on() {
        let target = target("/");
        let task = load(&target, 100, ConnectionReuse::PerRequest);
        let task = task.task(Amount::Time(Duration::from_secs(30)), BUCKETS);
        assert_eq!(
            (task.connections, task.requests, task.nanoseconds),
            (100, 0, 30_000_000_000)
        );
        assert!(!task.keep_alive);
        assert!(request_of(&task).contains("\r\nConnection: close\r\n"));
    }

    #[test]
    fn the_generator_learns_of_tls_by_the_name_to_ask_for() {
        let origin = Origin::new([127, 0, 0, 1].into(), 443, Scheme::Https);
        let target = Target::new(origin, "/").unwrap();
        let task = load(&target, 1, ConnectionReuse::KeepAlive).task(Amount::Requests(3), BUCKETS);
        assert_eq!(json_of(&task)["serverName"], "127.0.0.1");
    }

    #[test]
    fn a_schedule_is_evenly_spaced_and_logged() {
        let target = target("/");
        let schedule = Schedule::new(1234.5, 50, 2).unwrap();
        let log = "/proc/self/fd/9".to_owned();
        let load = load(&target, 50, ConnectionReuse::KeepAlive);
        let task = load.scheduled(&schedule, Buckets::CALIBRATION, log.clone());
        assert!((task.requests_per_second - 1234.5).abs() < 1e-9);
        assert_eq!((task.connections, task.requests, task.log), (50, 2450, log));
    }

    #[test]
    fn a_body_is_posted_as_json() {
        let target = target("/run").posting(Arc::from(*br#"{"value": 1}"#));
        let task = load(&target, 1, ConnectionReuse::KeepAlive);
        let sent = request_of(&task.task(Amount::Requests(3), BUCKETS));
        assert!(sent.starts_with("POST /run HTTP/1.1\r\n"), "{sent}");
        assert!(sent.contains("\r\nContent-Type: application/json\r\nContent-Length: 12\r\n"));
        assert!(sent.ends_with("\r\n\r\n{\"value\": 1}"), "{sent}");
    }

    #[test]
    fn a_request_reaches_the_generator_with_all_that_it_has() {
        let header = Header {
            name: "X-Key".into(),
            value: "secret".into(),
        };
        let sent = Sent {
            method: Method::Patch,
            headers: vec![header],
            ..Sent::get("/run")
        };
        let body: Arc<[u8]> = vec![0, 255, b'\n'].into();
        let origin = SocketAddr::from(([127, 0, 0, 1], 80));
        let target = Target::from_sent(origin, &sent, Some(body)).unwrap();
        let task = load(&target, 1, ConnectionReuse::KeepAlive).task(Amount::Requests(3), BUCKETS);
        let text = serde_json::to_string(&task).unwrap();
        assert!(!text.contains('\n'), "a task is one line: {text}");
        let request = BASE64.decode(&task.request).unwrap();
        assert!(request.starts_with(b"PATCH /run HTTP/1.1\r\n"));
        assert!(request.ends_with(b"\r\nX-Key: secret\r\nContent-Length: 3\r\n\r\n\0\xff\n"));
    }

    #[test]
    fn each_request_of_a_mix_has_a_connection() {
        let (home, order) = (target("/"), target("/order"));
        let part = |name: &str, target: &Target, weight| Part {
            name: name.to_owned(),
            target: target.clone(),
            status: 200,
            weight,
        };
        let parts = [part("home", &home, 7), part("order", &order, 3)];
        let load = Load {
            parts: &parts,
            ..load(&home, 1, ConnectionReuse::KeepAlive)
        };
        let task = load.task(Amount::Requests(1), BUCKETS);
        assert_eq!((task.connections, task.requests), (2, 2));
        let json = json_of(&task);
        assert_eq!(json["parts"][1]["name"], "order");
        assert_eq!(json["parts"][1]["weight"], 3);
        let request = json["parts"][1]["request"].as_str().unwrap();
        let request = BASE64.decode(request).unwrap();
        assert!(request.starts_with(b"GET /order HTTP/1.1\r\n"));
    }

    #[test]
    fn no_connection_is_left_without_a_request() {
        let target = target("/");
        let load = load(&target, 64, ConnectionReuse::KeepAlive);
        let task = load.task(Amount::Requests(3), BUCKETS);
        assert_eq!((task.connections, task.requests), (3, 3));
    }

    proptest! {
        #[test]
        fn the_generator_can_read_every_resolution(resolution in 1e-7f64..0.1) {
            let target = target("/");
            let load = load(&target, 1, ConnectionReuse::KeepAlive);
            let task = load.task(Amount::Requests(3), Buckets { resolution, ..BUCKETS });
            let text = serde_json::to_string(&task).unwrap();
            let read: Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(read["resolutionSeconds"].as_f64().unwrap().to_bits(), resolution.to_bits());
        }
    }
}
