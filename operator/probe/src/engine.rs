//! What a running subject reports about its engine. It is queried before and after loads, never during
//! one, so that answering cannot change what was measured.

use serde_json::Value;
use wasmbench_model::variants::engine::{
    CALLS, COMPUTE_RATIO, INSTANCE_NANOSECONDS, PROCESS_CPU_NANOSECONDS,
    PROCESS_INVOLUNTARY_SWITCHES, PROCESS_VOLUNTARY_SWITCHES, SLOWEST_COMPILED,
};
use wasmbench_model::wire::document::{InstanceTime, Switches};
use wasmbench_model::wire::instrument::EngineFacts;

use crate::output::progress;
use crate::target::Target;
use crate::{http, native_speed};

/// Most members that are kept: no engine reports more.
const MAX_MEMBERS: usize = 32;
/// Longest name or value that is kept, in characters.
const MAX_CHARS: usize = 128;

/// Most queries to an engine that looks like an interpreter: so does compiled code that other
/// processes keep off the CPU. The quickest answer counts.
const MAX_QUERIES: usize = 3;

/// Queries `path`. Empty if no JSON object comes: a subject that reports nothing proves nothing.
pub fn ask(subject: &Target, path: &str) -> EngineFacts {
    quickest(|| ask_once(subject, path))
}

/// What a server of kernels has added up since it began; `None` if it reports no such totals.
pub fn instance_time(subject: &Target, path: &str) -> Option<InstanceTime> {
    totals(&ask_once(subject, path))
}

fn totals(facts: &EngineFacts) -> Option<InstanceTime> {
    let number = |member: &str| facts.get(member)?.parse::<u64>().ok();
    let processes = || {
        Some(Switches {
            voluntary: number(PROCESS_VOLUNTARY_SWITCHES)?,
            involuntary: number(PROCESS_INVOLUNTARY_SWITCHES)?,
            cpu_nanoseconds: number(PROCESS_CPU_NANOSECONDS)?,
        })
    };
    Some(InstanceTime {
        calls: number(CALLS)?,
        nanoseconds: number(INSTANCE_NANOSECONDS)?,
        processes: processes(),
    })
}

/// What was added up between two readings; `None` if the server began anew.
pub fn between(before: InstanceTime, after: InstanceTime) -> Option<InstanceTime> {
    Some(InstanceTime {
        calls: after.calls.checked_sub(before.calls)?,
        nanoseconds: after.nanoseconds.checked_sub(before.nanoseconds)?,
        // Before the first call there is nothing to report.
        processes: after
            .processes
            .and_then(|after| after.since(before.processes.unwrap_or_default())),
    })
}

fn quickest(mut ask: impl FnMut() -> EngineFacts) -> EngineFacts {
    let mut best = ask();
    for _ in 1..MAX_QUERIES {
        // Without a ratio, query again: the subject may have had too little time to compute it.
        if ratio(&best).is_some_and(|ratio| ratio <= SLOWEST_COMPILED) {
            break;
        }
        let again = ask();
        let is_better = match (ratio(&best), ratio(&again)) {
            (Some(best), Some(again)) => again < best,
            (None, Some(_)) => true,
            (_, None) => false,
        };
        if is_better {
            best = again;
        }
    }
    best
}

fn ratio(facts: &EngineFacts) -> Option<f64> {
    facts.get(COMPUTE_RATIO)?.parse().ok()
}

fn ask_once(subject: &Target, path: &str) -> EngineFacts {
    let answer = Target::new(subject.origin, path)
        .map_err(|error| error.to_string())
        .and_then(|target| http::ask(&target).map_err(|error| error.to_string()));
    match answer {
        Ok(response) if response.status == 200 => {
            let mut facts = facts(&response.body);
            native_speed::compare(&mut facts);
            facts
        }
        Ok(response) => {
            progress(&format!(
                "no word of the engine: status {}",
                response.status
            ));
            EngineFacts::new()
        }
        Err(why) => {
            progress(&format!("no word of the engine: {why}"));
            EngineFacts::new()
        }
    }
}

/// The members with plain values.
fn facts(body: &[u8]) -> EngineFacts {
    let truncated = |text: &str| {
        let clean = text.chars().filter(|c| !c.is_control());
        clean.take(MAX_CHARS).collect::<String>()
    };
    let value = |value: &Value| match value {
        Value::String(text) => Some(truncated(text)),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    };
    let Ok(Value::Object(members)) = serde_json::from_slice(body) else {
        return EngineFacts::new();
    };
    let plain = members
        .iter()
        .filter_map(|(name, member)| Some((truncated(name), value(member)?)));
    plain.take(MAX_MEMBERS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_members_are_kept_as_text() {
        let body = br#"{"engine":"wasmtime","copyOnWrite":false,"computeRatio":1.25,"flags":[1],"none":null}"#;
        let expected = [
            ("engine", "wasmtime"),
            ("copyOnWrite", "false"),
            ("computeRatio", "1.25"),
        ];
        let expected = expected.map(|(a, b)| (a.to_owned(), b.to_owned())).into();
        assert_eq!(facts(body), expected);
    }

    #[test]
    fn the_cost_of_instances_is_what_was_added_up_between_two_readings() {
        let totals = |text: &str| totals(&facts(text.as_bytes()));
        let before = totals(r#"{"engine":"wasmtime","calls":10,"instanceNanoseconds":4000}"#);
        let after = totals(r#"{"engine":"wasmtime","calls":30,"instanceNanoseconds":9000}"#);
        let (before, after) = (before.unwrap(), after.unwrap());
        let expected = InstanceTime {
            calls: 20,
            nanoseconds: 5000,
            processes: None,
        };
        assert_eq!(between(before, after), Some(expected));
        assert_eq!(between(after, before), None, "it was started again");
        assert_eq!(totals(r#"{"engine":"none"}"#), None);
        assert_eq!(totals(r#"{"calls":10,"instanceNanoseconds":null}"#), None);
    }

    #[test]
    fn what_instances_used_that_were_processes_is_added_up_from_the_first_call_on() {
        let totals = |calls: u64| {
            let processes = format!(
                r#","processVoluntarySwitches":{calls},"processInvoluntarySwitches":{},"processCpuNanoseconds":{}"#,
                2 * calls,
                100 * calls
            );
            let processes = if calls > 0 { &processes } else { "" };
            let text = format!(r#"{{"calls":{calls},"instanceNanoseconds":{calls}{processes}}}"#);
            totals(&facts(text.as_bytes())).unwrap()
        };
        let used = |before, after| between(totals(before), totals(after)).unwrap().processes;
        let switches = |calls: u64| Switches {
            voluntary: calls,
            involuntary: 2 * calls,
            cpu_nanoseconds: 100 * calls,
        };
        assert_eq!(used(10, 30), Some(switches(20)));
        assert_eq!(used(0, 30), Some(switches(30)));
        assert_eq!(used(0, 0), None);
    }

    #[test]
    fn an_apparent_interpreter_is_queried_again_and_the_best_ratio_counts() {
        let best = |ratios: &[&str]| {
            let mut answers = ratios.iter();
            let answer = || {
                let ratio = answers.next().expect("too many queries");
                EngineFacts::from([(COMPUTE_RATIO.to_owned(), (*ratio).to_owned())])
            };
            let found = quickest(answer)[COMPUTE_RATIO].clone();
            assert_eq!(answers.next(), None, "too few queries");
            found
        };
        assert_eq!(best(&["1.2"]), "1.2");
        assert_eq!(best(&["100", "1.3"]), "1.3");
        assert_eq!(best(&["21", "20", "22"]), "20");
        assert_eq!(best(&["null", "null", "20"]), "20");
    }

    #[test]
    fn a_non_object_yields_no_facts_and_long_text_is_truncated() {
        for body in ["", "hello", "[1]", "\"engine\"", "{"] {
            assert!(facts(body.as_bytes()).is_empty(), "{body}");
        }
        let long = format!(r#"{{"engine":"a\u0007{}"}}"#, "b".repeat(1000));
        assert_eq!(facts(long.as_bytes())["engine"].chars().count(), MAX_CHARS);
    }
}
