//! The gateway as a Wasm guest: the same server and the same workloads as the native one, compiled
//! for WASI with sockets. The runtime that runs it is what a variant measures.

use gateway_http::{Failed, Invalid, Program, Settings, Transform, Workloads, guest_facts, run};
use std::process::{ExitCode, abort};

const HELP: &str = "\
  --abort-at-request N       trap instead of answer N: a self-test of failures (never)
";

/// Leaves responses as they are, and reports what the guest can observe of its execution.
struct Guest {
    /// Responses left until the self-test of failures traps.
    left: Option<u32>,
}

impl Guest {
    fn take(settings: &mut Settings) -> Result<Self, Invalid> {
        let number = |value: &str| value.parse().ok().filter(|n| *n > 0).map(Some);
        let left = settings.take_parsed("abort-at-request", None, "a number from 1", number)?;
        Ok(Self { left })
    }
}

impl Transform for Guest {
    fn apply(&mut self, _body: &mut Vec<u8>) -> Result<(), Failed> {
        if let Some(left) = &mut self.left {
            *left -= 1;
            if *left == 0 {
                abort();
            }
        }
        Ok(())
    }

    fn describe(&self) -> String {
        guest_facts()
    }
}

fn main() -> ExitCode {
    let program = Program {
        name: "server",
        help: HELP,
    };
    run(program, |settings| {
        Guest::take(settings).map(Workloads::new)
    })
}
