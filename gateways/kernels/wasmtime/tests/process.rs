//! The executor as the front sees it.

#![expect(clippy::unwrap_used, reason = "a test")]

use std::fs::write;
use std::io::Write as _;
use std::process::{Command, Output, Stdio};

/// Returns its repeats.
const KERNEL: &str = r#"(module (memory (export "memory") 1)
  (func (export "run") (param i32) (result f64) (f64.convert_i32_s (local.get 0))))"#;

/// Its output after these calls, with a folder of one kernel.
fn output(arguments: &[&str], calls: &str) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let module = wat::parse_str(KERNEL).unwrap();
    write(folder.path().join("repeats.wasm"), module).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_kernel-wasmtime"))
        .args(arguments)
        .arg(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    // It may have ended already.
    let _ = input.write_all(calls.as_bytes());
    drop(input);
    child.wait_with_output().unwrap()
}

#[test]
fn it_reports_its_mode_and_answers_calls_until_its_input_ends() {
    for (checks, allocator) in [
        ("Guard", "OnDemand"),
        ("Guard", "Pooling"),
        ("Explicit", "OnDemand"),
        ("None", "OnDemand"),
    ] {
        let arguments = [
            "--threads",
            "4",
            "--bounds-checks",
            checks,
            "--allocator",
            allocator,
        ];
        let output = output(&arguments, "1 repeats 3\n2 other 1\n");
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        let mut lines: Vec<&str> = text.lines().collect();
        for member in [
            r#""engine":"wasmtime""#.to_owned(),
            format!(r#""boundsChecks":"{checks}""#),
            format!(r#""allocator":"{allocator}""#),
            r#""chainNanoseconds":"#.to_owned(),
        ] {
            assert!(
                lines[0].starts_with("ready {") && lines[0].contains(&member),
                "{text}"
            );
        }
        lines[1..].sort_unstable();
        assert!(lines[1].starts_with("1 4008000000000000 "), "{text}");
        assert_eq!(lines[2..], ["2 ! there is no kernel 'other'"]);
    }
}

#[test]
fn an_option_that_the_engine_does_not_have_ends_it_with_a_message() {
    let output = output(&["--bounds-checks", "Clamp"], "");
    assert!(!output.status.success());
    let errors = String::from_utf8(output.stderr).unwrap();
    let message = "kernel-wasmtime: Wasmtime clamps no addresses";
    assert!(errors.starts_with(message), "{errors}");
    assert_eq!(output.stdout, b"");
}
