//! What gateways report about their engines: it matches what their variants claim, and another mode
//! would be noticed.

use wasmbench_api::BenchmarkRun;
use wasmbench_api::run::Variant;
use wasmbench_model::variants::engine::contradiction;
use wasmbench_model::wire::instrument::EngineFacts;
use wasmbench_model::wire::record::Record;

/// The field with how Wasm is executed.
const COMPILE_MODE: &str = "compileMode";

/// What the process under test reported about its engine.
pub fn reported(record: &Record) -> &EngineFacts {
    let document = record.load().expect("a load");
    document.engine.as_ref().expect("a gateway reports")
}

/// Asserts that no process contradicts what its variant claims, and that each reports how fast it
/// computes unless nothing follows from that.
pub fn assert_as_claimed(run: &BenchmarkRun, records: &[Record]) {
    for record in records {
        let found = contradiction(variant(run, &record.trial.cell.variant), reported(record));
        assert_eq!(found, None, "{record:#?}");
    }
}

/// Asserts that what processes of either variant report would contradict the other's claim: by the
/// mode they name, and by their speed alone where they name no mode or the wrong one.
pub fn assert_distinguished(
    run: &BenchmarkRun,
    records: &[Record],
    compiled: &str,
    interpreted: &str,
) {
    for (reported_by, claimed_by, mode, word) in [
        (interpreted, compiled, "Aot", "as an interpreter does"),
        (
            compiled,
            interpreted,
            "Interpreter",
            "which no interpreter does",
        ),
    ] {
        let claim = variant(run, claimed_by);
        let mut mine = records
            .iter()
            .filter(|record| record.trial.cell.variant == reported_by)
            .peekable();
        assert!(mine.peek().is_some(), "{reported_by}: no record");
        for record in mine {
            let honest = reported(record).clone();
            let mut silent = honest.clone();
            silent.remove(COMPILE_MODE);
            let mut lying = honest.clone();
            lying.insert(COMPILE_MODE.to_owned(), mode.to_owned());
            for facts in [&honest, &silent, &lying] {
                let found = contradiction(claim, facts).unwrap_or_default();
                assert!(
                    found.contains(word),
                    "{reported_by} as {claimed_by}: '{found}', {facts:?}"
                );
            }
            let found = contradiction(claim, &honest).unwrap_or_default();
            assert!(found.contains(COMPILE_MODE), "{reported_by}: '{found}'");
        }
    }
}

fn variant<'a>(run: &'a BenchmarkRun, name: &str) -> &'a Variant {
    let mut variants = run.spec.variants.iter();
    variants
        .find(|variant| variant.name == name)
        .expect("a variant of the spec")
}
