//! The settings of an engine have one rule, which is written twice: in CEL for the API server, and as the
//! catalogue for the operator.

use serde_json::{Value, json};
use strum::IntoEnumIterator as _;
use wasmbench_api::run::{Allocator, BoundsChecks, Preset};
use wasmbench_model::variants::catalogue::definition;

use crate::manifests::{completed, refusals};

/// Settings of every kind, and the pairs that depend on each other.
fn settings() -> Vec<Value> {
    let mut all: Vec<Value> = ["Aot", "Jit", "Interpreter"]
        .map(|mode| json!({"compile": mode}))
        .into();
    for allocator in Allocator::iter().map(<&str>::from) {
        all.push(json!({"allocator": allocator}));
        let checks = BoundsChecks::iter().map(<&str>::from);
        all.extend(checks.map(|checks| json!({"allocator": allocator, "boundsChecks": checks})));
    }
    all.push(json!({"threads": 4}));
    all
}

#[test]
fn the_crd_takes_exactly_the_engine_settings_that_the_catalogue_offers() {
    for preset in Preset::iter() {
        for engine in settings() {
            let variant = json!({"name": "one-unsafe", "preset": preset, "engine": engine});
            let refused = refusals(&completed(&json!({"variants": [variant]})), None);
            let offered = definition(preset)
                .unwrap()
                .takes(serde_json::from_value(engine).unwrap());
            assert_eq!(refused.is_empty(), offered, "{variant}: {refused:?}");
        }
    }
}
