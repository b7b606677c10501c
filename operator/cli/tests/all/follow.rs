//! `get --watch` and `start` against a small HTTP server that responds like an API server.

use std::io::{BufRead, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Output};
use std::thread;

use serde_json::{Value, json};

/// The run in `state`, with `recorded` of its 60 trials recorded.
fn run(state: &str, recorded: u32, trustworthy: &str) -> Value {
    let finished = if recorded == 60 { "True" } else { "False" };
    let succeeded = if recorded == 60 { "True" } else { "Unknown" };
    let condition = |type_: &str, status: &str| {
        json!({
            "type": type_, "status": status, "reason": state, "message": "one\ntwo",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        })
    };
    json!({
        "apiVersion": "wasmbench.dev/v1alpha1",
        "kind": "BenchmarkRun",
        "metadata": {
            "name": "fast", "namespace": "bench", "uid": "1", "resourceVersion": recorded.to_string(),
        },
        "spec": {
            "variants": [{"name": "native", "preset": "native"}],
            "workloads": [{"name": "hello"}],
            "sweeps": {"throughput": {"connections": [50]}},
        },
        "status": {
            "conditions": [
                condition("Finished", finished),
                condition("Succeeded", succeeded),
                condition("Trustworthy", trustworthy),
            ],
            "progress": {
                "completedTrials": recorded, "totalTrials": 60, "text": format!("{recorded}/60"),
                "message": "measuring",
            },
            "verdict": "native on hello: 12.2k requests/s",
        },
    })
}

fn event(kind: &str, object: &Value) -> String {
    json!({"type": kind, "object": object}).to_string() + "\n"
}

/// Serves `first` to reads and lists, and `events` to watches. Returns the server's address.
fn api_server(first: Value, events: Vec<String>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (first, events) = (first.clone(), events.clone());
            thread::spawn(move || serve(&stream.unwrap(), &first, &events));
        }
    });
    address
}

/// The first line of a request, which is read to the end of its body.
fn request(reader: &mut impl BufRead) -> String {
    let (mut first, mut length) = (String::new(), 0);
    reader.read_line(&mut first).unwrap();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let line = line.trim().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    reader.read_exact(&mut vec![0; length]).unwrap();
    first
}

fn serve(stream: &TcpStream, first: &Value, events: &[String]) {
    let request = request(&mut BufReader::new(stream));
    let list = json!({
        "apiVersion": "wasmbench.dev/v1alpha1", "kind": "BenchmarkRunList",
        "metadata": {"resourceVersion": "1"}, "items": [first],
    });
    let body = if request.contains("watch=true") {
        events.concat()
    } else if request.contains("/networkpolicies") {
        policies().to_string()
    } else if request.contains("/benchmarkruns/fast") {
        first.to_string()
    } else {
        list.to_string()
    };
    let mut stream = stream;
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n";
    write!(stream, "{head}content-length: {}\r\n\r\n{body}", body.len()).unwrap();
}

/// The NetworkPolicies of the namespace.
fn policies() -> Value {
    let spec = json!({ "podSelector": {}, "policyTypes": ["Ingress"] });
    json!({
        "apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicyList", "metadata": {},
        "items": [{ "metadata": { "name": "default-deny" }, "spec": spec }],
    })
}

fn follow(address: &str) -> Output {
    get(address, &["fast", "-w"])
}

fn get(address: &str, more: &[&str]) -> Output {
    plugin(address, &[&["get"][..], more].concat())
}

fn plugin(address: &str, arguments: &[&str]) -> Output {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("config");
    let kubeconfig = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "here",
        "clusters": [{"name": "c", "cluster": {"server": address}}],
        "users": [{"name": "u", "user": {}}],
        "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u"}}],
    });
    std::fs::write(&path, kubeconfig.to_string()).unwrap();
    Command::new(env!("CARGO_BIN_EXE_kubectl-wasmbench"))
        .args(arguments)
        .args(["-n", "bench", "--kubeconfig"])
        .arg(&path)
        .output()
        .unwrap()
}

#[test]
fn without_a_terminal_every_change_is_a_line_and_doubts_are_an_exit_code() {
    let events = vec![
        event("MODIFIED", &run("Measuring", 30, "Unknown")),
        event("MODIFIED", &run("Completed", 60, "False")),
    ];
    let output = follow(&api_server(run("Measuring", 0, "Unknown"), events));
    let stdout = String::from_utf8(output.stdout).unwrap();
    insta::assert_snapshot!(stdout, @r"
    Measuring: 0/60
    Measuring: 30/60
    bench/fast: native on hello: 12.2k requests/s
    10 block(s), 60 of 60 trials

    Trustworthy: NO (Completed)
      one
      two
    ");
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn a_run_that_has_ended_is_shown_at_once() {
    let output = follow(&api_server(run("Completed", 60, "True"), vec![]));
    assert_eq!(output.status.code(), Some(0));
    assert!(
        String::from_utf8(output.stdout)
            .unwrap()
            .starts_with("bench/fast: native on hello")
    );
}

#[test]
fn a_run_that_is_deleted_ends_the_wait() {
    let first = run("Measuring", 0, "Unknown");
    let output = follow(&api_server(first.clone(), vec![event("DELETED", &first)]));
    assert_eq!(output.status.code(), Some(1));
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .contains("'fast' was deleted")
    );
}

#[test]
fn for_programs_stdout_is_one_document_and_progress_goes_elsewhere() {
    let events = vec![event("MODIFIED", &run("Completed", 60, "False"))];
    let server = api_server(run("Measuring", 0, "Unknown"), events);
    let output = get(&server, &["fast", "-w", "-o", "json"]);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["schema"], "wasmbench.dev/run/v1");
    assert_eq!(document["trustworthy"], false);
    assert_eq!(document["exitCode"], 3);
    assert_eq!(document["status"]["progress"]["completedTrials"], 60);
    assert_eq!(output.status.code(), Some(3));
    let progress = String::from_utf8(output.stderr).unwrap();
    assert_eq!(progress, "Measuring: 0/60\n");
}

#[test]
fn one_run_and_all_runs_are_documents_too() {
    let server = api_server(run("Measuring", 30, "Unknown"), vec![]);
    let one = get(&server, &["fast", "-o", "yaml"]);
    let one: Value = serde_yaml::from_slice(&one.stdout).unwrap();
    assert_eq!(
        (&one["name"], &one["state"]),
        (&json!("fast"), &json!("Measuring"))
    );
    assert_eq!(one["finished"], false);
    // What is undecided is absent, never false.
    for open in ["succeeded", "trustworthy", "passed", "exitCode"] {
        assert!(one.get(open).is_none(), "{open}: {one}");
    }
    let all = get(&server, &["-o", "json"]);
    let all: Value = serde_json::from_slice(&all.stdout).unwrap();
    assert_eq!(all["schema"], "wasmbench.dev/runs/v1");
    assert_eq!(all["runs"][0], one);
}

#[test]
fn network_policies_are_named_when_nothing_answered() {
    let mut deaf = run("Completed", 60, "True");
    deaf["status"]["conditions"][1]["message"] = json!("60 failed, mostly NeverListened of native");
    for more in [&["fast"][..], &["fast", "-w"]] {
        let output = get(&api_server(deaf.clone(), vec![]), more);
        let notes = String::from_utf8(output.stderr).unwrap();
        assert!(
            notes.contains("NetworkPolicies of namespace bench: default-deny"),
            "{notes}"
        );
    }
    let output = get(&api_server(run("Completed", 60, "True"), vec![]), &["fast"]);
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}

#[test]
fn a_started_run_is_created_followed_and_ends_with_its_exit_code() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("run.json");
    let mut written = run("Measuring", 0, "Unknown");
    written["metadata"] = json!({"name": "fast"});
    written.as_object_mut().unwrap().remove("status");
    std::fs::write(&file, written.to_string()).unwrap();
    let file = file.to_str().unwrap();
    let events = vec![event("MODIFIED", &run("Completed", 60, "False"))];
    let server = api_server(run("Measuring", 0, "Unknown"), events);
    let output = plugin(&server, &["start", "-f", file]);
    let notes = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{notes}");
    assert!(
        notes.starts_with("benchmarkrun.wasmbench.dev/fast-"),
        "{notes}"
    );
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("native on hello: 12.2k requests/s"), "{text}");

    written["spec"]["blockz"] = json!(3);
    std::fs::write(file, written.to_string()).unwrap();
    let refused = plugin(&server, &["start", "-f", file]);
    let error = String::from_utf8(refused.stderr).unwrap();
    assert!(
        error.contains("spec.blockz: there is no such field; did you mean blocks?"),
        "{error}"
    );
}
