//! When trials were recorded, and what made them longer: one line per trial in an annotation of the
//! `ConfigMap` of its record, so that nobody who estimates how long the others will take needs to read a
//! record. Pure.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use k8s_openapi::api::core::v1::ConfigMap;
use wasmbench_api::labels;

use crate::store::check_schema;
use crate::wire::document::{LoadDocument, TimedWindow};
use crate::wire::evidence::Evidence;
use crate::wire::record::{Record, TrialId};

const NANOSECONDS: i64 = 1_000_000_000;

/// What is noted of a recorded trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Noted {
    /// When it was recorded, in seconds since 1970.
    pub recorded_at_seconds: i64,
    /// Seconds from the begin of its load to its record; `None` without a load.
    pub load_seconds: Option<u32>,
    /// Windows that were measured again.
    pub repeated_windows: u32,
    /// Parts that were added to its warm-up.
    pub added_parts: u32,
}

impl From<&Record> for Noted {
    fn from(record: &Record) -> Self {
        let recorded_at_seconds = record.recorded_at.as_second();
        let load = record.load();
        let warmup = load
            .and_then(|document| document.warmup)
            .unwrap_or_default();
        let starts = record.evidence.as_ref().map(Evidence::starts);
        let first = starts.unwrap_or_default().into_iter().min();
        let load_seconds = first.and_then(|start| {
            let warmed_up = i64::try_from(warmup.duration_nanoseconds).ok()?;
            let begun = start.checked_sub(warmed_up)? / NANOSECONDS;
            u32::try_from(recorded_at_seconds.checked_sub(begun)?).ok()
        });
        Self {
            recorded_at_seconds,
            load_seconds,
            repeated_windows: load.map_or(0, repeated_windows),
            added_parts: warmup.added_parts,
        }
    }
}

fn repeated_windows(document: &LoadDocument) -> u32 {
    let rungs = document.rungs.iter();
    let rungs = rungs.filter_map(|rung| rung.window.as_ref());
    let sizes = document.sizes.iter().map(|size| &size.window);
    let windows = document.timed.iter().chain(rungs).chain(sizes);
    let repeats = |window: &TimedWindow| {
        let noisy = u32::from(window.discarded.is_some());
        window.repeats.saturating_add(noisy)
    };
    windows.map(repeats).fold(0, u32::saturating_add)
}

/// Notes `record`, which was added to `chunk`.
pub fn note(chunk: &mut ConfigMap, record: &Record) {
    let noted = Noted::from(record);
    let trial = &record.trial;
    let key = format!("{}/b{}", trial.cell.point, trial.block);
    let annotations = chunk.metadata.annotations.get_or_insert_default();
    let text = annotations.entry(labels::RECORD_PACE.into()).or_default();
    let of_others = text
        .lines()
        .filter(|line| line.split(' ').next() != Some(key.as_str()));
    let mut lines: String = of_others.flat_map(|line| [line, "\n"]).collect();
    let load = noted.load_seconds.map(|seconds| seconds.to_string());
    let _ = writeln!(
        lines,
        "{key} {} {} {} {}",
        noted.recorded_at_seconds,
        load.as_deref().unwrap_or("-"),
        noted.repeated_windows,
        noted.added_parts
    );
    *text = lines;
}

/// What is noted of the trials whose records a `ConfigMap` holds, from its metadata only. A line that
/// cannot be parsed is left out.
pub fn noted_in(
    labels: &BTreeMap<String, String>,
    annotations: &BTreeMap<String, String>,
) -> BTreeMap<TrialId, Noted> {
    let place = labels
        .get(labels::VARIANT)
        .zip(labels.get(labels::WORKLOAD));
    let text = annotations.get(labels::RECORD_PACE);
    let (Ok(()), Some((variant, workload)), Some(text)) = (check_schema(annotations), place, text)
    else {
        return BTreeMap::new();
    };
    let parsed = |line: &str| {
        let mut words = line.split(' ');
        let trial = format!("{variant}/{workload}/{}", words.next()?);
        let trial: TrialId = trial.parse().ok()?;
        let noted = Noted {
            recorded_at_seconds: words.next()?.parse().ok()?,
            load_seconds: words.next()?.parse().ok(),
            repeated_windows: words.next()?.parse().ok()?,
            added_parts: words.next()?.parse().ok()?,
        };
        Some((trial, noted))
    };
    text.lines().filter_map(parsed).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::wire::record::RECORD_SCHEMA;

    /// The record of a load that began 2 s before its window, at 1000 s, and was stored at 1012 s.
    fn record(block: u32) -> Record {
        let window = json!({
            "startUnixNanoseconds": 1_002_000_000_000_i64, "durationNanoseconds": 5, "repeats": 1,
            "resolutionSeconds": 0.1, "fortio": {},
            "discarded": {"startUnixNanoseconds": 0, "durationNanoseconds": 5, "rps": 1.0},
        });
        let record = json!({
            "schema": RECORD_SCHEMA, "runUid": "u", "position": 0, "operatorVersion": "0.1.0",
            "trial": {"variant": "native", "workload": "hello", "sweep": "warmLatency", "block": block},
            "outcome": "measured", "recordedAt": "1970-01-01T00:16:52Z",
            "document": {
                "schema": "wasmbench.dev/load/v2", "probeVersion": "0.1.0", "fortioVersion": "1",
                "readiness": {"waitedMicroseconds": 1, "attempts": 1},
                "warmup": {"durationNanoseconds": 2_000_000_000_u64, "requests": 1, "rps": 1.0, "addedParts": 3},
                "timed": window, "environment": {"facts": {}},
            },
        });
        serde_json::from_value(record).unwrap()
    }

    #[test]
    fn each_trial_is_noted_once_and_read_from_metadata() {
        let mut chunk = ConfigMap::default();
        for block in [1, 2, 1] {
            note(&mut chunk, &record(block));
        }
        let mut annotations = chunk.metadata.annotations.unwrap();
        annotations.insert(labels::RECORD_SCHEMA.into(), RECORD_SCHEMA.into());
        let of = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let own = [of(labels::VARIANT, "native"), of(labels::WORKLOAD, "hello")];
        let found = noted_in(&own.into(), &annotations);
        let expected = Noted {
            recorded_at_seconds: 1012,
            load_seconds: Some(12),
            repeated_windows: 2,
            added_parts: 3,
        };
        assert_eq!(found.len(), 2, "{annotations:?}");
        assert_eq!(found[&record(1).trial], expected);
        assert_eq!(noted_in(&BTreeMap::new(), &annotations), BTreeMap::new());
    }
}
