//! The front of a kernel server, the same program for every variant: `GET /kernel?name=NAME` runs a
//! kernel in an executor and answers with its checksum. It computes nothing itself, and keeps no
//! state but totals.
//!
//! Reading order: [`settings`], [`kernels`] (what can be run), [`program`] (from settings to a
//! serving process), [`server`] (requests in, responses out), [`queue`] (when a call runs),
//! [`executor`] (a child process), [`checksum`] (the text of an answer).

mod checksum;
mod executor;
mod kernels;
mod program;
mod queue;
mod server;
mod settings;

use std::io::Write as _;
use std::process::ExitCode;

use settings::Settings;

fn main() -> ExitCode {
    // A thread that only waits for lines and for requests needs no company.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let served = runtime
        .map_err(|error| format!("could not start: {error}"))
        .and_then(|runtime| {
            let settings = Settings::new(|name| std::env::var(name).ok())?;
            runtime.block_on(program::serve(&settings))
        });
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            let _ = writeln!(std::io::stderr(), "wasmbench: kernel: {why}");
            ExitCode::FAILURE
        }
    }
}
