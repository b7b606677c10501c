//! A process of functions under test, and the tests that every engine must pass.

#![expect(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "it is part of tests"
)]

mod process;

use std::time::Instant;

pub use process::Process;

/// A function that prints an object.
const HELLO: &str = r#"(module
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "\10\00\00\00\12\00\00\00")
  (data (i32.const 16) "{\"hello\":\"world\"}\n")
  (func (export "_start") (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 64)))))"#;
/// One that never ends.
const ENDLESS: &str = r#"(module (memory (export "memory") 1)
  (func (export "_start") (loop $again (br $again))))"#;
/// One whose start section never ends.
const ENDLESS_START: &str = r#"(module (memory (export "memory") 1)
  (func $start (loop $again (br $again))) (start $start) (func (export "_start")))"#;
/// One that traps at once.
const TRAP: &str = r#"(module (memory (export "memory") 1) (func (export "_start") unreachable))"#;
/// One that requests more memory than it may have, and traps if it is refused.
const GREEDY: &str = r#"(module (memory (export "memory") 1)
  (func (export "_start") (if (i32.lt_s (memory.grow (i32.const 8192)) (i32.const 0)) (then unreachable))))"#;
/// One with two memories, each of which would get the whole limit.
const MEMORIES: &str =
    r#"(module (memory (export "memory") 4000) (memory 4000) (func (export "_start")))"#;
/// One whose import is not provided.
const UNKNOWN_IMPORT: &str = r#"(module (import "env" "open" (func))
  (memory (export "memory") 1) (func (export "_start")))"#;
/// One that is not a command.
const NO_START: &str = r#"(module (memory (export "memory") 1))"#;

/// The result of `HELLO`.
const WORLD: &str = r#"{"hello":"world"}"#;

/// Defines these tests for the program of an executor of modules.
#[macro_export]
macro_rules! process_tests {
    ($program:expr, $engine:expr, $mode:expr) => {
        #[test]
        fn a_function_is_called_after_its_code_was_sent() {
            $crate::a_function_is_called_after_its_code_was_sent($program);
        }

        #[test]
        fn invalid_code_is_refused_and_other_functions_go_on() {
            $crate::invalid_code_is_refused_and_other_functions_go_on($program);
        }

        #[test]
        fn a_function_that_never_ends_is_stopped_and_others_go_on() {
            $crate::a_function_that_never_ends_is_stopped_and_others_go_on($program);
        }

        #[test]
        fn the_engine_reports_its_name_and_speed() {
            $crate::an_engine_reports_its_name_and_speed($program, $engine, $mode);
        }
    };
}

fn module(text: &str) -> Vec<u8> {
    wat::parse_str(text).unwrap()
}

/// A function is initialised once, called often, and forgotten.
pub fn a_function_is_called_after_its_code_was_sent(program: &str) {
    let process = Process::start(program, &[]);
    assert_eq!(process.run("").0, 404);
    assert_eq!(
        process.init("", &module(HELLO)),
        (200, r#"{"ok":true}"#.into())
    );
    for _ in 0..3 {
        assert_eq!(process.run(""), (200, WORLD.into()));
    }
    assert_eq!(process.init("", &module(HELLO)).0, 403);
    assert_eq!(process.run("/one").0, 404);
    assert_eq!(process.init("/one", &module(HELLO)).0, 200);
    assert_eq!(process.run("/one"), (200, WORLD.into()));
    assert_eq!(process.post("/one/destroy", b"{}").0, 200);
    assert_eq!(process.post("/one/destroy", b"{}").0, 404);
    assert_eq!(process.run("/one").0, 404);
    let markers = process.end();
    assert_eq!(markers, 4, "a marker after each call");
}

/// Code that is not a function is refused with a reason, and other functions keep working.
pub fn invalid_code_is_refused_and_other_functions_go_on(program: &str) {
    let process = Process::start(program, &[]);
    assert_eq!(process.init("/good", &module(HELLO)).0, 200);
    let whole = module(HELLO);
    for (code, message) in [
        (b"\x7fELF\x02\x01\x01".to_vec(), "no WebAssembly module"),
        (b"\0asm\x0d\0\x01\0".to_vec(), "no WebAssembly module"),
        (b"anything".to_vec(), "no WebAssembly module"),
        (whole[..whole.len() / 2].to_vec(), "cannot be loaded"),
        (module(MEMORIES), "memor"),
        (module(UNKNOWN_IMPORT), "env"),
        (module(NO_START), "_start"),
    ] {
        let (status, body) = process.init("/bad", &code);
        assert_eq!(status, 400, "{body}");
        assert!(body.contains(message), "{message}: {body}");
    }
    let (status, body) = process.post("/bad/init", b"{");
    assert_eq!(
        (status, body.contains("the body is no")),
        (400, true),
        "{body}"
    );
    assert_eq!(process.init("/UPPER", &whole).0, 400);
    assert_eq!(process.run("/good"), (200, WORLD.into()));
}

/// A call that never ends is stopped, and a failing call affects no other.
pub fn a_function_that_never_ends_is_stopped_and_others_go_on(program: &str) {
    let process = Process::start(program, &[("WASMBENCH_ACTION_TIMEOUT_SECONDS", "1")]);
    for (name, text) in [
        ("/good", HELLO),
        ("/endless", ENDLESS),
        ("/trap", TRAP),
        ("/greedy", GREEDY),
    ] {
        assert_eq!(process.init(name, &module(text)).0, 200, "{name}");
    }
    let (status, body) = process.run("/trap");
    assert_eq!((status, body.contains("failed")), (502, true), "{body}");
    let (status, body) = process.run("/greedy");
    assert_eq!((status, body.contains("failed")), (502, true), "{body}");
    std::thread::scope(|scope| {
        let endless = scope.spawn(|| (process.run("/endless"), Instant::now()));
        // The other function answers before the endless one is stopped.
        let good = scope.spawn(|| (process.run("/good"), Instant::now()));
        let ((status, body), stopped) = endless.join().unwrap();
        let (answer, answered) = good.join().unwrap();
        assert_eq!(
            (status, body.contains("stopped after 1 s")),
            (502, true),
            "{body}"
        );
        assert_eq!(answer, (200, WORLD.into()));
        assert!(answered < stopped);
    });
    assert_eq!(process.run("/good"), (200, WORLD.into()));
    // An engine may refuse the module, or stop each call.
    let (status, body) = process.init("/start", &module(ENDLESS_START));
    if status == 200 {
        assert_eq!(process.run("/start").0, 502);
    } else {
        assert!(body.contains("start section"), "{body}");
    }
    assert_eq!(process.run("/good"), (200, WORLD.into()));
}

/// An engine reports what it is, and how fast.
pub fn an_engine_reports_its_name_and_speed(program: &str, engine: &str, mode: &str) {
    let process = Process::start(program, &[]);
    let (status, body) = process.get("/engine");
    assert_eq!(status, 200);
    for member in [
        format!(r#""engine":"{engine}""#),
        format!(r#""compileMode":"{mode}""#),
        r#""chainNanoseconds":"#.into(),
        r#""version":""#.into(),
    ] {
        assert!(body.contains(&member), "{member}: {body}");
    }
}
