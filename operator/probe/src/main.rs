//! Measures subjects from their own node: load, resources from cgroups, cold starts.
//!
//! All commands but `listen` take a request from the environment and print one JSON document.
//! Reading order: [`load`] (a load trial), [`ready`] and [`answer`] (is it the right subject),
//! [`generator`] (the load), [`cpus`] (where subjects and load run), [`meter`] (the resources),
//! [`cold_start`] (a cold-start trial), [`listen`] (its floor), [`density`] (more and more
//! instances), [`scout`] (a look before the load), [`environment`] (the node).

mod action;
mod answer;
mod body;
mod buckets;
mod clock;
mod cold_start;
mod containerd;
mod cpus;
mod density;
mod engine;
mod environment;
mod generator;
mod http;
mod json;
mod listen;
mod load;
mod meter;
mod native_speed;
mod node;
mod output;
mod quota;
mod ready;
mod request;
mod responder;
mod scout;
mod settings;
mod target;
#[cfg(test)]
mod testing;

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::LazyLock;

use clap::{Parser, Subcommand};
use listen_address::everywhere;
use wasmbench_model::variants::presets::GATEWAY_PORT;
use wasmbench_model::version;

/// Version and build, for people.
static VERSION: LazyLock<String> =
    LazyLock::new(|| version::describe(version::VERSION, option_env!("WASMBENCH_BUILD")));

/// Measures subjects from their own node.
#[derive(Parser)]
#[command(name = "wasmbench-probe", version = VERSION.as_str())]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Waits for the first correct answer, puts the subject under load and prints one JSON document.
    ///
    /// The request is read from the environment variable `WASMBENCH_REQUEST`. The document is the
    /// last line of the standard output, after those of the progress. The exit code is 0 when the
    /// document holds a measurement and 1 when it holds a failure.
    Load,
    /// Creates pods again and again, notes when each reaches which step of its start, and prints
    /// one JSON document.
    ///
    /// Request, document and exit code as for `load`. Needs an API server, a token that may create,
    /// watch and delete pods and read their logs, and the clock of the node on which the pods run.
    ColdStart,
    /// Listens and answers, and does nothing else: the subject of the harness' floor.
    Listen {
        /// Where to listen. Default: all addresses, port 8080.
        address: Option<SocketAddr>,
    },
    /// Adds instances step by step, asks the first, reads the memory of all, and prints one JSON
    /// document.
    ///
    /// Request, document and exit code as for `load`. Needs what `cold-start` needs, and a
    /// view of the node's cgroups and processes for the memory.
    Density,
    /// Asks each workload twice, reads the node's CPU time in a second of silence, and prints one JSON
    /// document.
    ///
    /// Request, document and exit code as for `load`.
    Scout,
}

fn main() -> ExitCode {
    let Arguments { command } = Arguments::parse();
    let settings = settings::Settings::from_environment();
    let request = settings::request();
    if !matches!(command, Command::Listen { .. }) {
        node::prepare();
    }
    match command {
        Command::Load => output::print(&load::run(&settings, request.as_deref())),
        Command::ColdStart => {
            let document = cold_start::run(&settings, request.as_deref());
            output::print_plain(&document, document.failure.is_none())
        }
        Command::Density => {
            let document = density::run(&settings, request.as_deref());
            output::print_plain(&document, document.failure.is_none())
        }
        Command::Scout => {
            let document = scout::run(&settings, request.as_deref());
            output::print_plain(&document, document.failure.is_none())
        }
        Command::Listen { address } => {
            listen::run(address.unwrap_or_else(|| everywhere(GATEWAY_PORT)))
        }
    }
}
