//! Settings from the environment.
//!
//! | variable | meaning |
//! |---|---|
//! | `WASMBENCH_LISTEN` | address and port (all addresses, port 8080) |
//! | `WASMBENCH_ENGINE_THREADS` | calls at once, 1 to 4 (1) |
//! | `WASMBENCH_ENGINE_BOUNDS_CHECKS` | `Guard`, `Explicit`, `Clamp` or `None` (the executor's) |
//! | `WASMBENCH_ENGINE_ALLOCATOR` | an `Allocator` (the executor's) |
//!
//! An image sets these:
//!
//! | variable | meaning |
//! |---|---|
//! | `WASMBENCH_KERNEL_EXECUTOR` | the executor's program, and its first arguments with spaces between (`/executor`) |
//! | `WASMBENCH_KERNEL_FOLDER` | the folder of the kernels' modules (`/kernels`) |

use std::net::SocketAddr;

use kernel_executor::options::threads;
use kernel_executor::{Allocator, BoundsChecks, Options};
use tokio::process::Command;

/// How the front is set up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Where to listen.
    pub listen: SocketAddr,
    /// The executor's program.
    pub program: String,
    /// Its first arguments.
    pub first_arguments: Vec<String>,
    /// Its further arguments.
    pub options: Options,
}

impl Settings {
    /// Reads the variables through `variable`, which returns a variable's value.
    pub fn new(variable: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let given = |name: &str| variable(&format!("WASMBENCH_{name}"));
        let listen = match given("LISTEN") {
            None => listen_address::everywhere(8080),
            Some(text) => text.parse().map_err(|_| {
                format!("WASMBENCH_LISTEN is '{text}', which is no address with a port")
            })?,
        };
        let executor = given("KERNEL_EXECUTOR").unwrap_or_else(|| "/executor".into());
        let mut words = executor.split_whitespace().map(str::to_owned);
        let folder = given("KERNEL_FOLDER").unwrap_or_else(|| "/kernels".into());
        Ok(Self {
            listen,
            program: words.next().unwrap_or_default(),
            first_arguments: words.collect(),
            options: Options {
                threads: parsed(given, "ENGINE_THREADS", threads)?.unwrap_or(1),
                bounds_checks: parsed(given, "ENGINE_BOUNDS_CHECKS", BoundsChecks::from_name)?,
                allocator: parsed(given, "ENGINE_ALLOCATOR", Allocator::from_name)?,
                folder: folder.into(),
            },
        })
    }

    /// The command that starts the executor.
    pub fn executor(&self) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(&self.first_arguments)
            .args(self.options.arguments());
        command
    }
}

/// The value of a variable, if it is set. An error names the variable.
fn parsed<T>(
    given: impl Fn(&str) -> Option<String>,
    name: &str,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<Option<T>, String> {
    let value = given(name).map(|text| parse(&text)).transpose();
    value.map_err(|why| format!("WASMBENCH_{name}: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(variables: &[(&str, &str)]) -> Result<Settings, String> {
        Settings::new(|name| {
            let mut variables = variables.iter();
            let found = variables.find(|(variable, _)| name == format!("WASMBENCH_{variable}"));
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn by_default_the_executor_has_one_thread() {
        let settings = settings(&[]).unwrap();
        assert_eq!(settings.program, "/executor");
        let arguments = settings.options.arguments();
        assert_eq!(arguments, ["--threads", "1", "/kernels"]);
    }

    #[test]
    fn the_executor_gets_its_own_arguments_and_the_settings_of_the_engine() {
        let settings = settings(&[
            ("KERNEL_EXECUTOR", "/usr/bin/node /executor.mjs"),
            ("KERNEL_FOLDER", "/wasm"),
            ("ENGINE_BOUNDS_CHECKS", "None"),
            ("ENGINE_ALLOCATOR", "Pooling"),
        ])
        .unwrap();
        assert_eq!(settings.program, "/usr/bin/node");
        assert_eq!(settings.first_arguments, ["/executor.mjs"]);
        let arguments = settings.options.arguments();
        let engine = ["--bounds-checks", "None", "--allocator", "Pooling", "/wasm"];
        assert_eq!(arguments[2..], engine);
    }

    #[test]
    fn a_wrong_value_is_named_with_its_variable() {
        for (name, value) in [
            ("LISTEN", "8080"),
            ("ENGINE_THREADS", "16"),
            ("ENGINE_BOUNDS_CHECKS", "Trap"),
            ("ENGINE_ALLOCATOR", "Heap"),
        ] {
            let error = settings(&[(name, value)]).unwrap_err();
            assert!(error.contains(&format!("WASMBENCH_{name}")), "{error}");
            assert!(error.contains(&format!("'{value}'")), "{error}");
        }
    }
}
