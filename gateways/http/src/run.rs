//! From the command line to a serving process: what the gateways' `main` functions share.

use crate::config::{Config, HELP};
use crate::net::exit_on_signals;
use crate::server::Server;
use crate::service::Service;
use crate::settings::{Invalid, Settings};
use std::io::Write as _;
use std::process::ExitCode;

/// Exit codes: the configuration is wrong, or the server could not be started.
const INVALID: u8 = 2;
const FAILED: u8 = 1;

/// A program that serves: its name, and its own options for `--help`.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// Its name in the listening line.
    pub name: &'static str,
    /// Lines of `--help` about options beyond the server's. May be empty.
    pub help: &'static str,
}

/// Reads the options, creates the service, listens, prints one line, and serves until a signal.
///
/// `service` takes its own options out of the settings. What it prepares is part of the startup, so
/// it runs before the line is printed.
pub fn run<S: Service>(
    program: Program,
    service: impl FnOnce(&mut Settings) -> Result<S, Invalid>,
) -> ExitCode {
    let arguments: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|text| text.to_string_lossy().into_owned())
        .collect();
    let has_option = |option| arguments.iter().any(|argument| argument == option);
    if has_option("--help") {
        let name = program.name;
        return print(&format!(
            "Usage: {name} [--option VALUE]...\n{}{HELP}",
            program.help
        ));
    }
    if has_option("--version") {
        return print(&format!("{} {}\n", program.name, env!("CARGO_PKG_VERSION")));
    }
    // First of all: as process 1 of a container, not even the startup could be interrupted
    // otherwise.
    if let Err(error) = exit_on_signals() {
        return fail(
            program.name,
            FAILED,
            &format!("could not handle signals: {error}"),
        );
    }
    match prepare(arguments, service) {
        Ok((config, service)) => serve(program.name, config, service),
        Err(invalid) => fail(program.name, INVALID, &invalid.to_string()),
    }
}

fn prepare<S>(
    arguments: Vec<String>,
    service: impl FnOnce(&mut Settings) -> Result<S, Invalid>,
) -> Result<(Config, S), Invalid> {
    let environment = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let mut settings = Settings::new(arguments, environment)?;
    let config = Config::take(&mut settings)?;
    let service = service(&mut settings)?;
    settings.finish()?;
    Ok((config, service))
}

fn serve<S: Service>(name: &str, config: Config, service: S) -> ExitCode {
    let listen = config.listen;
    std::thread::sleep(config.start_delay);
    let started = Server::bind(config, service)
        .and_then(|server| server.local_addr().map(|address| (server, address)));
    let (server, address) = match started {
        Ok(started) => started,
        Err(error) => {
            return fail(
                name,
                FAILED,
                &format!("could not listen at {listen}: {error}"),
            );
        }
    };
    // The only line on standard output: its timestamp ends the measured cold start.
    let _ = print(&format!("wasmbench: {name} listening on {address}\n"));
    match server.run() {
        Ok(never) => match never {},
        Err(error) => fail(name, FAILED, &format!("could not wait for events: {error}")),
    }
}

/// Prints the text. A closed standard output is no reason not to serve.
fn print(text: &str) -> ExitCode {
    let mut output = std::io::stdout().lock();
    let _ = output
        .write_all(text.as_bytes())
        .and_then(|()| output.flush());
    ExitCode::SUCCESS
}

/// Prints one line, even if a library's message has several.
fn fail(name: &str, code: u8, message: &str) -> ExitCode {
    let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
    let _ = writeln!(std::io::stderr(), "wasmbench: {name}: {message}");
    ExitCode::from(code)
}
