//! What a summary needs of one record: a record in, an observation out.

use jiff::Timestamp;
use wasmbench_core::wire::record::{Outcome, Point, Record};

use crate::bodies::{Bodies, bodies};
use crate::ceiling;
use crate::coldstart::trial as coldstart;
use crate::coldstart::trial::ColdTrial;
use crate::density::trial as density;
use crate::density::trial::DensityTrial;
use crate::trial::{self, Metrics};

/// Why a trial that an older version measured with `pairing: Duet` is left out.
const DUET: &str = "the baseline was loaded at the same moment (pairing: Duet), and wasmbench no longer \
    compares such trials: apply the run again under another name, without spec.pairing";

/// What was measured in one trial.
#[derive(Clone, Debug, PartialEq)]
pub enum Numbers {
    /// Of a load.
    Load(Box<Metrics>),
    /// Of cold starts.
    ColdStart(Box<ColdTrial>),
    /// Of density.
    Density(Box<DensityTrial>),
}

/// What a summary needs of one record.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// Position in the run's order, counted from 0.
    pub position: u32,
    /// When its measurement began, by the node's clock.
    pub began_at: Option<Timestamp>,
    /// When the record was stored.
    pub recorded_at: Timestamp,
    /// How the trial ended.
    pub ended: Outcome,
    /// What was measured; `None` where nothing was.
    pub numbers: Option<Numbers>,
    /// Requests per second that the load generator would reach if answers cost nothing.
    pub generator_ceiling: Option<f64>,
    /// How what the subject says of its engine contradicts its variant.
    pub engine_contradiction: Option<String>,
    /// The answers that were seen.
    pub bodies: Bodies,
    /// Index of the facts of node and subject among those of the collector.
    pub facts: usize,
}

impl Observation {
    /// Whether there is a measurement.
    pub fn is_measured(&self) -> bool {
        self.ended == Outcome::Measured
    }

    /// What was measured of a load.
    pub fn load(&self) -> Option<&Metrics> {
        match self.numbers.as_ref()? {
            Numbers::Load(found) => Some(found),
            Numbers::ColdStart(_) | Numbers::Density(_) => None,
        }
    }

    /// What was measured of cold starts.
    pub fn cold_start(&self) -> Option<&ColdTrial> {
        match self.numbers.as_ref()? {
            Numbers::ColdStart(found) => Some(found),
            Numbers::Load(_) | Numbers::Density(_) => None,
        }
    }

    /// What was measured of density.
    pub fn density(&self) -> Option<&DensityTrial> {
        match self.numbers.as_ref()? {
            Numbers::Density(found) => Some(found),
            Numbers::Load(_) | Numbers::ColdStart(_) => None,
        }
    }
}

/// Of a record of any sweep. `facts` is the index of its facts.
pub(super) fn observe(record: &Record, expected_status: u16, facts: usize) -> Observation {
    match record.trial.cell.point {
        Point::ColdStart { .. } => observe_cold_start(record, facts),
        Point::Density => observe_density(record, expected_status, facts),
        Point::WarmLatency | Point::Throughput { .. } | Point::OpenLoop { .. } => {
            observe_load(record, expected_status, facts)
        }
    }
}

fn observe_load(record: &Record, expected_status: u16, facts: usize) -> Observation {
    let document = record.load();
    if document.is_some_and(|document| document.is_duet) {
        return observe_duet(record, facts);
    }
    let metrics = document.map(|document| trial::metrics(document, expected_status));
    let unreadable = match &metrics {
        Some(Ok(Some(_))) => None,
        Some(Err(error)) => Some(error.to_string()),
        Some(Ok(None)) | None => {
            Some("the record says Measured but holds no timed window".to_owned())
        }
    };
    Observation {
        numbers: metrics
            .and_then(Result::ok)
            .flatten()
            .map(|found| Numbers::Load(Box::new(found))),
        bodies: document.map(bodies).unwrap_or_default(),
        generator_ceiling: document
            .and_then(|document| ceiling::alone(document.generator_ceiling.as_ref()?)),
        ..without_numbers(record, unreadable, facts)
    }
}

/// Its numbers are those of a service on half a node, and no trial of another kind compares with it.
fn observe_duet(record: &Record, facts: usize) -> Observation {
    let seen = without_numbers(record, None, facts);
    match seen.ended {
        Outcome::Measured => Observation {
            ended: failed("Duet", DUET),
            ..seen
        },
        Outcome::Failed { .. } | Outcome::Skipped { .. } => seen,
    }
}

fn observe_cold_start(record: &Record, facts: usize) -> Observation {
    let document = record.cold_start();
    let numbers = document.map(coldstart::of_document);
    let is_readable = numbers.as_ref().is_some_and(ColdTrial::is_measured);
    let unreadable = "the record says Measured but holds no sample that counts";
    Observation {
        numbers: numbers.map(|found| Numbers::ColdStart(Box::new(found))),
        bodies: document.map(coldstart::bodies).unwrap_or_default(),
        ..without_numbers(record, (!is_readable).then(|| unreadable.to_owned()), facts)
    }
}

fn observe_density(record: &Record, expected_status: u16, facts: usize) -> Observation {
    let document = record.density();
    let numbers = document.map(|document| density::of_document(document, expected_status));
    let is_readable = numbers
        .as_ref()
        .is_some_and(|found| !found.steps.is_empty());
    let unreadable = "the record says Measured but holds no step";
    Observation {
        numbers: numbers.map(|found| Numbers::Density(Box::new(found))),
        bodies: document.map(density::bodies).unwrap_or_default(),
        ..without_numbers(record, (!is_readable).then(|| unreadable.to_owned()), facts)
    }
}

/// What a record of any sweep tells besides its numbers, and how it ended when these are `unreadable`.
fn without_numbers(record: &Record, unreadable: Option<String>, facts: usize) -> Observation {
    let ended = match (&record.outcome, unreadable) {
        (Outcome::Measured, Some(why)) => failed("UnreadableResult", &why),
        (ended, _) => ended.clone(),
    };
    Observation {
        position: record.position,
        began_at: began_at(record),
        recorded_at: record.recorded_at,
        ended,
        numbers: None,
        generator_ceiling: None,
        engine_contradiction: None,
        bodies: Bodies::default(),
        facts,
    }
}

fn failed(reason: &str, message: &str) -> Outcome {
    Outcome::Failed {
        reason: reason.to_owned(),
        message: message.to_owned(),
    }
}

/// When the measurement of a record began, on the node's clock: its first window, sample or step.
fn began_at(record: &Record) -> Option<Timestamp> {
    let windows = record.load().into_iter();
    let windows = windows.filter_map(|document| document.timed.as_ref());
    let samples = record.cold_start().into_iter();
    let samples = samples.flat_map(|document| document.floor.iter().chain(&document.samples));
    let steps = record
        .density()
        .into_iter()
        .flat_map(|document| &document.steps);
    let starts = windows
        .map(|window| window.start_unix_nanoseconds)
        .chain(samples.map(|sample| sample.start_unix_nanoseconds))
        .chain(steps.map(|step| step.first.start_unix_nanoseconds));
    let earliest = starts.filter(|nanoseconds| *nanoseconds > 0).min()?;
    Timestamp::from_nanosecond(i128::from(earliest)).ok()
}
