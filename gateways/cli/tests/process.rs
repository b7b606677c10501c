//! The gateway in front of a stand-in for a runtime, which responds as one does; the end-to-end
//! tests use the real ones.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

const BINARY: &str = env!("CARGO_BIN_EXE_gateway-cli");

/// What the module returns for `chain 1`.
const ONE_STEP: &str = "723471715";

struct Gateway {
    child: Child,
    address: String,
    _folder: TempDir,
}

/// A program with this text, and a module, in a folder of their own.
///
/// A shell writes the program. A file that this process has open for writing is also open in the
/// children of its other threads until they execute something else, and nobody can execute it
/// meanwhile.
fn files(script: &str) -> (TempDir, PathBuf, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let (program, module) = (folder.path().join("runtime"), folder.path().join("module"));
    let written = Command::new("/bin/sh")
        .args(["-c", "printf %s \"$1\" > \"$0\" && chmod 755 \"$0\""])
        .arg(&program)
        .arg(format!("#!/bin/sh\n{script}\n"))
        .status()
        .unwrap();
    assert!(written.success());
    std::fs::write(&module, "code").unwrap();
    (folder, program, module)
}

fn options(program: &Path, module: &Path) -> [String; 6] {
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let (program, module) = (text(program), text(module));
    [
        "--program".into(),
        program,
        "--module".into(),
        module.clone(),
        "--compute-module".into(),
        module,
    ]
}

impl Gateway {
    fn start(script: &str, arguments: &[&str]) -> Self {
        let (folder, program, module) = files(script);
        let mut child = Command::new(BINARY)
            .args(["--listen", "127.0.0.1:0"])
            .args(options(&program, &module))
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        assert!(
            line.starts_with("wasmbench: cli listening on 127."),
            "{line}"
        );
        Self {
            child,
            address: line.trim_end().rsplit(' ').next().unwrap().to_owned(),
            _folder: folder,
        }
    }

    /// Status and body.
    fn get(&self, target: &str) -> (String, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(stream, "GET {target} HTTP/1.0\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head[9..12].to_owned(), body.to_owned())
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Responds as wasmtime does when it is called as wasmtime is.
const WASMTIME: &str = r#"
case "$*" in
  "--version") echo "wasmtime 48.0.8" ;;
  "run --allow-precompiled /"*/module) printf wasm:; exec cat ;;
  "run --allow-precompiled --invoke chain /"*/module" 1") echo 723471715 ;;
  "run --allow-precompiled --invoke chain /"*/module" "*) sleep 0.02; echo "$CHAIN" ;;
  *) exit 9 ;;
esac"#;

#[test]
fn each_answer_of_a_workload_is_made_by_a_process_of_the_runtime() {
    let gateway = Gateway::start(WASMTIME, &["--runtime", "wasmtime"]);
    let digest = "66687aadf862bd776c8fc18b8e9f8e20089714856ee233b3902a591d0d5f2925";
    for (target, body) in [
        ("/", "wasm:hello".to_owned()),
        ("/state", "wasm:1".to_owned()),
        ("/state", "wasm:2".to_owned()),
        ("/compute?iters=1", format!("wasm:{digest}")),
        ("/health", "ok".to_owned()),
        ("/sleep?ms=10", "wasm:slept".to_owned()),
    ] {
        assert_eq!(gateway.get(target), ("200".to_owned(), body));
    }
    assert_eq!(gateway.get("/compute?iters=x").1, "iters is not a number");
}

#[test]
fn the_engine_has_a_ratio_only_if_it_computes_the_right_number() {
    // The 2,000,000 steps that /engine requests, computed here once more.
    let right = (0..2_000_000).fold(2_463_534_242_u32, |mut x, _| {
        x ^= x << 13;
        x ^= x >> 17;
        x ^ (x << 5)
    });
    for (number, has_ratio) in [(right.to_string(), true), (ONE_STEP.to_owned(), false)] {
        let script = WASMTIME.replace("\"$CHAIN\"", &number);
        let gateway = Gateway::start(&script, &["--runtime", "wasmtime", "--children", "3"]);
        let (_, engine) = gateway.get("/engine");
        for member in [
            r#""engine":"wasmtime""#,
            r#""version":"48.0.8""#,
            r#""frontend":"cli""#,
            r#""compileMode":"Aot""#,
            r#""childrenAtOnce":3"#,
        ] {
            assert!(engine.contains(member), "{engine}");
        }
        let null = engine.contains(r#""computeRatio":null"#);
        assert_eq!(null, !has_ratio, "{engine}");
    }
}

#[test]
fn a_runtime_that_is_kept_off_the_cpu_is_not_taken_for_an_interpreter() {
    let script = WASMTIME.replace("sleep 0.02; echo \"$CHAIN\"", "sleep 0.4; echo 2689770536");
    let (_, engine) = Gateway::start(&script, &["--runtime", "wasmtime"]).get("/engine");
    let ratio = engine.split(r#""computeRatio":"#).nth(1).unwrap();
    let ratio = ratio.split([',', '}']).next().unwrap();
    assert!(
        ratio.parse::<f64>().is_ok_and(|ratio| ratio < 5.0),
        "{engine}"
    );
}

#[test]
fn wasmedge_is_called_in_its_own_way() {
    let script = r#"case "$*" in /*/module) printf wasm:; exec cat ;; *) exit 9 ;; esac"#;
    let arguments = ["--runtime", "wasmedge", "--engine-compile", "Interpreter"];
    let gateway = Gateway::start(script, &arguments);
    assert_eq!(gateway.get("/").1, "wasm:hello");
    let (_, engine) = gateway.get("/engine");
    assert!(
        engine.contains(r#""compileMode":"Interpreter""#),
        "{engine}"
    );
    assert!(engine.contains(r#""computeRatio":null"#), "{engine}");
}

#[test]
fn v8_is_called_by_a_script_of_node() {
    let script = r#"
case "$*" in
  "--print process.versions.v8") echo 13.6.233.17-node.26 ;;
  "--no-warnings /wasi.cjs /"*/module) printf wasm:; exec cat ;;
  *) exit 9 ;;
esac"#;
    let gateway = Gateway::start(script, &["--runtime", "v8"]);
    assert_eq!(gateway.get("/").1, "wasm:hello");
    let (_, engine) = gateway.get("/engine");
    for member in [
        r#""engine":"v8""#,
        r#""version":"13.6.233.17-node.26""#,
        r#""compileMode":"Jit""#,
    ] {
        assert!(engine.contains(member), "{engine}");
    }
}

#[test]
fn wasmer_is_called_in_its_own_way() {
    let script = r#"
case "$*" in
  "--version") echo "wasmer 7.4.2" ;;
  "run /"*/module) printf wasm:; exec cat ;;
  *) exit 9 ;;
esac"#;
    let gateway = Gateway::start(script, &["--runtime", "wasmer"]);
    assert_eq!(gateway.get("/").1, "wasm:hello");
    let (_, engine) = gateway.get("/engine");
    for member in [
        r#""engine":"wasmer""#,
        r#""version":"7.4.2""#,
        r#""compileMode":"Aot""#,
    ] {
        assert!(engine.contains(member), "{engine}");
    }
}

#[test]
fn a_runtime_that_hangs_is_answered_504_and_one_that_fails_500() {
    let limited = ["--runtime", "wasmtime", "--child-timeout-ms", "200"];
    let hanging = Gateway::start("exec sleep 60", &limited);
    assert_eq!(hanging.get("/").0, "504");
    let failing = Gateway::start("echo no such module >&2; exit 1", &limited[..2]);
    let (status, body) = failing.get("/");
    assert_eq!(status, "500");
    assert!(body.contains("no such module"), "{body}");
}

#[test]
fn invalid_options_are_reported_in_one_sentence_with_code_two() {
    let (_folder, program, module) = files("exit 1");
    for (arguments, message) in [
        (&[][..], "--runtime is missing"),
        (
            &["--runtime", "wasm3"],
            "'wasm3' is not wasmtime, wasmedge, v8 or wasmer",
        ),
        (
            &["--runtime", "wasmtime", "--engine-compile", "Interpreter"],
            "wasmtime is not called as Interpreter",
        ),
        (
            // The file holds no Wasm, so it would not be compiled.
            &["--runtime", "wasmer", "--engine-compile", "Jit"],
            "module as Jit: name another file",
        ),
        (
            &["--runtime", "wasmer", "--engine-compile", "Interpreter"],
            "wasmer is not called as Interpreter",
        ),
        (
            &["--runtime", "wasmtime", "--children", "0"],
            "'0' is not a number from 1",
        ),
    ] {
        let output = Command::new(BINARY)
            .args(options(&program, &module))
            .args(arguments)
            .output()
            .unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains(message), "{text}");
    }
}

#[test]
fn a_module_compiled_for_each_answer_is_not_precompiled_code() {
    for runtime in ["wasmtime", "wasmer"] {
        let (_folder, program, module) = files("exit 1");
        std::fs::write(&module, b"\0asm\x01\0\0\0").unwrap();
        let output = Command::new(BINARY)
            .args(options(&program, &module))
            .args(["--runtime", runtime, "--engine-compile", "Aot"])
            .output()
            .unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{text}");
        let message = format!("{runtime} would not execute /");
        assert!(text.contains(&message), "{text}");
        assert!(text.contains("as Aot: name another file"), "{text}");
    }
}

#[test]
fn the_rate_of_bare_processes_counts_those_that_succeed() {
    let rate = |script: &str| {
        let (_folder, program, module) = files(script);
        let output = Command::new(BINARY)
            .args(["spawn-rate", "--seconds", "1", "--runtime", "wasmtime"])
            .args(["--children", "2"])
            .args(options(&program, &module))
            .output()
            .unwrap();
        let text = [output.stdout, output.stderr].concat();
        String::from_utf8(text).unwrap()
    };
    // Two at once, a twentieth of a second each: forty per second at most.
    let output = rate("read -r line; sleep 0.05");
    let found: f64 = output.trim().parse().unwrap();
    assert!((1.0..=40.0).contains(&found), "{output}");
    let output = rate("exit 3");
    assert!(output.contains("exit status: 3"), "{output}");
}

/// Returns the outcome of `gateway serve` with a module of these bytes and a program that prints
/// how it was called.
fn served(module_bytes: &[u8], arguments: &[&str]) -> (Option<i32>, String) {
    let script = r#"
case "$1" in
  --version) echo "wasmtime 48.0.8" ;;
  *) echo "$TOKIO_WORKER_THREADS $WASMBENCH_UPSTREAM $*" ;;
esac"#;
    let (_folder, program, module) = files(script);
    std::fs::write(&module, module_bytes).unwrap();
    let output = Command::new(BINARY)
        .arg("serve")
        .args(&options(&program, &module)[..4])
        .args(arguments)
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(text).unwrap())
}

#[test]
fn the_runtimes_server_gets_the_facts_that_its_guest_reports() {
    let arguments = ["--listen", "127.0.0.1:9", "--upstream", "up:1"];
    let (code, text) = served(b"\0asm....", &arguments);
    assert_eq!(code, Some(0), "{text}");
    assert!(
        text.starts_with("1 up:1 serve --addr 127.0.0.1:9 -Scli "),
        "{text}"
    );
    for expected in [
        "--env WASM_HOST_ENGINE=wasmtime",
        "--env WASM_HOST_VERSION=48.0.8",
        "--env WASM_HOST_COMPILE_MODE=Jit",
        "--env WASMBENCH_UPSTREAM",
    ] {
        assert!(text.contains(expected), "{text}");
    }
    assert!(!text.contains("precompiled"), "{text}");
}

#[test]
fn the_file_shows_whether_it_was_precompiled() {
    let (_, text) = served(b"\x7fELF....", &["--engine-compile", "Jit"]);
    assert!(text.contains("WASM_HOST_COMPILE_MODE=Aot"), "{text}");
    assert!(text.contains("--allow-precompiled /"), "{text}");
    let (code, text) = served(b"text", &[]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("neither a component nor code"), "{text}");
    let (code, text) = served(b"\0asm", &["--engine-compile", "Interpreter"]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("'Interpreter' is not Jit or Aot"), "{text}");
}
