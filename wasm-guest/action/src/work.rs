//! What the action can do.
//!
//! | parameters | result |
//! |---|---|
//! | none, or `work: hello` | `{"hello":"world"}` |
//! | `work: hash` | `{"hash":"..."}`: the digest of a chain of BLAKE3, as `/blake3` of the gateways; `iters` is its length |
//! | `work: sleep` | `{"slept":"300"}`, after `ms` milliseconds |
//! | `work: mixed` | `{"mixed":"1"}`, the `seed`, after the work of `hash` or of `sleep`, as drawn for this run |
//! | `work: endless` | none: it never ends, for tests of limits |
//! | `work: trap` | none: it aborts |
//! | `ballast` | in addition, the result of the piece of ballast with this number |

use crate::ballast::{self, Piece};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::hint::{black_box, spin_loop};

/// As in `/blake3` of the gateways: about 100 ms in native code.
const ITERATIONS: Number = Number {
    name: "iters",
    usual: 1_000_000,
    most: 10_000_000,
};
const MILLISECONDS: Number = Number {
    name: "ms",
    usual: 300,
    most: 10_000,
};
const SEED: Number = Number {
    name: "seed",
    usual: 1,
    most: u32::MAX,
};
const BALLAST: Number = Number {
    name: "ballast",
    usual: 0,
    most: u32::MAX,
};

/// What the action needs from its environment.
pub trait Host {
    /// Returns after this time.
    fn sleep(&mut self, milliseconds: u32);
    /// Returns any number.
    fn random(&mut self) -> u64;
}

type Parameters = BTreeMap<String, String>;

/// A parameter that is a number.
struct Number {
    name: &'static str,
    usual: u32,
    most: u32,
}

/// Takes the parameters, a JSON object as text, and returns the result, another one.
pub fn answer(parameters: &[u8], ballast: &[Piece], host: &mut impl Host) -> String {
    let answered = match serde_json::from_slice(parameters) {
        Ok(parameters) => answered(&parameters, ballast, host),
        Err(error) => Err(format!(
            "the parameters are no JSON object of strings: {error}"
        )),
    };
    Value::Object(answered.unwrap_or_else(|message| member("error", message))).to_string()
}

fn answered(
    parameters: &Parameters,
    ballast: &[Piece],
    host: &mut impl Host,
) -> Result<Map<String, Value>, String> {
    let mut answer = work(parameters, host)?;
    if parameters.contains_key(BALLAST.name) {
        let made = ballast::call(ballast, BALLAST.read(parameters)?.into());
        answer.insert(BALLAST.name.to_owned(), json!(made.to_string()));
    }
    Ok(answer)
}

fn work(parameters: &Parameters, host: &mut impl Host) -> Result<Map<String, Value>, String> {
    match parameters.get("work").map_or("hello", String::as_str) {
        "hello" => Ok(member("hello", "world")),
        "hash" => Ok(member("hash", hash(ITERATIONS.read(parameters)?))),
        "sleep" => {
            let milliseconds = MILLISECONDS.read(parameters)?;
            host.sleep(milliseconds);
            Ok(member("slept", milliseconds.to_string()))
        }
        "mixed" => {
            let seed = SEED.read(parameters)?;
            if host.random() & 1 == 0 {
                host.sleep(MILLISECONDS.usual);
            } else {
                black_box(hash(ITERATIONS.usual));
            }
            Ok(member("mixed", seed.to_string()))
        }
        "endless" => loop {
            spin_loop();
        },
        "trap" => std::process::abort(),
        other => Err(format!(
            "the parameter 'work' is '{other}', and can be endless, hash, hello, mixed, sleep or trap"
        )),
    }
}

/// Returns the last digest of a chain of BLAKE3 that begins with 32 zero bytes, in hexadecimal.
fn hash(iterations: u32) -> String {
    let digest = (0..iterations).fold([0; 32], |digest, _| blake3::hash(&digest).into());
    blake3::Hash::from(digest).to_string()
}

fn member(name: &str, value: impl Into<Value>) -> Map<String, Value> {
    Map::from_iter([(name.to_owned(), value.into())])
}

impl Number {
    fn read(&self, parameters: &Parameters) -> Result<u32, String> {
        let Some(digits) = parameters.get(self.name) else {
            return Ok(self.usual);
        };
        digits
            .parse()
            .ok()
            .filter(|number| *number <= self.most)
            .ok_or_else(|| {
                format!(
                    "the parameter '{}' is '{digits}', and can be a number from 0 to {}",
                    self.name, self.most
                )
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draws what the test sets, and does not wait.
    #[derive(Default)]
    struct Noted {
        random: u64,
        slept: Vec<u32>,
    }

    impl Host for Noted {
        fn sleep(&mut self, milliseconds: u32) {
            self.slept.push(milliseconds);
        }

        fn random(&mut self) -> u64 {
            self.random
        }
    }

    fn answer_to(parameters: &str, host: &mut Noted) -> String {
        answer(
            parameters.as_bytes(),
            &[ballast::piece::<0>, ballast::piece::<1>],
            host,
        )
    }

    #[test]
    fn every_kind_of_work_gives_the_answer_of_its_table() {
        let hash = "2ada83c1819a5372dae1238fc1ded123c8104fdaa15862aaee69428a1820fcda";
        for (parameters, expected) in [
            ("{}", r#"{"hello":"world"}"#.to_owned()),
            (r#"{"work":"hello"}"#, r#"{"hello":"world"}"#.to_owned()),
            (
                r#"{"work":"hash","iters":"1"}"#,
                format!(r#"{{"hash":"{hash}"}}"#),
            ),
            (r#"{"work":"sleep"}"#, r#"{"slept":"300"}"#.to_owned()),
            (
                r#"{"work":"sleep","ms":"7"}"#,
                r#"{"slept":"7"}"#.to_owned(),
            ),
        ] {
            assert_eq!(answer_to(parameters, &mut Noted::default()), expected);
        }
    }

    #[test]
    fn mixed_waits_or_computes_as_drawn_and_answers_the_same() {
        for (random, slept) in [(2, vec![300]), (3, vec![])] {
            let mut host = Noted {
                random,
                ..Noted::default()
            };
            let answer = answer_to(r#"{"work":"mixed","seed":"5"}"#, &mut host);
            assert_eq!((answer.as_str(), host.slept), (r#"{"mixed":"5"}"#, slept));
        }
    }

    #[test]
    fn a_wrong_parameter_is_named_with_its_allowed_values() {
        for (parameters, message) in [
            (
                r#"{"work":"rest"}"#,
                "the parameter 'work' is 'rest', and can be endless, hash, hello, mixed, sleep or trap",
            ),
            (
                r#"{"work":"sleep","ms":"10001"}"#,
                "the parameter 'ms' is '10001', and can be a number from 0 to 10000",
            ),
            (
                r#"{"work":7}"#,
                "the parameters are no JSON object of strings: ",
            ),
            ("[", "the parameters are no JSON object of strings: "),
        ] {
            let answer = answer_to(parameters, &mut Noted::default());
            assert!(answer.starts_with(r#"{"error":""#), "{answer}");
            assert!(answer.contains(message), "{answer}");
        }
    }

    #[test]
    fn ballast_is_called_by_its_number() {
        let [first, second] = ["0", "1"].map(|number| {
            let parameters = format!(r#"{{"ballast":"{number}"}}"#);
            answer_to(&parameters, &mut Noted::default())
        });
        assert!(first.starts_with(r#"{"ballast":""#), "{first}");
        assert_ne!(first, second);
    }
}
