//! The gateway as a Wasm guest: the same server and the same workloads as the native one, compiled
//! for WASI with sockets. The runtime that runs it is what a variant measures.

use gateway_http::{Failed, PROFILE, Program, Transform, Workloads, run};
use std::process::ExitCode;

/// Leaves answers as they are, and says what the guest can know of how it is executed.
struct Guest;

impl Transform for Guest {
    fn apply(&mut self, _body: &mut Vec<u8>) -> Result<(), Failed> {
        Ok(())
    }

    fn describe(&self) -> String {
        let (arch, os) = (std::env::consts::ARCH, std::env::consts::OS);
        format!(r#"{{"engine":"of the host","guest":"{arch}-{os}","profile":"{PROFILE}"}}"#)
    }
}

fn main() -> ExitCode {
    let program = Program {
        name: "server",
        help: "",
    };
    run(program, |_| Ok(Workloads::new(Guest)))
}
