//! Measures one subject from its own node: load by fortio, resources from cgroups.
//!
//! `wasmbench-probe load` takes a request from the environment and prints one JSON document.
//! Reading order: [`load`] (the course of a trial), [`ready`] and [`answer`] (is it the right
//! subject), [`fortio`] (the load), [`meter`] (the resources), [`environment`] (the node).

mod answer;
mod digest;
mod environment;
mod fortio;
mod http;
mod load;
mod meter;
mod node;
mod output;
mod quota;
mod ready;
mod resolution;
mod settings;
mod target;
#[cfg(test)]
mod testing;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Measures one subject from its own node.
#[derive(Parser)]
#[command(name = "wasmbench-probe", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Waits for the first correct answer, puts the subject under load and prints one JSON document.
    ///
    /// The request is read from the environment variable `WASMBENCH_REQUEST`. The document is the
    /// last line of the standard output; progress goes to the standard error. The exit code is 0
    /// when the document holds a measurement and 1 when it holds a failure.
    Load,
}

fn main() -> ExitCode {
    let Arguments {
        command: Command::Load,
    } = Arguments::parse();
    let settings = settings::Settings::from_environment();
    let document = load::run(&settings, settings::request().as_deref());
    output::print(&document)
}
