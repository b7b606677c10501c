//! How records are kept in `ConfigMaps`: one gzipped JSON entry per trial, an index of outcomes in
//! an annotation (so that planning need not read any record), and `SHA256SUMS` in the format of
//! sha256sum. Pure: the caller reads and writes the objects.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::ConfigMap;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use wasmbench_api::labels;

use crate::wire::failure::FailureReason;
use crate::wire::record::{Cell, Outcome, Point, RECORD_SCHEMA, Record, TrialId};
use crate::wire::schema::{self, OtherSchema};
use crate::wire::scout::Scouted;

/// A `ConfigMap` may hold 1 MiB; half of it leaves room for base64 and metadata.
pub const MAX_CHUNK_BYTES: usize = 512 * 1024;
/// One record must fit a chunk of its own with room to spare.
pub const MAX_ENTRY_BYTES: usize = 256 * 1024;
/// Longest document of a probe, in bytes; the rest of a longer log is not read.
pub const MAX_DOCUMENT_BYTES: u32 = 2 * 1024 * 1024;
/// An entry that unpacks to more than a document plus what the operator adds to it is not one of
/// ours, nor is one with more values than this.
const RECORD: Bounds = Bounds {
    bytes: MAX_DOCUMENT_BYTES as usize + 256 * 1024,
    values: 200_000,
};
/// Longest annotation of what a scout saw, in bytes: two answers of 16 workloads with their excerpts
/// take a quarter of it, and all annotations of an object may take 256 KiB.
const MAX_SCOUTED_BYTES: usize = 64 * 1024;
/// Key of the checksums.
pub const SUMS_KEY: &str = "SHA256SUMS";

/// What gzipped JSON may unpack to. In memory, a value takes ten times the size of its text or more,
/// so that a short entry could fill the operator's memory.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The most bytes.
    pub bytes: usize,
    /// The most values.
    pub values: usize,
}

impl Bounds {
    /// Whether a JSON text is within the bounds.
    pub fn hold(&self, json: &[u8]) -> bool {
        // Each value except the first follows one of these.
        let begins = |byte: &&u8| matches!(**byte, b',' | b'[' | b'{');
        json.len() <= self.bytes && json.iter().filter(begins).nth(self.values).is_none()
    }
}

/// A record could not be packed or unpacked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The record does not serialise.
    #[error("could not write the record as JSON")]
    Json(#[source] serde_json::Error),
    /// Compression failed.
    #[error("could not pack the record")]
    Pack(#[source] std::io::Error),
    /// The bytes are not gzip.
    #[error("could not unpack the record")]
    Unpack(#[source] std::io::Error),
    /// The bytes unpack to more than wasmbench ever writes.
    #[error("the entry has more than {} bytes or {} values", .0.bytes, .0.values)]
    TooMuch(Bounds),
    /// The unpacked bytes are not a record.
    #[error("the entry is not a record")]
    NotARecord(#[source] serde_json::Error),
    /// The packed record is too large.
    #[error("the record of {trial} is {bytes} bytes when packed; {MAX_ENTRY_BYTES} are allowed")]
    TooLarge {
        /// Which trial.
        trial: TrialId,
        /// Its size.
        bytes: usize,
    },
}

/// Key of a trial's entry in its `ConfigMap`.
pub fn entry_key(point: Point, block: u32) -> String {
    format!("{point}.b{block}.json.gz")
}

/// A record as it is stored.
pub fn encode(record: &Record) -> Result<Vec<u8>, Error> {
    let bytes = pack(record)?;
    if bytes.len() > MAX_ENTRY_BYTES {
        return Err(Error::TooLarge {
            trial: record.trial.clone(),
            bytes: bytes.len(),
        });
    }
    Ok(bytes)
}

/// The record in a stored entry.
pub fn decode(bytes: &[u8]) -> Result<Record, Error> {
    unpack(bytes, RECORD)
}

/// A value as gzipped JSON.
pub fn pack(value: &impl Serialize) -> Result<Vec<u8>, Error> {
    compressed(&json(value)?)
}

/// A value as JSON.
pub fn json(value: &impl Serialize) -> Result<Vec<u8>, Error> {
    serde_json::to_vec(value).map_err(Error::Json)
}

/// Bytes as gzip.
pub fn compressed(bytes: &[u8]) -> Result<Vec<u8>, Error> {
    // No timestamp inside: the same bytes always give the same.
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).map_err(Error::Pack)?;
    encoder.finish().map_err(Error::Pack)
}

/// The value in gzipped JSON that is within `bounds`.
pub fn unpack<T: DeserializeOwned>(bytes: &[u8], bounds: Bounds) -> Result<T, Error> {
    let mut json = Vec::new();
    GzDecoder::new(bytes)
        .take(bounds.bytes as u64 + 1)
        .read_to_end(&mut json)
        .map_err(Error::Unpack)?;
    if !bounds.hold(&json) {
        return Err(Error::TooMuch(bounds));
    }
    serde_json::from_slice(&json).map_err(Error::NotARecord)
}

/// How a recorded trial ended, as far as planning needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// There is a measurement.
    Measured,
    /// It failed for this reason.
    Failed(FailureReason),
    /// It was skipped for this reason.
    Skipped(FailureReason),
}

impl From<&Outcome> for Ended {
    fn from(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Measured => Self::Measured,
            Outcome::Failed { reason, .. } => Self::Failed(reason.clone()),
            Outcome::Skipped { reason, .. } => Self::Skipped(reason.clone()),
        }
    }
}

/// Which trials a `ConfigMap` holds: one line per trial, `point/bN Outcome Reason`.
pub fn render_index(index: &BTreeMap<TrialId, Ended>) -> String {
    let mut text = String::new();
    for (trial, ended) in index {
        let (outcome, reason) = match ended {
            Ended::Measured => ("Measured", ""),
            Ended::Failed(reason) => ("Failed", reason.as_str()),
            Ended::Skipped(reason) => ("Skipped", reason.as_str()),
        };
        let line = format!("{}/b{} {outcome} {reason}", trial.cell.point, trial.block);
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

/// The inverse of [`render_index`]. A line that cannot be parsed is left out: its trial is then
/// measured again under the same key instead of being trusted.
pub fn parse_index(variant: &str, workload: &str, text: &str) -> BTreeMap<TrialId, Ended> {
    let entry = |line: &str| {
        let mut words = line.split(' ');
        let trial: TrialId = format!("{variant}/{workload}/{}", words.next()?)
            .parse()
            .ok()?;
        let outcome = words.next()?;
        let reason = words.next().unwrap_or_default().into();
        let ended = match outcome {
            "Measured" => Ended::Measured,
            "Failed" => Ended::Failed(reason),
            "Skipped" => Ended::Skipped(reason),
            _ => return None,
        };
        Some((trial, ended))
    };
    text.lines().filter_map(entry).collect()
}

/// Returns an error if the records of a `ConfigMap` have another schema than this version writes and
/// reads, from its metadata only.
pub fn check_schema(annotations: &BTreeMap<String, String>) -> Result<(), OtherSchema> {
    let found = annotations.get(labels::RECORD_SCHEMA);
    schema::check(found.map_or("not named", String::as_str), RECORD_SCHEMA)
}

/// The trials that a record `ConfigMap` holds, from its metadata only. Records of another schema do
/// not count: their trials are measured again.
pub fn index_of(
    labels: &BTreeMap<String, String>,
    annotations: &BTreeMap<String, String>,
) -> BTreeMap<TrialId, Ended> {
    if check_schema(annotations).is_err() {
        return BTreeMap::new();
    }
    match (
        labels.get(labels::VARIANT),
        labels.get(labels::WORKLOAD),
        annotations.get(labels::RECORD_INDEX),
    ) {
        (Some(variant), Some(workload), Some(text)) => parse_index(variant, workload, text),
        _ => BTreeMap::new(),
    }
}

/// Notes in the metadata what the scout in `record` saw: what is left out because of it is planned
/// without reading any record. What is too long to be noted leaves nothing out.
pub fn note_scouted(chunk: &mut ConfigMap, record: &Record) {
    let Some(document) = record.scout() else {
        return;
    };
    let text = serde_json::to_string(&document.workloads).unwrap_or_default();
    if text.len() <= MAX_SCOUTED_BYTES {
        let annotations = chunk.metadata.annotations.get_or_insert_default();
        annotations.insert(labels::SCOUTED.into(), text);
    }
}

/// What the scout of a variant saw, if the `ConfigMap` holds its record, from its metadata only.
pub fn scouted_of(
    labels: &BTreeMap<String, String>,
    annotations: &BTreeMap<String, String>,
) -> Option<(String, Vec<Scouted>)> {
    check_schema(annotations).ok()?;
    let variant = labels.get(labels::VARIANT)?;
    let scouted = serde_json::from_str(annotations.get(labels::SCOUTED)?).ok()?;
    Some((variant.clone(), scouted))
}

/// Bytes of the records in a `ConfigMap`, from its metadata only.
pub fn bytes_of(annotations: &BTreeMap<String, String>) -> u64 {
    let bytes = annotations.get(labels::RECORD_BYTES);
    bytes
        .and_then(|bytes| bytes.parse().ok())
        .unwrap_or_default()
}

/// The result of an attempt to add a record to a `ConfigMap`.
#[derive(Debug, PartialEq, Eq)]
pub enum Added {
    /// The record was added.
    Yes,
    /// The trial was there already; the stored record stays as it is.
    AlreadyThere,
    /// The `ConfigMap` is full: use the next chunk.
    Full,
}

/// Adds a packed record to the `ConfigMap` of its variant and workload. Records of another schema
/// that it holds are removed.
pub fn add(
    chunk: &mut ConfigMap,
    cell: &Cell,
    trial: &TrialId,
    ended: Ended,
    bytes: Vec<u8>,
) -> Added {
    let key = entry_key(trial.cell.point, trial.block);
    let annotations = chunk.metadata.annotations.get_or_insert_default();
    if check_schema(annotations).is_err() {
        annotations.remove(labels::RECORD_INDEX);
        annotations.remove(labels::SCOUTED);
        annotations.remove(labels::RECORD_PACE);
        annotations.insert(labels::RECORD_SCHEMA.into(), RECORD_SCHEMA.into());
        chunk.binary_data = None;
        chunk.data = None;
    }
    let kept = annotations
        .get(labels::RECORD_INDEX)
        .map(String::as_str)
        .unwrap_or_default();
    let mut index = parse_index(&cell.variant, &cell.workload, kept);
    let entries = chunk.binary_data.get_or_insert_default();
    if index.contains_key(trial) && entries.contains_key(&key) {
        return Added::AlreadyThere;
    }
    let used: usize = entries.values().map(|entry| entry.0.len()).sum();
    if used > 0 && used + bytes.len() > MAX_CHUNK_BYTES {
        return Added::Full;
    }
    let sums = chunk
        .data
        .get_or_insert_default()
        .entry(SUMS_KEY.into())
        .or_default();
    let others = sums.lines().filter(|line| !line.ends_with(&key));
    *sums = others.flat_map(|line| [line, "\n"]).collect();
    let _ = writeln!(sums, "{}  {key}", hex(&Sha256::digest(&bytes)));
    annotations.insert(
        labels::RECORD_BYTES.into(),
        (used + bytes.len()).to_string(),
    );
    entries.insert(key, ByteString(bytes));
    index.insert(trial.clone(), ended);
    annotations.insert(labels::RECORD_INDEX.into(), render_index(&index));
    Added::Yes
}

/// Lower-case hex digits of some bytes.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::wire::open_loop::Rate;

    fn trial(connections: u32, block: u32) -> TrialId {
        trial_at(Point::Throughput { connections }, block)
    }

    fn points() -> impl Strategy<Value = Point> {
        prop_oneof![
            Just(Point::WarmLatency),
            Just(Point::Density),
            Just(Point::Capacity),
            Just(Point::Payload),
            Just(Point::Scout),
            (1u32..=64).prop_map(|concurrency| Point::ColdStart { concurrency }),
            (1u32..=2000).prop_map(|connections| Point::Throughput { connections }),
            (1u32..=99).prop_map(|percent| Point::OpenLoop {
                rate: Rate::PercentOfPeak(percent)
            }),
            (1u32..=200_000).prop_map(|rps| Point::OpenLoop {
                rate: Rate::Rps(rps)
            }),
        ]
    }

    fn trial_at(point: Point, block: u32) -> TrialId {
        let cell = Cell {
            variant: "tortoise".into(),
            workload: "greet".into(),
            point,
        };
        TrialId { cell, block }
    }

    fn record(trial: TrialId, message: String) -> Record {
        Record {
            schema: RECORD_SCHEMA.into(),
            run_uid: "1234".into(),
            trial,
            position: 3,
            outcome: Outcome::Failed {
                reason: "NeverListened".into(),
                message,
            },
            operator_version: "0.1.0".into(),
            recorded_at: jiff::Timestamp::UNIX_EPOCH,
            subject: None,
            evidence: None,
        }
    }

    #[test]
    fn a_record_survives_a_round_trip() {
        let record = record(trial(10, 1), "nothing there".into());
        assert_eq!(decode(&encode(&record).unwrap()).unwrap(), record);
    }

    #[test]
    fn the_same_record_gives_the_same_bytes() {
        let record = record(trial(10, 1), "nothing there".into());
        assert_eq!(encode(&record).unwrap(), encode(&record).unwrap());
    }

    #[test]
    fn a_trial_is_stored_once() {
        let mut chunk = ConfigMap::default();
        let trial = trial(10, 1);
        let mut put = |bytes: &[u8]| {
            add(
                &mut chunk,
                &trial.cell,
                &trial,
                Ended::Measured,
                bytes.to_vec(),
            )
        };
        assert_eq!(put(b"first"), Added::Yes);
        assert_eq!(put(b"second"), Added::AlreadyThere);
        assert_eq!(
            chunk.binary_data.unwrap()[&entry_key(trial.cell.point, trial.block)].0,
            b"first"
        );
    }

    #[test]
    fn a_chunk_reports_how_many_bytes_its_records_take() {
        let mut chunk = ConfigMap::default();
        for (block, bytes) in [(1, &b"first"[..]), (2, b"second")] {
            let trial = trial(10, block);
            add(
                &mut chunk,
                &trial.cell,
                &trial,
                Ended::Measured,
                bytes.to_vec(),
            );
        }
        assert_eq!(bytes_of(&chunk.metadata.annotations.unwrap()), 11);
        assert_eq!(bytes_of(&BTreeMap::new()), 0, "nothing is noted");
    }

    #[test]
    fn records_of_another_schema_are_ignored_and_replaced_by_new_ones() {
        let mut chunk = ConfigMap::default();
        let own = [(labels::VARIANT, "tortoise"), (labels::WORKLOAD, "greet")]
            .map(|(key, value)| (key.to_owned(), value.to_owned()));
        chunk.metadata.labels = Some(own.into());
        let put = |chunk: &mut ConfigMap, block| {
            let trial = trial(10, block);
            add(
                chunk,
                &trial.cell,
                &trial,
                Ended::Measured,
                b"bytes".to_vec(),
            )
        };
        let index = |chunk: &ConfigMap| {
            let annotations = chunk.metadata.annotations.as_ref().unwrap();
            index_of(chunk.metadata.labels.as_ref().unwrap(), annotations)
        };
        for block in [1, 2] {
            assert_eq!(put(&mut chunk, block), Added::Yes);
        }
        assert_eq!(index(&chunk).len(), 2);

        let annotations = chunk.metadata.annotations.as_mut().unwrap();
        let other = "wasmbench.dev/record/v0".to_owned();
        annotations.insert(labels::RECORD_SCHEMA.into(), other.clone());
        annotations.insert(labels::SCOUTED.into(), "[]".into());
        let error = check_schema(annotations).unwrap_err();
        assert_eq!((&error.found, error.read), (&other, RECORD_SCHEMA));
        assert_eq!(index(&chunk), BTreeMap::new());

        assert_eq!(put(&mut chunk, 1), Added::Yes);
        assert_eq!(
            index(&chunk).into_keys().collect::<Vec<_>>(),
            [trial(10, 1)]
        );
        let annotations = chunk.metadata.annotations.unwrap();
        assert_eq!(annotations.get(labels::SCOUTED), None);
        assert_eq!(chunk.binary_data.unwrap().len(), 1);
        assert_eq!(chunk.data.unwrap()[SUMS_KEY].lines().count(), 1);
    }

    fn scout(excerpt: &str) -> Record {
        let answer = serde_json::json!({
            "status": 200, "bodyBytes": 5, "bodySha256": "0", "excerpt": excerpt,
            "framing": "length", "connection": "kept",
        });
        let document = serde_json::json!({
            "schema": "wasmbench.dev/scout/v2", "probeVersion": "0.1.0",
            "readiness": {"waitedMicroseconds": 1, "attempts": 1},
            "workloads": [{"workload": "greet", "answers": [answer]}],
            "environment": {"facts": {}},
        });
        let document: crate::wire::scout::ScoutDocument = serde_json::from_value(document).unwrap();
        Record {
            outcome: Outcome::Measured,
            evidence: Some(document.into()),
            ..record(trial_at(Point::Scout, 0), String::new())
        }
    }

    #[test]
    fn scout_results_are_readable_from_metadata_only() {
        let record = scout("hello");
        assert_eq!(decode(&encode(&record).unwrap()).unwrap(), record);
        let mut chunk = ConfigMap::default();
        let trial = &record.trial;
        let bytes = encode(&record).unwrap();
        add(&mut chunk, &trial.cell, trial, Ended::Measured, bytes);
        note_scouted(&mut chunk, &record);
        let annotations = chunk.metadata.annotations.clone().unwrap();
        let labels = [(labels::VARIANT.to_owned(), "tortoise".to_owned())].into();
        let (variant, scouted) = scouted_of(&labels, &annotations).unwrap();
        assert_eq!(variant, "tortoise");
        assert_eq!(scouted, record.scout().unwrap().workloads);
        assert_eq!(scouted_of(&labels, &BTreeMap::new()), None);
    }

    #[test]
    fn text_too_long_for_an_annotation_is_not_noted() {
        let mut chunk = ConfigMap::default();
        note_scouted(&mut chunk, &scout(&"x".repeat(MAX_SCOUTED_BYTES)));
        assert_eq!(chunk, ConfigMap::default());
    }

    #[test]
    fn a_full_chunk_refuses_a_record_and_keeps_its_own() {
        let mut chunk = ConfigMap::default();
        let half = vec![7; MAX_CHUNK_BYTES / 2 + 1];
        let (one, two) = (trial(10, 1), trial(10, 2));
        assert_eq!(
            add(&mut chunk, &one.cell, &one, Ended::Measured, half.clone()),
            Added::Yes
        );
        assert_eq!(
            add(&mut chunk, &two.cell, &two, Ended::Measured, half),
            Added::Full
        );
        assert_eq!(chunk.binary_data.unwrap().len(), 1);
    }

    /// A few kilobytes that would take hundreds of megabytes to read.
    #[test]
    fn an_entry_of_a_million_values_is_refused_before_it_is_read() {
        let honest = serde_json::to_string(&record(trial(10, 1), String::new())).unwrap();
        let bomb = format!(
            "{},\"x\":[0{}]}}",
            honest.strip_suffix('}').unwrap(),
            ",0".repeat(1_000_000)
        );
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bomb.as_bytes()).unwrap();
        let bytes = encoder.finish().unwrap();
        assert!(bytes.len() < 10_000, "{} bytes", bytes.len());
        assert!(matches!(decode(&bytes), Err(Error::TooMuch(_))));
    }

    #[test]
    fn bytes_that_are_not_a_record_are_refused() {
        assert!(matches!(decode(b"plain text"), Err(Error::Unpack(_))));
    }

    proptest! {
        #[test]
        fn the_index_survives_a_round_trip(
            entries in proptest::collection::btree_map(
                (points(), 1u32..50),
                prop_oneof![
                    Just(Ended::Measured),
                    "[A-Z][A-Za-z]{0,20}".prop_map(|word| Ended::Failed(word.as_str().into())),
                    "[A-Z][A-Za-z]{0,20}".prop_map(|word| Ended::Skipped(word.as_str().into())),
                ],
                0..20,
            )
        ) {
            let index: BTreeMap<TrialId, Ended> =
                entries.into_iter().map(|((point, b), ended)| (trial_at(point, b), ended)).collect();
            prop_assert_eq!(parse_index("tortoise", "greet", &render_index(&index)), index);
        }

        #[test]
        fn parsing_an_index_never_panics(text in "\\PC{0,200}") {
            let _ = parse_index("tortoise", "greet", &text);
        }
    }
}
