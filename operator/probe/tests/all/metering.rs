//! Are the subject's counters right? A server in a cgroup of its own records its own CPU time at
//! every request; the meter must agree with it over exactly the timed window.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use nix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};

use crate::support::cgroup::{Pod, probe, turn};
use crate::support::server::{Server, answer};
use crate::support::{Run, request};

/// By how much the meter may differ from the process's own account.
const TOLERANCE: f64 = 0.02;

/// Set if this program is to be the server.
const SERVER: &str = "WASMBENCH_TEST_SERVER";

/// Value of [`SERVER`] for a server that starts a child process for every answer.
const FORKS: &str = "forks";
/// By how much the meter may differ if children live for a few milliseconds: the cgroup is charged
/// for their exit, but their own accounts no longer are.
const TOLERANCE_OF_CHILDREN: f64 = 0.05;

/// A moment on the wall clock, and the CPU time of the server process and its ended children until
/// then, both in nanoseconds.
type Sample = (u64, u64);

#[test]
#[ignore = "the server process of the tests below, which start it"]
fn server_process() {
    let Some(kind) = std::env::var_os(SERVER) else {
        return;
    };
    let forks = kind == FORKS;
    let samples = Arc::new(Mutex::new(Vec::<Sample>::new()));
    let server = Server::start(move |_, head| {
        samples.lock().unwrap().push(sample());
        if head.contains("/samples") {
            return answer(
                200,
                &serde_json::to_string(&*samples.lock().unwrap()).unwrap(),
            );
        }
        if forks {
            let loops = "i=0; while [ $i -lt 4000 ]; do i=$((i+1)); done";
            Command::new("/bin/sh")
                .args(["-c", loops])
                .status()
                .unwrap();
        }
        let until = Instant::now() + Duration::from_micros(150);
        while Instant::now() < until {}
        samples.lock().unwrap().push(sample());
        answer(200, "hello")
    });
    println!("\nport {}", server.address.port());
    // The test that started this process closes the pipe, even if the test fails.
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
}

fn sample() -> Sample {
    let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let own = Duration::from(clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).unwrap());
    let children = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap();
    let children = [children.user_time(), children.system_time()];
    let children: i64 = children.map(|time| time.num_microseconds()).iter().sum();
    let children = Duration::from_micros(u64::try_from(children).unwrap());
    (
        u64::try_from(wall.as_nanos()).unwrap(),
        u64::try_from((own + children).as_nanos()).unwrap(),
    )
}

struct ServerProcess {
    child: Child,
    port: u16,
}

impl ServerProcess {
    fn start(pod: &Pod, kind: &str) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "metering::server_process",
                "--ignored",
                "--nocapture",
            ])
            .env(SERVER, kind)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        pod.add(child.id());
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let port = lines.map_while(Result::ok).find_map(|line| {
            line.strip_prefix("port ")
                .and_then(|port| port.parse().ok())
        });
        Self {
            child,
            port: port.unwrap(),
        }
    }

    fn samples(&self) -> Vec<Sample> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream
            .write_all(b"GET /samples HTTP/1.1\r\nConnection: close\r\n\r\n")
            .unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        serde_json::from_str(text.split_once("\r\n\r\n").unwrap().1).unwrap()
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// CPU time at a moment, interpolated between the samples around it.
fn cpu_at(samples: &[Sample], moment: u64) -> f64 {
    let after = samples
        .partition_point(|(wall, _)| *wall <= moment)
        .clamp(1, samples.len() - 1);
    let ((wall, cpu), (next_wall, next_cpu)) = (samples[after - 1], samples[after]);
    let share = (moment as f64 - wall as f64) / (next_wall - wall).max(1) as f64;
    cpu as f64 + share.clamp(0.0, 1.0) * (next_cpu as f64 - cpu as f64)
}

/// Runs the probe against a server in a cgroup; also returns the relative error of its CPU time.
/// `None` without counters: the probe drops them if a stall made it read them late.
fn measured(number: u32, kind: &str, load: &Value, connections: u32) -> Option<(Run, f64)> {
    let pod = Pod::create(number).expect("could not make a cgroup below /sys/fs/cgroup");
    let server = ServerProcess::start(&pod, kind);
    let mut request = request(server.port);
    request["podUid"] = json!(pod.uid);
    request["meter"] = json!("cgroup");
    request["load"] = load.clone();
    request["connections"] = json!(connections);
    let run = probe(&request);
    assert_eq!(run.exit, Some(0), "{}", run.progress);
    println!("{}", run.progress);
    let mut samples = server.samples();
    samples.sort_unstable();
    drop(server);

    let timed = run.document.timed.as_ref().unwrap();
    let metered = timed.subject.as_ref()?.cpu_nanoseconds;
    let own: f64 = timed
        .runs()
        .map(|fortio| {
            let start: Timestamp = fortio["StartTime"].as_str().unwrap().parse().unwrap();
            let start = u64::try_from(start.as_nanosecond()).unwrap();
            let end = start + fortio["ActualDuration"].as_u64().unwrap();
            cpu_at(&samples, end) - cpu_at(&samples, start)
        })
        .sum();
    let error = metered as f64 / own - 1.0;
    println!(
        "{load}: own {own:.0} ns, metered {metered} ns, {:+.3} %",
        100.0 * error
    );
    Some((run, error))
}

/// The first of up to ten runs in which the meter agrees with the process itself. A stall between
/// two readings moves them apart in one run, but a wrong meter never agrees.
fn agreed(number: u32, kind: &str, load: &Value, connections: u32, tolerance: f64) -> Run {
    let mut runs = (0..10).filter_map(|_| measured(number, kind, load, connections));
    let found = runs.find(|(_, error)| error.abs() < tolerance);
    found.expect("the meter never agreed with the process").0
}

#[test]
fn cpu_time_over_two_seconds_of_load_agrees_with_the_process_itself() {
    let Some(_turn) = turn() else { return };
    let load = json!({"kind": "duration", "seconds": 2, "warmupSeconds": 1});
    let run = agreed(1, "", &load, 4, TOLERANCE);
    let subject = run
        .document
        .timed
        .as_ref()
        .unwrap()
        .subject
        .clone()
        .unwrap();
    assert!(subject.memory_bytes > 100_000, "{subject:?}");
    assert!(
        subject
            .memory_peak_bytes
            .is_none_or(|peak| peak >= subject.memory_bytes)
    );
    assert!(subject.memory_working_set_bytes.unwrap() <= subject.memory_bytes);
    let held = subject.memory_held_bytes.expect("what the pod holds");
    assert!(
        (50_000..=subject.memory_bytes).contains(&held),
        "{subject:?}"
    );
    // The kernel splits time into user and system by sampling at its ticks: only a rough check.
    let parts = subject.cpu_user_nanoseconds.unwrap() + subject.cpu_system_nanoseconds.unwrap();
    let share = parts as f64 / subject.cpu_nanoseconds as f64;
    assert!((0.3..1.5).contains(&share), "{subject:?}");
    let start = subject.memory_working_set_start_bytes.unwrap();
    assert!(start > 100_000, "{subject:?}");
    assert_eq!(subject.pause, None, "nothing here is called pause");
    let processes = subject.processes.unwrap();
    assert_eq!(processes.count, 1, "{processes:?}");
    let switches = processes.switches.unwrap();
    // Each connection has a thread, which ends with the load and takes its counts with it, unless
    // the reading was faster.
    let counted = switches.voluntary + switches.involuntary;
    assert_eq!(counted > 0, switches.cpu_nanoseconds > 0, "{processes:?}");
}

#[test]
fn cpu_time_over_a_few_hundred_requests_agrees_with_the_process_itself() {
    let Some(_turn) = turn() else { return };
    // Enough that 2 % of the window, after which a reading is too late, is longer than most stalls.
    let load = json!({"kind": "requests", "requests": 8000, "warmupRequests": 50});
    agreed(2, "", &load, 1, TOLERANCE);
}

#[test]
fn children_that_live_for_milliseconds_are_counted() {
    let Some(_turn) = turn() else { return };
    let load = json!({"kind": "duration", "seconds": 3, "warmupSeconds": 1});
    let run = agreed(3, FORKS, &load, 2, TOLERANCE_OF_CHILDREN);
    // Their switches are lost, which the CPU time of the threads that remain shows.
    let subject = run.document.timed.unwrap().subject.unwrap();
    let switches = subject.processes.unwrap().switches.unwrap();
    assert!(
        switches.cpu_nanoseconds < subject.cpu_nanoseconds / 2,
        "{subject:?}"
    );
}
