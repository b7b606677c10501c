//! How fast the gateways with a process per response are compared with how fast this machine can
//! start that process at all, and how fast that is compared with a program that does nothing.
//! Ratios are within rounds; each runs once per round, and they take turns going first, on the
//! loopback. Run only by `make bench`.

use std::path::Path;
use std::process::Command;

use wasmbench_e2e::others::{Gateway, Task, in_root, program};
use wasmbench_e2e::selftest::at_least;

/// Number of rounds; it is odd, so that the median is one of them.
const ROUNDS: usize = 5;
/// A program that does nothing and needs only the C library.
const TRUE: &str = "/bin/true";

/// Processes per second that the gateway `spawner` starts with these options.
fn spawned(mut spawner: Command, args: &[&str]) -> f64 {
    let output = spawner
        .args(["spawn-rate", "--seconds", "3"])
        .args(args)
        .output()
        .expect("the gateway runs");
    let printed = String::from_utf8_lossy(&output.stdout);
    let rate = printed.trim().parse();
    rate.unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

/// Responses per second at a hundred connections.
fn answered(root: &Path, args: &[&str]) -> f64 {
    let gateway = Gateway::in_root(root, args);
    let task = Task {
        path: "/",
        connections: 100,
        seconds: 3,
        warmup_seconds: 1,
        generator_cpu: None,
    };
    let load = task.by_probe(&gateway);
    assert_eq!(load.failed, 0, "an answer that fails is a cheap one");
    load.succeeded as f64 / load.seconds
}

fn median(mut ratios: Vec<f64>) -> f64 {
    ratios.sort_by(f64::total_cmp);
    ratios[ratios.len() / 2]
}

/// Medians of two ratios: responses to processes alone, and processes to those of a program that
/// does nothing.
fn ratios(root: &Path, args: &[&str]) -> (f64, f64) {
    let (mut of_gateway, mut of_runtime) = (vec![], vec![]);
    let of_nothing = || {
        let nothing = Command::new(root.join("gateway"));
        let program = ["--runtime=wasmtime", "--program", TRUE];
        let modules = ["--module", TRUE, "--compute-module", TRUE];
        spawned(nothing, &[program.as_slice(), &modules].concat())
    };
    let of_processes = || spawned(in_root(root), args);
    let of_answers = || answered(root, args);
    let all: [&dyn Fn() -> f64; 3] = [&of_nothing, &of_processes, &of_answers];
    for round in 0..ROUNDS {
        let mut rates = [0.0; 3];
        for turn in 0..all.len() {
            let which = (round + turn) % all.len();
            rates[which] = all[which]();
        }
        let [nothing, runtime, gateway] = rates;
        of_runtime.push(runtime / nothing);
        of_gateway.push(gateway / runtime);
    }
    (median(of_gateway), median(of_runtime))
}

fn keeps_up(name: &str, variable: &str, args: &[&str]) {
    let (of_gateway, of_runtime) = ratios(&program(variable), args);
    // Shown without a bound: it is the runtime's own start.
    let of_start = format!("{name}-vs-true-processes");
    at_least(&of_start, of_runtime, "ratio", 0.0);
    let of_answers = format!("{name}-vs-processes-alone-c100");
    assert!(at_least(&of_answers, of_gateway, "ratio", 0.8));
}

#[test]
#[ignore = "a benchmark: make bench"]
fn a_wasmtime_per_answer_is_answered_about_as_fast_as_it_starts() {
    keeps_up(
        "wasmtime-cli",
        "WASMBENCH_WASMTIME_CLI",
        &["--runtime=wasmtime"],
    );
}

#[test]
#[ignore = "a benchmark: make bench"]
fn a_wasmedge_per_answer_is_answered_about_as_fast_as_it_starts() {
    for (name, compile) in [
        ("wasmedge-cli-aot", "--engine-compile=Aot"),
        ("wasmedge-cli-interpreter", "--engine-compile=Interpreter"),
    ] {
        keeps_up(
            name,
            "WASMBENCH_WASMEDGE_CLI",
            &["--runtime=wasmedge", compile],
        );
    }
}
