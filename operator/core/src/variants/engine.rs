//! What a preset claims of its engine, and whether what the running process says agrees. Pure.

use wasmbench_api::run::{Preset, Variant};

use crate::wire::instrument::EngineFacts;

/// Where every gateway tells how it executes.
pub const PATH: &str = "/engine";
/// Compiled work takes at most so many times as long as the same work in native code, checks of time
/// limits included. An interpreter that runs several of its own instructions for one of the
/// processor's is above.
const SLOWEST_COMPILED: f64 = 5.0;
/// The member with that ratio.
pub const COMPUTE_RATIO: &str = "computeRatio";
/// Longest value that a message repeats, in characters.
const MAX_VALUE_CHARS: usize = 40;

/// Members that the variant's `/engine` must have; empty for a container of the user's own.
pub fn claims(variant: &Variant) -> Vec<(&'static str, &'static str)> {
    // Every image of ours is built with optimisation.
    let built = ("profile", "release");
    match variant.preset {
        None => vec![],
        Some(Preset::Native) => vec![("engine", "none"), built],
        Some(Preset::WasmtimeEmbedded) => vec![
            ("engine", "wasmtime"),
            ("compileMode", "Jit"),
            (
                "allocator",
                variant.engine.unwrap_or_default().allocator.into(),
            ),
            built,
        ],
        // The guest cannot see which runtime runs it; that the pod's RuntimeClass was used is in its
        // record.
        Some(Preset::WasmtimeShim) => vec![("guest", "wasm32-wasi"), built],
    }
}

/// How what the process says contradicts what the variant claims; `None` when it does not.
pub fn contradiction(variant: &Variant, says: &EngineFacts) -> Option<String> {
    let claims = claims(variant);
    let differs = |(member, claimed): &(&str, &str)| {
        let said = says.get(*member).map(String::as_str);
        let said = match said {
            Some(said) if said == *claimed => return None,
            Some(said) => said.chars().take(MAX_VALUE_CHARS).collect(),
            None => "not told".to_owned(),
        };
        Some(format!("{member} is {said} instead of {claimed}"))
    };
    let found: Vec<String> = claims.iter().filter_map(differs).collect();
    let compiles = claims.iter().any(|(member, _)| *member == "compileMode");
    let slow = compiles.then(|| too_slow(says)).flatten();
    let found: Vec<String> = found.into_iter().chain(slow).collect();
    (!found.is_empty()).then(|| found.join(", "))
}

/// An interpreter may say that it compiles; the time that it needs tells.
fn too_slow(says: &EngineFacts) -> Option<String> {
    let ratio: Option<f64> = says.get(COMPUTE_RATIO).and_then(|ratio| ratio.parse().ok());
    match ratio {
        None => Some("how fast it computes is not told".to_owned()),
        Some(ratio) if ratio <= SLOWEST_COMPILED => None,
        Some(ratio) => Some(format!(
            "it computes {ratio:.0} times as long as native code, as an interpreter does"
        )),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn variant(engine: serde_json::Value) -> Variant {
        serde_json::from_value(engine).unwrap()
    }

    fn pooling() -> Variant {
        variant(
            json!({"name": "e", "preset": "wasmtime-embedded", "engine": {"allocator": "Pooling"}}),
        )
    }

    fn says(change: (&str, Option<&str>)) -> EngineFacts {
        let honest = [
            ("engine", "wasmtime"),
            ("compileMode", "Jit"),
            ("allocator", "Pooling"),
            ("profile", "release"),
            ("computeRatio", "1.31"),
            ("version", "48.0.8"),
        ];
        let mut facts: EngineFacts = honest.map(|(a, b)| (a.to_owned(), b.to_owned())).into();
        facts.remove(change.0);
        facts.extend(
            change
                .1
                .map(|value| (change.0.to_owned(), value.to_owned())),
        );
        facts
    }

    #[test]
    fn an_engine_that_is_what_was_asked_for_contradicts_nothing() {
        assert_eq!(contradiction(&pooling(), &says(("version", None))), None);
        let native = variant(json!({"name": "n", "preset": "native"}));
        let none = [("engine", "none"), ("profile", "release")];
        let none = none.map(|(a, b)| (a.to_owned(), b.to_owned())).into();
        assert_eq!(contradiction(&native, &none), None);
    }

    #[test]
    fn every_claim_that_does_not_hold_is_told() {
        for (change, told) in [
            (
                ("allocator", Some("OnDemand")),
                "allocator is OnDemand instead of Pooling",
            ),
            (
                ("engine", Some("none")),
                "engine is none instead of wasmtime",
            ),
            (
                ("profile", Some("debug")),
                "profile is debug instead of release",
            ),
            (
                ("compileMode", None),
                "compileMode is not told instead of Jit",
            ),
            (("computeRatio", None), "how fast it computes is not told"),
            (
                ("computeRatio", Some("23.4")),
                "it computes 23 times as long as native code, as an interpreter does",
            ),
        ] {
            assert_eq!(
                contradiction(&pooling(), &says(change)).as_deref(),
                Some(told)
            );
        }
        assert!(contradiction(&pooling(), &EngineFacts::new()).is_some());
    }

    #[test]
    fn a_container_of_the_users_own_claims_nothing() {
        let own = variant(json!({"name": "own", "container": {"image": "a:1", "port": 80}}));
        assert_eq!(contradiction(&own, &EngineFacts::new()), None);
    }
}
