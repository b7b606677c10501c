//! Records of trials with any outcome.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;
use wasmbench_model::wire::record::{Outcome, RECORD_SCHEMA, Record, SubjectFacts, TrialId};

use super::UID;
use super::document::document;

/// A trial that ended with this outcome, with fortio's output if there was any.
pub fn record(trial: TrialId, position: u32, outcome: Outcome, fortio: Option<Value>) -> Record {
    let subject = SubjectFacts {
        pod: format!("wb-{position}"),
        pod_uid: format!("uid-{position}"),
        node: "bench-1".into(),
        image: format!("wasmbench/{}:0.1.0", trial.cell.variant),
        image_id: Some(format!("sha256:{}", trial.cell.variant)),
        image_bytes: None,
        runtime_class: None,
        template: None,
        added: vec![],
        node_facts: facts(&[
            ("kubelet", "v1.33.4"),
            ("containerRuntime", "containerd://2.1.4"),
            ("osImage", "Debian GNU/Linux 13"),
            ("provider", "kind"),
        ]),
    };
    Record {
        schema: RECORD_SCHEMA.into(),
        run_uid: UID.into(),
        evidence: fortio.map(|fortio| document(&trial.cell, fortio, began_at(position)).into()),
        trial,
        position,
        outcome,
        operator_version: "0.1.0".into(),
        recorded_at: recorded_at(position),
        subject: Some(subject),
    }
}

/// When the record of a trial was stored: one every half minute.
pub fn recorded_at(position: u32) -> Timestamp {
    let seconds = 1_767_607_200 + 30 * (i64::from(position) + 1);
    Timestamp::from_second(seconds).expect("a time of this century")
}

/// When the trial's timed window began, in nanoseconds since 1970.
fn began_at(position: u32) -> i64 {
    (recorded_at(position).as_second() - 12) * 1_000_000_000
}

/// Facts as a map.
pub fn facts(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect()
}

/// A failed outcome.
pub fn failed(reason: &str, message: &str) -> Outcome {
    Outcome::Failed {
        reason: reason.into(),
        message: message.into(),
    }
}

/// A skipped outcome.
pub fn skipped(reason: &str, message: &str) -> Outcome {
    Outcome::Skipped {
        reason: reason.into(),
        message: message.into(),
    }
}
