//! The upstream that the proxy workload forwards to: it answers `upstream` for every path.

use gateway_http::{Outcome, Program, Request, Service, Status, run};
use std::process::ExitCode;

struct Upstream;

impl Service for Upstream {
    fn handle(&mut self, _request: &Request, body: &mut Vec<u8>) -> Outcome {
        body.extend_from_slice(b"upstream");
        Outcome::Text(Status::OK)
    }
}

fn main() -> ExitCode {
    run(
        Program {
            name: "upstream",
            help: "",
        },
        |_| Ok(Upstream),
    )
}
