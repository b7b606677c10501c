//! What a guest can report about its execution: itself, what its host reports, and how fast it
//! computes.

use crate::workloads::PROFILE;
use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// What a host may report about itself in the environment, and the name under which the guest
/// repeats it.
const HOST_FACTS: [(&str, &str); 3] = [
    ("WASM_HOST_ENGINE", "engine"),
    ("WASM_HOST_VERSION", "version"),
    ("WASM_HOST_COMPILE_MODE", "compileMode"),
];
/// Not the constant of `std`, which is empty under WASI 0.2 in some versions.
const SYSTEM: &str = if cfg!(target_os = "wasi") {
    "wasi"
} else {
    std::env::consts::OS
};
/// About half a millisecond of native code. The probe does the same number of steps.
const STEPS: u32 = 200_000;
/// Rounds, of which the shortest counts: other processes may interrupt one.
const ROUNDS: usize = 5;

/// Returns a JSON object. `chainNanoseconds` is the time of a chain of xorshift steps; whoever
/// requests it does the same in native code. Compiled Wasm takes about as long, an interpreter many
/// times as long, whatever the host reports about itself.
pub fn guest_facts() -> String {
    facts(|name| std::env::var(name).ok(), chain())
}

fn facts(variable: impl Fn(&str) -> Option<String>, chain: Duration) -> String {
    let arch = std::env::consts::ARCH;
    let mut facts = format!(r#"{{"guest":"{arch}-{SYSTEM}","profile":"{PROFILE}""#);
    for (name, member) in HOST_FACTS {
        // Only values that need no escaping: no engine has any other name.
        let plain = |c: char| c.is_ascii_alphanumeric() || ".-+".contains(c);
        if let Some(value) = variable(name).filter(|value| value.chars().all(plain)) {
            // Writing to memory does not fail.
            let _ = write!(facts, r#","{member}":"{value}""#);
        }
    }
    let _ = write!(facts, r#","chainNanoseconds":{}}}"#, chain.as_nanos());
    facts
}

fn chain() -> Duration {
    let round = || {
        let began = Instant::now();
        black_box((0..black_box(STEPS)).fold(2_463_534_242, step));
        began.elapsed()
    };
    (0..ROUNDS).map(|_| round()).min().unwrap_or_default()
}

/// Each step depends on the one before it.
fn step(mut x: u32, _: u32) -> u32 {
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guest_repeats_only_plain_facts_of_its_host() {
        let variable = |name: &str| match name {
            "WASM_HOST_ENGINE" => Some("wasmtime".to_owned()),
            "WASM_HOST_VERSION" => Some("48\",\"a\":\"".to_owned()),
            _ => None,
        };
        let facts = facts(variable, Duration::from_micros(7));
        let facts: serde_json::Value = serde_json::from_str(&facts).unwrap();
        assert_eq!(facts["engine"], "wasmtime");
        assert_eq!(facts["chainNanoseconds"], 7000);
        assert!(facts.get("version").is_none() && facts.get("compileMode").is_none());
    }

    #[test]
    fn the_chain_takes_time() {
        assert!(chain() > Duration::from_micros(10));
    }
}
