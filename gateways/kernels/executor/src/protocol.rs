//! The lines between the front and an executor, over its standard input and output. Pure.
//!
//! | from | line | meaning |
//! |---|---|---|
//! | executor | `ready JSON` | it can be called; an object of facts for `/engine`. Once, at first |
//! | front | `ID NAME REPEATS` | run a kernel |
//! | executor | `ID HEX16 NANOS` | the bits of the checksum, and the time for the instance |
//! | executor | `ID HEX16 NANOS VOLUNTARY INVOLUNTARY NANOS` | the same, and what the process used that was the instance |
//! | executor | `ID ! MESSAGE` | the kernel could not be run |
//!
//! Calls may be answered in any order. The end of its input ends the executor.

use std::fmt;
use std::str::FromStr;

use serde_json::{Map, Value};

/// What an executor reports about itself, by JSON member.
pub type Facts = Map<String, Value>;

/// Longest message that is kept, in characters.
const MAX_MESSAGE_CHARS: usize = 400;
/// Longest part of a wrong line that a message repeats, in characters.
const MAX_QUOTED_CHARS: usize = 80;

/// A call of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Tells the call from all others of the executor.
    pub id: u64,
    /// The kernel's name.
    pub kernel: String,
    /// How often the kernel repeats its work.
    pub repeats: u32,
}

/// A kernel has run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    /// The bits of the checksum, a double.
    pub checksum_bits: u64,
    /// Time spent on making and dropping the instance, outside of the kernel. Natively an instance is
    /// a process.
    pub instance_nanoseconds: u64,
    /// Only if the instance was a process.
    pub process: Option<Process>,
}

/// What a process used until it ended, which nobody but its parent can read then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Process {
    /// How often it gave up the CPU to wait.
    pub voluntary_switches: u64,
    /// How often another took the CPU.
    pub involuntary_switches: u64,
    /// CPU time, in its code and in the kernel.
    pub cpu_nanoseconds: u64,
}

/// The answer to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The call's.
    pub id: u64,
    /// The message says why the kernel could not be run.
    pub outcome: Result<Done, String>,
}

/// The first line of an executor.
pub fn ready_line(facts: &Facts) -> String {
    format!("ready {}", Value::Object(facts.clone()))
}

/// The facts in the first line of an executor.
pub fn facts(line: &str) -> Result<Facts, String> {
    let facts = line
        .strip_prefix("ready ")
        .and_then(|json| serde_json::from_str(json).ok());
    facts.ok_or_else(|| format!("'{}' is not 'ready' and a JSON object", quoted(line)))
}

impl fmt::Display for Call {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {} {}", self.id, self.kernel, self.repeats)
    }
}

impl FromStr for Call {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        call(line).ok_or_else(|| format!("'{}' is not 'ID NAME REPEATS'", quoted(line)))
    }
}

fn call(line: &str) -> Option<Call> {
    let mut words = line.split(' ');
    let id = words.next()?.parse().ok()?;
    let kernel = words.next().filter(|name| !name.is_empty())?.to_owned();
    let repeats = words.next()?.parse().ok()?;
    words.next().is_none().then_some(Call {
        id,
        kernel,
        repeats,
    })
}

impl fmt::Display for Answer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = self.id;
        match &self.outcome {
            Ok(done) => {
                let (bits, nanoseconds) = (done.checksum_bits, done.instance_nanoseconds);
                write!(formatter, "{id} {bits:016x} {nanoseconds}")?;
                let Some(used) = done.process else {
                    return Ok(());
                };
                let (voluntary, involuntary) = (used.voluntary_switches, used.involuntary_switches);
                write!(
                    formatter,
                    " {voluntary} {involuntary} {}",
                    used.cpu_nanoseconds
                )
            }
            Err(message) => write!(formatter, "{id} ! {}", one_line(message)),
        }
    }
}

impl FromStr for Answer {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let answer = line.split_once(' ').and_then(|(id, rest)| {
            let id = id.parse().ok()?;
            let outcome = match rest.strip_prefix("! ") {
                Some(message) => Err(one_line(message)),
                None => Ok(done(rest)?),
            };
            Some(Self { id, outcome })
        });
        answer.ok_or_else(|| {
            let line = quoted(line);
            format!("'{line}' is neither 'ID HEX16 NANOS [VOLUNTARY INVOLUNTARY NANOS]' nor 'ID ! MESSAGE'")
        })
    }
}

fn done(text: &str) -> Option<Done> {
    let (bits, numbers) = text.split_once(' ')?;
    let is_bits = bits.len() == 16 && bits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let numbers = numbers.split(' ').map(str::parse);
    let numbers: Vec<u64> = numbers.collect::<Result<_, _>>().ok()?;
    let (instance_nanoseconds, process) = match *numbers {
        [nanoseconds] => (nanoseconds, None),
        [
            nanoseconds,
            voluntary_switches,
            involuntary_switches,
            cpu_nanoseconds,
        ] => {
            let process = Process {
                voluntary_switches,
                involuntary_switches,
                cpu_nanoseconds,
            };
            (nanoseconds, Some(process))
        }
        _ => return None,
    };
    Some(Done {
        checksum_bits: u64::from_str_radix(bits, 16).ok().filter(|_| is_bits)?,
        instance_nanoseconds,
        process,
    })
}

/// The message on one line, in ASCII.
fn one_line(message: &str) -> String {
    let words = message.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_printed = |char: &char| *char == ' ' || char.is_ascii_graphic();
    let chars = words.chars().take(MAX_MESSAGE_CHARS);
    chars
        .map(|char| if is_printed(&char) { char } else { '?' })
        .collect()
}

fn quoted(line: &str) -> String {
    line.chars().take(MAX_QUOTED_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_lines_are_as_documented() {
        let call: Call = "7 jacobi-2d 30".parse().unwrap();
        assert_eq!(
            (call.id, call.kernel.as_str(), call.repeats),
            (7, "jacobi-2d", 30)
        );
        let answer: Answer = "7 3ff8000000000000 1200".parse().unwrap();
        let done = answer.outcome.unwrap();
        assert_eq!(f64::from_bits(done.checksum_bits).to_string(), "1.5");
        assert_eq!((done.instance_nanoseconds, done.process), (1200, None));
        let answer: Answer = "7 3ff8000000000000 1200 2 3 20000".parse().unwrap();
        let process = Process {
            voluntary_switches: 2,
            involuntary_switches: 3,
            cpu_nanoseconds: 20_000,
        };
        assert_eq!(answer.outcome.unwrap().process, Some(process));
        let answer: Answer = "8 ! there is no kernel 'x'".parse().unwrap();
        assert_eq!(answer.outcome, Err("there is no kernel 'x'".into()));
        let facts = facts(r#"ready {"engine":"none"}"#).unwrap();
        assert_eq!(ready_line(&facts), r#"ready {"engine":"none"}"#);
    }

    #[test]
    fn a_line_that_is_none_is_repeated() {
        for line in [
            "",
            "7",
            "7 gemm",
            "7 gemm x",
            "x gemm 1",
            "7 gemm 1 1",
            "7  1",
        ] {
            let error = line.parse::<Call>().unwrap_err();
            assert!(error.contains(&format!("'{line}'")), "{error}");
        }
        for line in [
            "",
            "7",
            "7 1 1",
            "7 +ff8000000000000 1",
            "7 3ff8000000000000",
            "7 3ff8000000000000 1 2",
            "7 3ff8000000000000 1 2 3 4 5",
            "7 !",
        ] {
            let error = line.parse::<Answer>().unwrap_err();
            assert!(error.contains(&format!("'{line}'")), "{error}");
        }
        for line in ["", "ready", "ready []", "ready {", "{}"] {
            assert!(facts(line).is_err(), "{line}");
        }
    }

    #[test]
    fn a_message_of_several_lines_becomes_one() {
        let answer = Answer {
            id: 1,
            outcome: Err("wasm trap:\n  out of bounds \u{2192} 8".into()),
        };
        assert_eq!(answer.to_string(), "1 ! wasm trap: out of bounds ? 8");
    }

    proptest! {
        #[test]
        fn calls_are_read_as_they_were_written(id: u64, kernel in "[a-z0-9-]{1,20}", repeats: u32) {
            let call = Call { id, kernel, repeats };
            let read: Result<Call, String> = call.to_string().parse();
            prop_assert_eq!(read, Ok(call));
        }

        #[test]
        fn answers_are_read_as_they_were_written(
            id: u64, checksum_bits: u64, instance_nanoseconds: u64, process: Option<[u64; 3]>,
            message in "[!-~]( ?[!-~]){0,30}", is_done: bool,
        ) {
            let process = process.map(|[voluntary_switches, involuntary_switches, cpu_nanoseconds]| Process {
                voluntary_switches, involuntary_switches, cpu_nanoseconds,
            });
            let done = Done { checksum_bits, instance_nanoseconds, process };
            let outcome = if is_done { Ok(done) } else { Err(message) };
            let answer = Answer { id, outcome };
            let read: Result<Answer, String> = answer.to_string().parse();
            prop_assert_eq!(read, Ok(answer));
        }

        #[test]
        fn no_line_causes_a_panic_and_no_message_a_second_line(line: String, message: String) {
            let _ = (line.parse::<Call>(), line.parse::<Answer>(), facts(&line));
            let answer = Answer { id: 1, outcome: Err(message) };
            prop_assert!(!answer.to_string().contains('\n'));
        }
    }
}
