//! `kubectl wasmbench`: what `kubectl get` cannot show of a `BenchmarkRun`.
//!
//! Reading order: [`args`] (the command line), [`cluster`] and [`files`] (where runs and records
//! come from), [`recompute`] (records to a summary), [`read`] (both), [`document`] (output for
//! programs), [`objects`] and [`manifest`] (what a file holds, and its check), then the commands: [`get`], [`report`], [`compare`], [`cost`], [`plan`], [`start`], [`history`],
//! [`check`], [`init`], [`dashboard`], [`completion`]. `wasmbench-results` and `wasmbench-report` decide what is
//! shown; this crate reads, prints and exits.

mod api_error;
pub mod args;
pub mod assumed;
pub mod check;
pub mod cluster;
pub mod compare;
pub mod completion;
pub mod cost;
pub mod dashboard;
pub mod document;
pub mod error;
pub mod files;
pub mod get;
pub mod history;
pub mod init;
pub mod live;
pub mod manifest;
#[cfg(test)]
mod mock;
pub mod objects;
pub mod plan;
pub mod read;
pub mod recompute;
pub mod report;
pub mod start;

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::process::ExitCode;
use std::sync::LazyLock;

use args::Command;
use error::Error;
use wasmbench_model::version;

/// Tag of this build, if it has one.
pub const BUILD: Option<&str> = option_env!("WASMBENCH_BUILD");

/// Version and build, for people.
pub static VERSION: LazyLock<String> = LazyLock::new(|| version::describe(version::VERSION, BUILD));

/// Runs the plugin with these arguments, the first of which is its own name.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match args::parse(arguments) {
        Ok(cli) => cli,
        Err(error) => error.exit(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let result = match (runtime, cli.command) {
        (Err(error), _) => Err(Error::Output(error)),
        (Ok(runtime), Command::Get(args)) => runtime.block_on(get::run(&cli.cluster, &args)),
        (Ok(runtime), Command::Report(args)) => runtime.block_on(report::run(&cli.cluster, &args)),
        (Ok(runtime), Command::Compare(args)) => {
            runtime.block_on(compare::run(&cli.cluster, &args))
        }
        (Ok(runtime), Command::Plan(args)) => runtime.block_on(plan::run(&cli.cluster, &args)),
        (Ok(runtime), Command::Start(args)) => runtime.block_on(start::run(&cli.cluster, &args)),
        (Ok(runtime), Command::History(args)) => {
            runtime.block_on(history::run(&cli.cluster, &args))
        }
        (Ok(runtime), Command::Cost(args)) => runtime.block_on(cost::run(&cli.cluster, &args)),
        (Ok(runtime), Command::Init(args)) => runtime.block_on(init::run(&cli.cluster, &args)),
        (Ok(runtime), Command::Check(args)) => runtime.block_on(check::run(&cli.cluster, &args)),
        (Ok(_), Command::Completion(args)) => completion::run(&args),
        (Ok(runtime), Command::Complete(args)) => runtime.block_on(completion::complete(&args)),
        (Ok(runtime), Command::Dashboard(args)) => {
            runtime.block_on(dashboard::run(&cli.cluster, &args))
        }
    };
    match result {
        Ok(code) => ExitCode::from(code),
        // The reader of the pipe, such as `head`, has closed it: nothing is wrong.
        Err(Error::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Writes `text` to standard output.
pub(crate) fn print(text: &str) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(Error::Output)
}

/// Writes a warning to standard error.
pub(crate) fn warn(text: &str) {
    let _ = writeln!(io::stderr(), "warning: {text}");
}

/// Writes progress and notes to standard error.
pub(crate) fn note(text: &str) {
    let _ = write!(io::stderr(), "{text}");
}
