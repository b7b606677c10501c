//! What a preset claims about its engine, and whether the running process's own statement agrees.
//! Pure.

use std::borrow::Cow;

use wasmbench_api::run::{Compile, Variant};

use crate::variants::catalogue::definition_of;
use crate::variants::presets::{Definition, Front, Mode};
use crate::wire::instrument::EngineFacts;

pub use crate::variants::presets::SLOWEST_COMPILED;

/// The member that reports how many times as long as native code it takes for the same work.
pub const COMPUTE_RATIO: &str = "computeRatio";
/// The member in which a guest reports how long the same work took, in nanoseconds.
pub const CHAIN_NANOSECONDS: &str = "chainNanoseconds";
/// The member that counts the calls that an executor of kernels has answered since it began.
pub const CALLS: &str = "calls";
/// The member that adds up the time in which it made and dropped their instances, in nanoseconds.
pub const INSTANCE_NANOSECONDS: &str = "instanceNanoseconds";
/// The members that add up what its instances used that were processes: how often they gave up a CPU
/// to wait, how often another took it, and their CPU time in nanoseconds.
pub const PROCESS_VOLUNTARY_SWITCHES: &str = "processVoluntarySwitches";
/// See [`PROCESS_VOLUNTARY_SWITCHES`].
pub const PROCESS_INVOLUNTARY_SWITCHES: &str = "processInvoluntarySwitches";
/// See [`PROCESS_VOLUNTARY_SWITCHES`].
pub const PROCESS_CPU_NANOSECONDS: &str = "processCpuNanoseconds";
/// Members that are measured anew each time, and so differ even if nothing has changed.
pub const MEASURED: [&str; 7] = [
    COMPUTE_RATIO,
    CHAIN_NANOSECONDS,
    CALLS,
    INSTANCE_NANOSECONDS,
    PROCESS_VOLUNTARY_SWITCHES,
    PROCESS_INVOLUNTARY_SWITCHES,
    PROCESS_CPU_NANOSECONDS,
];
/// The member that reports how Wasm is executed.
const COMPILE_MODE: &str = "compileMode";
/// Longest value that a message repeats, in characters.
const MAX_VALUE_CHARS: usize = 40;

/// A member of `/engine` and the value that it must have.
type Claim = (&'static str, Cow<'static, str>);

/// Members that report what answers requests, and how it was built.
fn program(definition: &Definition) -> impl Iterator<Item = Claim> + use<> {
    let front = match definition.front {
        Front::Process => None,
        Front::CommandLine => Some(("frontend", "cli")),
        Front::Guest => Some(("guest", "wasm32-wasi")),
    };
    // All of our images are built with optimisation.
    let built = [("profile", "release")];
    let claims = front.into_iter().chain(built);
    claims.map(|(member, value)| (member, Cow::Borrowed(value)))
}

/// What the row and the settings claim about the engine.
fn statements(definition: &'static Definition, variant: &Variant) -> Vec<Claim> {
    let settings = variant.engine.unwrap_or_default();
    let engine = definition.engine.as_deref();
    let allocator = definition.has_allocator.then(|| settings.allocator.into());
    let words: [(&str, Option<&'static str>); 4] = [
        ("engine", engine),
        (COMPILE_MODE, definition.mode(settings).map(Into::into)),
        ("allocator", allocator),
        (
            "boundsChecks",
            definition.bounds_checks(settings).map(Into::into),
        ),
    ];
    let words = words
        .into_iter()
        .filter_map(|(member, word)| Some((member, Cow::Borrowed(word?))));
    let threads = definition
        .threads(settings)
        .map(|threads| ("threads", Cow::Owned(threads.to_string())));
    words.chain(threads).collect()
}

/// Whether the guest can report its engine only if the shim names it, as our shims do. The record
/// shows that the pod's `RuntimeClass` was used.
const fn depends_on_shim(definition: &Definition) -> bool {
    definition.runtime_class.is_some()
}

/// How the process's statement contradicts the variant's claims; `None` if it does not, and for the
/// user's own container, which claims nothing.
pub fn contradiction(variant: &Variant, facts: &EngineFacts) -> Option<String> {
    let definition = definition_of(variant)?;
    let may_be_missing = depends_on_shim(definition);
    let stated = statements(definition, variant)
        .into_iter()
        .filter(|(member, _)| !may_be_missing || facts.contains_key(*member));
    let differs = |(member, claimed): Claim| {
        let reported = match facts.get(member).map(String::as_str) {
            Some(reported) if reported == claimed => return None,
            Some(reported) => reported.chars().take(MAX_VALUE_CHARS).collect(),
            None => "not reported".to_owned(),
        };
        Some(format!("{member} is {reported} instead of {claimed}"))
    };
    let claims = stated.chain(program(definition));
    let found: Vec<String> = claims
        .filter_map(differs)
        .chain(contradicted_by_speed(definition, variant, facts))
        .collect();
    (!found.is_empty()).then(|| found.join(", "))
}

/// Whether the runtime of the variant's pods may compile an image at its first start and keep the
/// result: then starts of the same image differ. Assumed for the user's own container under a
/// `RuntimeClass`, because nothing is known about that class.
pub fn may_keep_compiled_images(variant: &Variant) -> bool {
    let own = variant.container.as_ref();
    let has_class = own.is_some_and(|own| own.runtime_class_name.is_some());
    let preset = definition_of(variant);
    has_class || preset.is_some_and(|preset| preset.mode == Mode::CompiledByShim)
}

/// An interpreter may report that it compiles, and a compiler that it interprets; the time that it
/// needs shows the truth.
fn contradicted_by_speed(
    definition: &Definition,
    variant: &Variant,
    facts: &EngineFacts,
) -> Option<String> {
    let mode = definition.mode(variant.engine.unwrap_or_default());
    let is_compiled = definition.mode == Mode::CompiledByShim;
    let interprets = mode
        .map(|mode| mode == Compile::Interpreter)
        .or(is_compiled.then_some(false))?;
    let ratio: Option<f64> = facts
        .get(COMPUTE_RATIO)
        .and_then(|ratio| ratio.parse().ok());
    let Some(ratio) = ratio else {
        return Some("how fast it computes is not reported".to_owned());
    };
    match (interprets, ratio > definition.slowest) {
        (false, false) | (true, true) => None,
        (false, true) => Some(format!(
            "it computes {ratio:.0} times as long as native code, as an interpreter does"
        )),
        (true, false) => Some(format!(
            "it computes {ratio:.1} times as long as native code, which no interpreter does"
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
            json!({"name": "e", "preset": "wasmtime-embedded", "engine": {"allocator": "Pooling", "compile": "Jit"}}),
        )
    }

    fn facts_with(change: (&str, Option<&str>)) -> EngineFacts {
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
    fn the_requested_engine_contradicts_nothing() {
        assert_eq!(
            contradiction(&pooling(), &facts_with(("version", None))),
            None
        );
        let native = variant(json!({"name": "n", "preset": "native"}));
        let none = [("engine", "none"), ("profile", "release")]
            .map(|(a, b)| (a.to_owned(), b.to_owned()))
            .into();
        assert_eq!(contradiction(&native, &none), None);
    }

    #[test]
    fn code_compiled_at_start_contradicts_ahead_of_time_code() {
        let aot = variant(json!({
            "name": "e", "preset": "wasmtime-embedded", "engine": {"allocator": "Pooling", "compile": "Aot"},
        }));
        let found = contradiction(&aot, &facts_with(("version", None)));
        assert_eq!(found.as_deref(), Some("compileMode is Jit instead of Aot"));
        assert_eq!(
            contradiction(&aot, &facts_with(("compileMode", Some("Aot")))),
            None
        );
    }

    #[test]
    fn wasmer_cli_reports_when_it_compiled() {
        let facts = |mode: &str| {
            let facts = [
                ("engine", "wasmer"),
                ("frontend", "cli"),
                ("compileMode", mode),
                ("profile", "release"),
                ("computeRatio", "1.2"),
            ];
            facts
                .map(|(member, value)| (member.to_owned(), value.to_owned()))
                .into()
        };
        let before = variant(json!({"name": "w", "preset": "wasmer-cli"}));
        let each_time = variant(json!({
            "name": "w", "preset": "wasmer-cli", "engine": {"compile": "Jit"},
        }));
        assert_eq!(contradiction(&before, &facts("Aot")), None);
        assert_eq!(contradiction(&each_time, &facts("Jit")), None);
        let found = contradiction(&each_time, &facts("Aot"));
        assert_eq!(found.as_deref(), Some("compileMode is Aot instead of Jit"));
    }

    #[test]
    fn an_interpreter_must_be_as_slow_as_one() {
        let variant = variant(json!({
            "name": "e", "preset": "wasmedge-cli", "engine": {"compile": "Interpreter"},
        }));
        let found = |ratio: &str| {
            let facts = [
                ("engine", "wasmedge"),
                ("frontend", "cli"),
                ("compileMode", "Interpreter"),
                ("profile", "release"),
                ("computeRatio", ratio),
            ]
            .map(|(a, b)| (a.to_owned(), b.to_owned()))
            .into();
            contradiction(&variant, &facts)
        };
        assert_eq!(found("53.1"), None);
        let expected = "it computes 1.1 times as long as native code, which no interpreter does";
        assert_eq!(found("1.12").as_deref(), Some(expected));
    }

    #[test]
    fn every_false_claim_is_reported() {
        for (change, expected) in [
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
                "compileMode is not reported instead of Jit",
            ),
            (
                ("computeRatio", None),
                "how fast it computes is not reported",
            ),
            (
                ("computeRatio", Some("23.4")),
                "it computes 23 times as long as native code, as an interpreter does",
            ),
        ] {
            assert_eq!(
                contradiction(&pooling(), &facts_with(change)).as_deref(),
                Some(expected)
            );
        }
        assert!(contradiction(&pooling(), &EngineFacts::new()).is_some());
    }

    #[test]
    fn an_interpreted_guest_of_the_shim_contradicts_its_variant() {
        let shim = variant(json!({"name": "s", "preset": "wasmtime-shim"}));
        let contradiction = |ratio: &str| {
            let facts = [
                ("guest", "wasm32-wasi"),
                ("profile", "release"),
                ("computeRatio", ratio),
            ];
            super::contradiction(
                &shim,
                &facts.map(|(a, b)| (a.to_owned(), b.to_owned())).into(),
            )
        };
        assert_eq!(contradiction("1.10"), None);
        assert!(
            contradiction("60.00")
                .unwrap()
                .contains("as an interpreter does")
        );
    }

    #[test]
    fn the_mode_of_the_wasmedge_shim_is_checked_by_speed_and_statement() {
        let contradiction = |compile: &str, reported: Option<&str>, ratio: &str| {
            let engine = json!({"compile": compile});
            let variant = json!({"name": "s", "preset": "wasmedge-shim", "engine": engine});
            let mut facts: EngineFacts = [
                ("guest", "wasm32-wasi"),
                ("profile", "release"),
                ("computeRatio", ratio),
            ]
            .map(|(a, b)| (a.to_owned(), b.to_owned()))
            .into();
            facts.extend(reported.map(|mode| ("compileMode".to_owned(), mode.to_owned())));
            super::contradiction(&self::variant(variant), &facts)
        };
        // A shim that reports nothing is judged by its speed only.
        for reported in [None, Some("Aot")] {
            assert_eq!(contradiction("Aot", reported, "1.30"), None);
            let slow = contradiction("Aot", reported, "21.00").unwrap();
            assert!(slow.contains("as an interpreter does"), "{slow}");
        }
        for reported in [None, Some("Interpreter")] {
            assert_eq!(contradiction("Interpreter", reported, "21.00"), None);
            let fast = contradiction("Interpreter", reported, "1.30").unwrap();
            assert!(fast.contains("no interpreter does"), "{fast}");
        }
        let other = contradiction("Aot", Some("Interpreter"), "21.00").unwrap();
        assert!(
            other.starts_with("compileMode is Interpreter instead of Aot, it computes 21 times"),
            "{other}"
        );
    }

    #[test]
    fn a_guest_under_another_shim_contradicts_its_variant() {
        let shim = variant(json!({"name": "s", "preset": "wasmtime-shim"}));
        let facts = [
            ("guest", "wasm32-wasi"),
            ("profile", "release"),
            ("computeRatio", "1.10"),
            ("engine", "wasmedge"),
        ]
        .map(|(a, b)| (a.to_owned(), b.to_owned()))
        .into();
        let found = "engine is wasmedge instead of wasmtime";
        assert_eq!(contradiction(&shim, &facts).as_deref(), Some(found));
    }

    #[test]
    fn a_command_line_server_compiled_ahead_of_time_contradicts_its_variant() {
        let serve = variant(json!({"name": "s", "preset": "wasmtime-serve"}));
        let contradiction = |mode: &str| {
            let facts = [
                ("engine", "wasmtime"),
                ("guest", "wasm32-wasi"),
                ("compileMode", mode),
                ("profile", "release"),
                ("computeRatio", "1.02"),
            ]
            .map(|(a, b)| (a.to_owned(), b.to_owned()))
            .into();
            super::contradiction(&serve, &facts)
        };
        assert_eq!(contradiction("Jit"), None);
        let found = "compileMode is Aot instead of Jit";
        assert_eq!(contradiction("Aot").as_deref(), Some(found));
    }

    #[test]
    fn unoptimised_code_of_v8_is_distinguished_from_its_interpreter() {
        let v8 = variant(json!({"name": "v", "preset": "v8"}));
        let contradiction = |ratio: &str| {
            let facts = [
                ("engine", "v8"),
                ("frontend", "cli"),
                ("compileMode", "Jit"),
                ("profile", "release"),
                ("computeRatio", ratio),
            ];
            super::contradiction(
                &v8,
                &facts.map(|(a, b)| (a.to_owned(), b.to_owned())).into(),
            )
        };
        assert_eq!(contradiction("5.75"), None);
        assert!(
            contradiction("60.0")
                .unwrap()
                .contains("as an interpreter does")
        );
    }

    #[test]
    fn a_kernel_server_executes_with_the_checks_and_threads_that_its_variant_claims() {
        let kernels = variant(json!({
            "name": "k-unsafe", "preset": "kernel-wasm2c-gcc", "engine": {"boundsChecks": "None", "threads": 2},
        }));
        let contradiction = |checks: &str, threads: &str| {
            let facts = [
                ("engine", "wasm2c"),
                ("boundsChecks", checks),
                ("threads", threads),
                ("profile", "release"),
            ];
            super::contradiction(
                &kernels,
                &facts.map(|(a, b)| (a.to_owned(), b.to_owned())).into(),
            )
        };
        assert_eq!(contradiction("None", "2"), None);
        let found = "boundsChecks is Guard instead of None";
        assert_eq!(contradiction("Guard", "2").as_deref(), Some(found));
        let found = "threads is 1 instead of 2";
        assert_eq!(contradiction("None", "1").as_deref(), Some(found));
    }

    #[test]
    fn a_setting_that_a_variant_leaves_out_is_claimed_as_the_default() {
        let wamr = variant(json!({"name": "k", "preset": "kernel-wamr"}));
        let facts = [
            ("engine", "wamr"),
            ("boundsChecks", "Explicit"),
            ("threads", "1"),
            ("compileMode", "Interpreter"),
            ("computeRatio", "25.0"),
            ("profile", "release"),
        ];
        let facts = facts.map(|(a, b)| (a.to_owned(), b.to_owned())).into();
        assert_eq!(contradiction(&wamr, &facts), None);
    }

    #[test]
    fn a_fast_interpreter_is_distinguished_from_compiled_code() {
        for preset in ["kernel-wamr", "kernel-wasm3"] {
            let variant = variant(json!({"name": "k", "preset": preset}));
            let contradiction = |ratio: &str| {
                let facts = [
                    ("engine", preset.strip_prefix("kernel-").unwrap()),
                    ("boundsChecks", "Explicit"),
                    ("threads", "1"),
                    ("compileMode", "Interpreter"),
                    ("computeRatio", ratio),
                    ("profile", "release"),
                ];
                let facts = facts.map(|(a, b)| (a.to_owned(), b.to_owned())).into();
                super::contradiction(&variant, &facts)
            };
            assert_eq!(contradiction("4.4"), None, "{preset}");
            let fast = contradiction("1.3").unwrap();
            assert!(fast.contains("no interpreter does"), "{fast}");
        }
    }

    #[test]
    fn a_users_container_claims_nothing() {
        let own = variant(json!({"name": "own", "container": {"image": "a:1", "port": 80}}));
        assert_eq!(contradiction(&own, &EngineFacts::new()), None);
    }
}
