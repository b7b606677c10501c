//! Options of a program: arguments, and environment variables of the same name.
//!
//! `--read-timeout-ms 500`, `--read-timeout-ms=500` and `WASMBENCH_READ_TIMEOUT_MS=500` are the
//! same option; an argument overrides the environment. An unknown argument is an error, an unknown
//! variable is not: others use the environment as well.

use std::collections::BTreeMap;

/// What is wrong with the options. One sentence, for the person who gave them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Invalid(pub String);

/// The options that have not been taken yet.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    arguments: BTreeMap<String, String>,
    environment: BTreeMap<String, String>,
}

impl Settings {
    /// Reads arguments (without the program's name) and the variables that begin with `WASMBENCH_`.
    pub fn new(
        arguments: impl IntoIterator<Item = String>,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, Invalid> {
        let mut settings = Self::default();
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            let Some(option) = argument.strip_prefix("--") else {
                return Err(Invalid(format!("'{argument}' is not an option")));
            };
            let (name, value) = match option.split_once('=') {
                Some((name, value)) => (name, value.to_owned()),
                None => match arguments.next() {
                    Some(value) => (option, value),
                    None => return Err(Invalid(format!("--{option} needs a value"))),
                },
            };
            if settings.arguments.insert(name.to_owned(), value).is_some() {
                return Err(Invalid(format!("--{name} is given twice")));
            }
        }
        settings.environment = environment
            .into_iter()
            .filter_map(|(name, value)| {
                let name = name.strip_prefix("WASMBENCH_")?;
                Some((name.to_ascii_lowercase().replace('_', "-"), value))
            })
            .collect();
        Ok(settings)
    }

    /// Takes the value of an option, if it is given.
    pub fn take(&mut self, name: &str) -> Option<String> {
        let from_environment = self.environment.remove(name);
        self.arguments.remove(name).or(from_environment)
    }

    /// Takes the value of an option, read by `parse`, which returns `None` for a value that is not
    /// one of `expected`.
    pub fn take_parsed<T>(
        &mut self,
        name: &str,
        default: T,
        expected: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, Invalid> {
        let Some(value) = self.take(name) else {
            return Ok(default);
        };
        parse(&value).ok_or_else(|| Invalid(format!("--{name} '{value}' is not {expected}")))
    }

    /// Finishes the reading: an argument that is left is unknown.
    pub fn finish(self) -> Result<(), Invalid> {
        match self.arguments.into_keys().next() {
            Some(name) => Err(Invalid(format!("there is no option --{name}; see --help"))),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(arguments: &[&str], environment: &[(&str, &str)]) -> Result<Settings, Invalid> {
        Settings::new(
            arguments.iter().map(ToString::to_string),
            environment
                .iter()
                .map(|(name, value)| (name.to_string(), value.to_string())),
        )
    }

    #[test]
    fn an_argument_wins_over_the_environment() {
        let mut given = settings(
            &["--listen", "a:1", "--upstream=b:2"],
            &[
                ("WASMBENCH_LISTEN", "c:3"),
                ("WASMBENCH_READ_TIMEOUT_MS", "5"),
                ("PATH", "/"),
            ],
        )
        .unwrap();
        assert_eq!(given.take("listen").as_deref(), Some("a:1"));
        assert_eq!(given.take("upstream").as_deref(), Some("b:2"));
        assert_eq!(given.take("read-timeout-ms").as_deref(), Some("5"));
        assert_eq!(given.take("path"), None);
        given.finish().unwrap();
    }

    #[test]
    fn each_error_is_one_sentence() {
        let message = |arguments: &[&str]| settings(arguments, &[]).unwrap_err().to_string();
        assert_eq!(message(&["serve"]), "'serve' is not an option");
        assert_eq!(message(&["--listen"]), "--listen needs a value");
        assert_eq!(message(&["--a=1", "--a=2"]), "--a is given twice");
        let unknown = settings(&["--colour", "red"], &[])
            .unwrap()
            .finish()
            .unwrap_err();
        assert_eq!(
            unknown.to_string(),
            "there is no option --colour; see --help"
        );
    }
}
