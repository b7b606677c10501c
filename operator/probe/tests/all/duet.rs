//! A duet with real processes: two servers in cgroups of their own, pinned to mirrored CPUs and loaded
//! at the same moment by the probe as it is.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::RwLockWriteGuard;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use wasmbench_core::cpu_list::CpuList;
use wasmbench_core::wire::document::{LoadDocument, ProbeFailureReason};
use wasmbench_core::wire::instrument::Side;

use crate::support::cgroup::{self, Pod, probe};
use crate::support::server::{Server, answer};
use crate::support::{Run, request};

/// Microseconds that an answer takes, where this program is to be the server.
const SERVER: &str = "WASMBENCH_TEST_DUET_SERVER";

#[test]
#[ignore = "the server process of the tests below, which start it"]
fn server_process() {
    let Ok(work) = std::env::var(SERVER) else {
        return;
    };
    let (work, body) = work.split_once(' ').unwrap();
    let (work, body) = (
        Duration::from_micros(work.parse().unwrap()),
        body.to_owned(),
    );
    let server = Server::start(move |_, _| {
        let until = Instant::now() + work;
        while Instant::now() < until {}
        answer(200, &body)
    });
    println!("\nport {}", server.address.port());
    // The test that started it closes this pipe, also when it fails.
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
}

struct Subject {
    pod: Pod,
    child: Child,
    port: u16,
}

impl Subject {
    fn start(number: u32, microseconds: u32, body: &str) -> Self {
        let pod = Pod::create(number).expect("could not make a cgroup below /sys/fs/cgroup");
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "duet::server_process",
                "--ignored",
                "--nocapture",
            ])
            .env(SERVER, format!("{microseconds} {body}"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        pod.add(child.id());
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let port = lines
            .map_while(Result::ok)
            .find_map(|line| line.strip_prefix("port ")?.parse().ok());
        Self {
            pod,
            child,
            port: port.unwrap(),
        }
    }
}

impl Drop for Subject {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One duet at a time: they share the CPUs. Nothing where there are too few, or no cgroups to be made.
fn turn() -> Option<RwLockWriteGuard<'static, ()>> {
    let cpus = std::thread::available_parallelism().unwrap().get();
    if cpus < 2 {
        println!("left out: it takes two CPUs");
        return None;
    }
    cgroup::turn()
}

fn duet(variant: &Subject, baseline: &Subject, side: &str, load: &Value) -> Value {
    let mut request = request(variant.port);
    request["podUid"] = json!(variant.pod.uid);
    request["meter"] = json!("cgroup");
    request["load"] = load.clone();
    request["calibrateGenerator"] = json!(true);
    request["duet"] = json!({
        "side": side,
        "address": "127.0.0.1",
        "port": baseline.port,
        "podUid": baseline.pod.uid,
    });
    request
}

fn cpus_of(half: &LoadDocument) -> (CpuList, CpuList) {
    let lists = half.cpus.clone().unwrap();
    let list = |text: Option<String>| CpuList::parse(&text.unwrap()).unwrap();
    (list(lists.subject), list(lists.generator))
}

fn rps(half: &LoadDocument) -> f64 {
    half.timed.as_ref().unwrap().fortio["ActualQPS"]
        .as_f64()
        .unwrap()
}

fn baseline_of(run: &Run) -> LoadDocument {
    run.document.duet.as_ref().unwrap().baseline.clone()
}

/// Whether a stall kept the halves of this duet from beginning together.
fn is_apart(run: &Run) -> bool {
    let failure = run.document.failure.as_ref();
    failure.is_some_and(|failure| failure.reason == ProbeFailureReason::DuetApart)
}

/// Whether a half does not know what the other used: a stall made the probe read its counters late, and it
/// dropped them.
fn lacks_a_neighbour(run: &Run) -> bool {
    let used = |half: &LoadDocument| half.timed.as_ref()?.neighbour?.cpu_nanoseconds;
    let all_told = || used(&run.document).is_some() && used(&baseline_of(run)).is_some();
    run.exit == Some(0) && !all_told()
}

/// The first of three duets that was not `disturbed` by the machine, and its variant. Each has fresh subjects,
/// because those of the one before are pinned; `work` are the microseconds of an answer of both.
fn undisturbed(
    number: u32,
    work: [u32; 2],
    side: &str,
    load: &Value,
    disturbed: fn(&Run) -> bool,
) -> (Subject, Run) {
    let mut duets = (0..3).map(|_| {
        let variant = Subject::start(number, work[0], "hello");
        let baseline = Subject::start(number + 1, work[1], "hello");
        let run = probe(&duet(&variant, &baseline, side, load));
        println!("{}", run.stderr);
        (variant, run)
    });
    let found = duets.find(|(_, run)| !disturbed(run));
    found.expect("the machine disturbed three duets")
}

#[test]
fn both_halves_are_loaded_at_the_same_moment_on_cpus_that_mirror_each_other() {
    let Some(_turn) = turn() else { return };
    let load = json!({"kind": "duration", "seconds": 5, "warmupSeconds": 1});
    let disturbed = |run: &Run| is_apart(run) || lacks_a_neighbour(run);
    let mut lists = vec![];
    for (side, number) in [("left", 10), ("right", 20)] {
        let (variant, run) = undisturbed(number, [2000, 100], side, &load, disturbed);
        assert_eq!(run.exit, Some(0), "{}", run.stderr);
        let told = run.document.duet.clone().unwrap();
        assert!(told.overlap.unwrap() >= 0.9, "{:?}", told.overlap);
        let (one, other) = (run.document.clone(), told.baseline);
        let ((subject, generator), (other_subject, other_generator)) =
            (cpus_of(&one), cpus_of(&other));
        assert_eq!(subject.count(), other_subject.count());
        assert_eq!(generator.count(), other_generator.count());
        let mine = subject.union(&generator);
        assert!(mine.is_disjoint(&other_subject.union(&other_generator)));
        let status = std::fs::read_to_string(format!("/proc/{}/status", variant.child.id()));
        let allowed = format!("Cpus_allowed_list:\t{subject}\n");
        assert!(status.unwrap().contains(&allowed), "{allowed}");
        lists.push(subject.to_string());
        println!("{side}: {} and {} per second", rps(&one), rps(&other));
        assert!(rps(&one) < 0.8 * rps(&other), "{}", run.stderr);
        let ceiling = run.document.generator_ceiling.unwrap();
        assert!((ceiling.cpus - f64::from(generator.count())).abs() < 1e-9);
        for half in [&one, &other] {
            let timed = half.timed.as_ref().unwrap();
            assert!(timed.neighbour.unwrap().cpu_nanoseconds.unwrap() > 100_000_000);
            assert_eq!(
                timed.generator_cpu_limit,
                Some(f64::from(generator.count()))
            );
            assert!(!half.environment.facts.is_empty());
            assert!(half.answer_after.is_some());
        }
        let side = if side == "left" {
            Side::Left
        } else {
            Side::Right
        };
        assert_eq!(told.cpus.unwrap().side, side);
    }
    assert_ne!(lists[0], lists[1], "the sides change places");
}

#[test]
fn a_number_of_requests_becomes_a_window_in_which_the_slower_half_gets_them() {
    let Some(_turn) = turn() else { return };
    let load = json!({"kind": "requests", "requests": 600, "warmupRequests": 400});
    let (_variant, run) = undisturbed(3, [50, 2000], "left", &load, is_apart);
    assert_eq!(run.exit, Some(0), "{}", run.stderr);
    let baseline = baseline_of(&run);
    let halves = [&run.document, &baseline];
    // What follows from the rate at the end of the warm-up; on a crowded machine that of the window is another.
    let warm = halves.map(|half| half.warmup.unwrap().rps);
    let planned = (1.1 * 600.0 / warm[0].min(warm[1])).max(1.0);
    for half in halves {
        let length = half.timed.as_ref().unwrap().duration_nanoseconds;
        let seconds = length as f64 / 1e9;
        // fortio is given whole milliseconds, and the last answer comes after the end.
        let possible = planned - 0.002..planned + 1.0;
        assert!(possible.contains(&seconds), "{seconds} of {planned}");
    }
    let count = |half: &LoadDocument| {
        let fortio = &half.timed.as_ref().unwrap().fortio;
        fortio["DurationHistogram"]["Count"].as_u64().unwrap()
    };
    let [fast, slow] = halves.map(count);
    assert!(fast > 2 * slow, "{fast} and {slow}");
}

#[test]
fn a_baseline_that_gives_a_wrong_answer_fails_the_duet_by_its_own_fault() {
    let Some(_turn) = turn() else { return };
    let (variant, baseline) = (Subject::start(5, 50, "hello"), Subject::start(6, 50, "bye"));
    let load = json!({"kind": "requests", "requests": 100, "warmupRequests": 10});
    let mut request = duet(&variant, &baseline, "left", &load);
    request["readyTimeoutSeconds"] = json!(1);
    let run = probe(&request);
    assert_eq!(run.failed(), ProbeFailureReason::BaselineFailed);
    assert!(run.message().starts_with("the baseline beside it: "));
    let own = baseline_of(&run).failure.unwrap();
    assert_eq!(own.reason, ProbeFailureReason::WrongAnswer);
}

#[test]
fn a_subject_that_cannot_be_seen_is_not_measured_unpinned() {
    let Some(_turn) = turn() else { return };
    let (variant, baseline) = (
        Subject::start(7, 50, "hello"),
        Subject::start(8, 50, "hello"),
    );
    let load = json!({"kind": "requests", "requests": 100, "warmupRequests": 10});
    let mut request = duet(&variant, &baseline, "left", &load);
    request["podUid"] = json!("00000000-0000-4000-8000-000000000000");
    let run = probe(&request);
    assert_eq!(run.failed(), ProbeFailureReason::SubjectNotPinned);
    assert!(run.document.timed.is_none());
}
