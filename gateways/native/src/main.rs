//! The gateway as a plain static binary: the workloads as they are.

use gateway_http::{Program, Unchanged, Workloads, run};
use std::process::ExitCode;

fn main() -> ExitCode {
    run(
        Program {
            name: "native",
            help: "",
        },
        |_| Ok(Workloads::new(Unchanged)),
    )
}
