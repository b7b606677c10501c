//! Becomes the server of a runtime: `wasmtime serve` with the workloads as a `wasi:http` component.
//! Nothing of this program is left once it serves; before that, it finds out what the guest is to
//! report about its host.

use crate::compute::output;
use crate::front::version_of;
use gateway_http::{Config, Invalid, Settings};
use std::ffi::OsString;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// The only argument before options.
const COMMAND: &str = "serve";
const HELP: &str = "\
Usage: gateway serve [--option VALUE]...
  --program FILE             wasmtime (/usr/bin/wasmtime)
  --engine-compile NAME      Jit, or Aot: the component was compiled before (Jit)
  --module FILE              the component (/http.wasm, or /http.cwasm)
  --listen, --upstream, --max-connections, --start-delay-ms: as without 'serve'
Each option is also read from the environment: --listen from WASMBENCH_LISTEN.
";
const PROGRAM: &str = "/usr/bin/wasmtime";
/// Read by the guest.
const UPSTREAM: &str = "WASMBENCH_UPSTREAM";
/// Of the async runtime of wasmtime's server: as many threads as every other gateway has.
const THREADS: (&str, &str) = ("TOKIO_WORKER_THREADS", "1");
/// The server handles 1,000 requests at once. A component consists of three core instances and two
/// tables, and by default the pool has 1,000 of each: requests beyond a third of that would fail.
const CORE_INSTANCES: &str = "-Opooling-total-core-instances=4000";
const TABLES: &str = "-Opooling-total-tables=4000";
/// Exit codes, the same as in the other gateways.
const INVALID: u8 = 2;
const FAILED: u8 = 1;

/// Returns `None` unless the arguments name this command. Otherwise returns only after `--help` or
/// an error.
pub fn served(mut arguments: impl Iterator<Item = String>) -> Option<ExitCode> {
    if arguments.next()? != COMMAND {
        return None;
    }
    let arguments: Vec<String> = arguments.collect();
    if arguments.iter().any(|argument| argument == "--help") {
        let _ = std::io::stdout().lock().write_all(HELP.as_bytes());
        return Some(ExitCode::SUCCESS);
    }
    let (code, message) = match Serve::take(arguments) {
        Ok(serve) => (FAILED, serve.become_server()),
        Err(invalid) => (INVALID, invalid.to_string()),
    };
    let _ = writeln!(std::io::stderr(), "wasmbench: serve: {message}");
    Some(ExitCode::from(code))
}

/// What is served, and how.
struct Serve {
    program: PathBuf,
    module: PathBuf,
    config: Config,
}

impl Serve {
    fn take(arguments: Vec<String>) -> Result<Self, Invalid> {
        let environment = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        let mut settings = Settings::new(arguments, environment)?;
        let config = Config::take(&mut settings)?;
        let usual =
            settings.take_parsed(
                "engine-compile",
                "/http.wasm",
                "Jit or Aot",
                |name| match name {
                    "Jit" => Some("/http.wasm"),
                    "Aot" => Some("/http.cwasm"),
                    _ => None,
                },
            )?;
        let module = settings.take("module").unwrap_or_else(|| usual.to_owned());
        let program = settings
            .take("program")
            .unwrap_or_else(|| PROGRAM.to_owned());
        settings.finish()?;
        Ok(Self {
            program: program.into(),
            module: module.into(),
            config,
        })
    }

    /// Returns only if it fails, with the reason.
    fn become_server(&self) -> String {
        std::thread::sleep(self.config.start_delay);
        match self.arguments() {
            Ok(arguments) => {
                let mut command = Command::new(&self.program);
                command.args(arguments).env(THREADS.0, THREADS.1);
                if let Some(upstream) = &self.config.upstream {
                    command.env(UPSTREAM, upstream);
                }
                let error = command.exec();
                format!("could not start {}: {error}", self.program.display())
            }
            Err(message) => message,
        }
    }

    fn arguments(&self) -> Result<Vec<OsString>, String> {
        let version = output(&self.program, &["--version"])
            .map_err(|error| format!("{} reports no version: {error}", self.program.display()))?;
        let mode = self.compile_mode()?;
        let connections = self.config.max_connections.to_string();
        let mut arguments: Vec<OsString> = [
            "serve",
            "--addr",
            &self.config.listen.to_string(),
            // The world of such components does not include the environment.
            "-Scli",
            "-Opooling-allocator",
            CORE_INSTANCES,
            TABLES,
            "--max-concurrent-connections",
            &connections,
            "--env",
            UPSTREAM,
            "--env",
            "WASM_HOST_ENGINE=wasmtime",
            "--env",
            &format!("WASM_HOST_VERSION={}", version_of(&version)),
            "--env",
            &format!("WASM_HOST_COMPILE_MODE={mode}"),
        ]
        .map(OsString::from)
        .into();
        if mode == "Aot" {
            arguments.push("--allow-precompiled".into());
        }
        arguments.push(self.module.clone().into());
        Ok(arguments)
    }

    /// Determined by the first bytes of the file, whatever the options are.
    fn compile_mode(&self) -> Result<&'static str, String> {
        let mut head = [0; 4];
        let file = self.module.display();
        File::open(&self.module)
            .and_then(|mut opened| opened.read_exact(&mut head))
            .map_err(|error| format!("could not read the component {file}: {error}"))?;
        match &head {
            b"\0asm" => Ok("Jit"),
            b"\x7fELF" => Ok("Aot"),
            _ => Err(format!(
                "{file} is neither a component nor code that was made of one"
            )),
        }
    }
}
