//! What an instance costs with each allocator, outside of pods: a restricted pod may not call `process_madvise`. Prints
//! microseconds for making and dropping an instance, and the ratio to `Pooling` as the median over rounds.
//!
//! `cargo bench --package kernel-wasmtime`

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a program for developers"
)]

use std::fs::write;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

const ALLOCATORS: [&str; 5] = [
    "Pooling",
    "PoolingBatched",
    "PoolingCopied",
    "OnDemand",
    "OnDemandCopied",
];
const ROUNDS: usize = 41;
const CALLS: usize = 1000;
/// Writes one page, as kernels write many; the second one has a megabyte of initial data.
const EMPTY: &str = r#"(module (memory (export "memory") 17)
  (func (export "run") (param i32) (result f64) (f64.store (i32.const 8) (f64.const 1)) (f64.load (i32.const 8))))"#;

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let data = format!(r#"(data (i32.const 0) "{}")"#, "u".repeat(1 << 20));
    let filled = format!("{} {data})", EMPTY.strip_suffix(')').unwrap());
    for (name, text) in [("empty", EMPTY), ("filled", &filled)] {
        let module = wat::parse_str(text).unwrap();
        write(folder.path().join(format!("{name}.wasm")), module).unwrap();
    }
    for threads in ["1", "2"] {
        for kernel in ["empty", "filled"] {
            println!("\n{kernel}, {threads} thread(s)");
            measure(folder.path(), threads, kernel);
        }
    }
}

/// All allocators in turn, in each round.
fn measure(folder: &Path, threads: &str, kernel: &str) {
    let mut executors = ALLOCATORS.map(|name| Executor::start(folder, threads, name));
    let rounds: Vec<[f64; 5]> = (0..ROUNDS)
        .map(|_| executors.each_mut().map(|one| one.instance(kernel)))
        .collect();
    for (place, name) in ALLOCATORS.iter().enumerate() {
        let own = median(rounds.iter().map(|round| round[place]));
        let ratio = median(rounds.iter().map(|round| round[place] / round[0]));
        println!("{name:<15} {own:8.2} us {ratio:6.2}x");
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

struct Executor {
    process: Child,
    answers: BufReader<ChildStdout>,
}

impl Executor {
    fn start(folder: &Path, threads: &str, allocator: &str) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_kernel-wasmtime"))
            .args(["--threads", threads, "--allocator", allocator])
            .arg(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let answers = BufReader::new(process.stdout.take().unwrap());
        let mut executor = Self { process, answers };
        executor.line();
        executor
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        line
    }

    /// The mean time for an instance, in microseconds.
    fn instance(&mut self, kernel: &str) -> f64 {
        let calls = format!("1 {kernel} 1\n").repeat(CALLS);
        let input = self.process.stdin.as_mut().unwrap();
        input.write_all(calls.as_bytes()).unwrap();
        let nanoseconds: f64 = (0..CALLS)
            .map(|_| self.line())
            .map(|line| {
                line.split_whitespace()
                    .nth(2)
                    .unwrap()
                    .parse::<f64>()
                    .unwrap()
            })
            .sum();
        nanoseconds / 1000.0 / CALLS as f64
    }
}

impl Drop for Executor {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}
