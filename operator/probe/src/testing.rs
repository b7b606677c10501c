//! Values that several tests need.

use wasmbench_core::wire::document::{Environment, LOAD_SCHEMA, LoadDocument, Readiness};

/// A document without a failure and without anything else.
pub fn document() -> LoadDocument {
    LoadDocument {
        schema: LOAD_SCHEMA.to_owned(),
        probe_version: "0".to_owned(),
        fortio_version: "0".to_owned(),
        failure: None,
        readiness: Readiness::default(),
        answer_before: None,
        answer_after: None,
        warmup: None,
        timed: None,
        cpus: None,
        generator_ceiling: None,
        engine: None,
        environment: Environment::default(),
        duet: None,
    }
}
