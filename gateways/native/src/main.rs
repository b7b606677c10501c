//! The gateway as a plain static binary: the workloads as they are, unless a self-test requests
//! more.

mod account;
mod child;
mod handicap;

use gateway_http::{Program, Workloads, run};
use handicap::{HELP, Handicap};
use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(ended) = child::burnt(std::env::args().skip(1)) {
        return ended;
    }
    run(
        Program {
            name: "native",
            help: HELP,
        },
        |settings| Handicap::take(settings).map(Workloads::new),
    )
}
