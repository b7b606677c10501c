//! The sandbox with small modules that misbehave: nothing outlives an instance, and no module
//! brings down the gateway.

use gateway_embedded::{Allocator, Compile, Memory, Mode, Sandbox, SandboxError};
use gateway_http::Transform;

/// The three kinds of memory, each compiled at startup and ahead of time.
fn modes() -> [Mode; 6] {
    [Compile::Jit, Compile::Aot]
        .map(|compile| {
            [
                Mode::new(Allocator::OnDemand, Memory::Heap).unwrap(),
                Mode::new(Allocator::OnDemand, Memory::Mapped).unwrap(),
                Mode::new(Allocator::Pooling, Memory::Mapped).unwrap(),
            ]
            .map(|mode| mode.compiled(compile))
        })
        .concat()
        .try_into()
        .unwrap()
}

fn sandbox(mode: Mode, module: &[u8]) -> Result<Sandbox, SandboxError> {
    Sandbox::new(mode, &mode.prepare(module)?)
}

/// A module with this body of `_start`. At address 0 is a list of one buffer: 256 bytes at 64.
fn module(globals: &str, start: &str) -> Vec<u8> {
    let text = format!(
        r#"(module
          (import "wasi_snapshot_preview1" "fd_read"
            (func $read (param i32 i32 i32 i32) (result i32)))
          (import "wasi_snapshot_preview1" "fd_write"
            (func $write (param i32 i32 i32 i32) (result i32)))
          (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
          (memory (export "memory") 1)
          (data (i32.const 0) "\40\00\00\00\00\01\00\00")
          {globals}
          (func (export "_start") {start}))"#
    );
    wat::parse_str(text).unwrap()
}

/// Reads into the buffer, and stores at 4, as the buffer's length, how much was read.
const READ: &str = "(drop (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 4)))";
const WRITE: &str = "(drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))";

fn apply(sandbox: &mut Sandbox, body: &str) -> Result<String, String> {
    let mut body = body.as_bytes().to_vec();
    sandbox
        .apply(&mut body)
        .map_err(|failed| failed.to_string())?;
    Ok(String::from_utf8(body).unwrap())
}

#[test]
fn every_answer_has_a_fresh_instance() {
    // Memory and a global count up; the response is their sum.
    let bytes = module(
        "(global $count (mut i32) (i32.const 48))",
        "(global.set $count (i32.add (global.get $count) (i32.const 1)))
         (i32.store8 (i32.const 512) (i32.add (i32.load8_u (i32.const 512)) (i32.const 1)))
         (i32.store (i32.const 0) (i32.const 600)) (i32.store (i32.const 4) (i32.const 1))
         (i32.store8 (i32.const 600)
           (i32.add (global.get $count) (i32.load8_u (i32.const 512))))
         (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))",
    );
    for mode in modes() {
        let mut sandbox = sandbox(mode, &bytes).unwrap();
        for _ in 0..50 {
            assert_eq!(apply(&mut sandbox, ""), Ok("2".to_owned()), "{mode:?}");
        }
    }
}

#[test]
fn after_a_trap_the_next_answer_is_right() {
    // A body that begins with 'x' traps in the middle of its output.
    let bytes = module(
        "",
        &format!(
            "{READ} {WRITE}
             (if (i32.eq (i32.load8_u (i32.const 64)) (i32.const 120)) (then unreachable))"
        ),
    );
    for mode in modes() {
        let mut sandbox = sandbox(mode, &bytes).unwrap();
        for _ in 0..20 {
            assert_eq!(apply(&mut sandbox, "abc"), Ok("abc".to_owned()), "{mode:?}");
            let failed = apply(&mut sandbox, "xyz").unwrap_err();
            assert!(
                failed.starts_with("the Wasm module failed: wasm trap: "),
                "{failed}"
            );
        }
    }
}

#[test]
fn memory_out_of_bounds_is_a_trap_in_every_mode() {
    let bytes = module("", "(drop (i32.load (i32.const 0x7fffffff)))");
    for mode in modes() {
        let failed = apply(&mut sandbox(mode, &bytes).unwrap(), "").unwrap_err();
        assert!(failed.contains("out of bounds"), "{mode:?}: {failed}");
    }
}

#[test]
fn endless_recursion_is_a_trap() {
    let bytes = module("(func $again (call $again))", "(call $again)");
    for mode in modes() {
        let failed = apply(&mut sandbox(mode, &bytes).unwrap(), "").unwrap_err();
        assert!(failed.contains("stack exhausted"), "{mode:?}: {failed}");
    }
}

#[test]
fn a_module_that_does_not_end_is_stopped() {
    let bytes = module("", "(loop $forever (br $forever))");
    let begin = std::time::Instant::now();
    let failed = apply(&mut Sandbox::new(modes()[0], &bytes).unwrap(), "").unwrap_err();
    assert_eq!(
        failed,
        "the Wasm module failed: it took longer than a second"
    );
    assert!(begin.elapsed() < std::time::Duration::from_mins(1));
}

#[test]
fn memory_grows_to_its_bound_and_not_beyond() {
    // 1,024 pages are 64 MiB; one page already exists.
    let bytes = module(
        "",
        "(if (i32.ne (memory.grow (i32.const 1023)) (i32.const 1)) (then unreachable))
         (if (i32.ne (memory.grow (i32.const 1)) (i32.const -1)) (then unreachable))",
    );
    for mode in modes() {
        assert_eq!(
            apply(&mut sandbox(mode, &bytes).unwrap(), ""),
            Ok(String::new())
        );
    }
}

#[test]
fn an_exit_code_and_a_message_are_reported() {
    let bytes = module(
        "(data (i32.const 64) \"no luck\")",
        "(i32.store (i32.const 4) (i32.const 7))
         (drop (call $write (i32.const 2) (i32.const 0) (i32.const 1) (i32.const 8)))
         (call $exit (i32.const 3))",
    );
    let failed = apply(&mut Sandbox::new(modes()[0], &bytes).unwrap(), "").unwrap_err();
    assert_eq!(
        failed,
        "the Wasm module failed: it ended with exit code 3; its message: no luck"
    );
    let bytes = module("", "(call $exit (i32.const 0))");
    assert_eq!(
        apply(&mut Sandbox::new(modes()[0], &bytes).unwrap(), ""),
        Ok(String::new())
    );
}

#[test]
fn a_list_outside_of_memory_fails_the_call_and_not_the_host() {
    // The result of fd_read is the exit code: 21 is EFAULT.
    for (list, total) in [("-8", "8"), ("65532", "8"), ("0", "-1")] {
        let call = format!(
            "(call $exit (call $read (i32.const 0) (i32.const {list}) (i32.const 1) (i32.const {total})))"
        );
        let mut sandbox = Sandbox::new(modes()[0], &module("", &call)).unwrap();
        let failed = apply(&mut sandbox, "body").unwrap_err();
        assert!(failed.ends_with("exit code 21"), "{list} {total}: {failed}");
    }
}

#[test]
fn a_module_that_is_not_a_command_is_refused_at_the_start() {
    let refused = |text: &str| {
        let bytes = wat::parse_str(text).unwrap();
        Sandbox::new(modes()[0], &bytes).map(drop).unwrap_err()
    };
    let no_start = refused(r#"(module (memory (export "memory") 1))"#);
    assert!(
        matches!(no_start, SandboxError::Export("_start")),
        "{no_start}"
    );
    let no_memory = refused(r#"(module (func (export "_start")))"#);
    assert!(
        matches!(no_memory, SandboxError::Export("memory")),
        "{no_memory}"
    );
    let import = refused(
        r#"(module (import "wasi_snapshot_preview1" "sock_accept" (func))
           (memory (export "memory") 1) (func (export "_start")))"#,
    );
    assert!(import.to_string().contains("sock_accept"), "{import}");
}

#[test]
fn a_pool_cannot_be_on_the_heap() {
    assert_eq!(Mode::new(Allocator::Pooling, Memory::Heap), None);
}
