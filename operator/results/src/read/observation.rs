//! What a summary needs from one record: a record in, an observation out.

use jiff::Timestamp;
use wasmbench_model::wire::failure::FailureReason;
use wasmbench_model::wire::record::{Outcome, Point, Record};

use crate::read::bodies::{Bodies, bodies};
use crate::read::ceiling;
use crate::read::climb_trial;
use crate::read::climb_trial::ClimbTrial;
use crate::read::cold_trial as coldstart;
use crate::read::cold_trial::ColdTrial;
use crate::read::density_trial as density;
use crate::read::density_trial::DensityTrial;
use crate::read::payload_trial;
use crate::read::payload_trial::PayloadTrial;
use crate::read::trial::{self, Metrics};

/// What was measured in one trial.
#[derive(Clone, Debug, PartialEq)]
pub enum Numbers {
    /// Numbers of a load.
    Load(Box<Metrics>),
    /// Numbers of a climb of a ladder of rates.
    Climb(Box<ClimbTrial>),
    /// Numbers of bodies of several sizes.
    Payload(Box<PayloadTrial>),
    /// Numbers of cold starts.
    ColdStart(Box<ColdTrial>),
    /// Numbers of density.
    Density(Box<DensityTrial>),
}

/// What a summary needs from one record.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// Position in the run's order, counted from 0.
    pub position: u32,
    /// When the measurement began, by the node's clock.
    pub began_at: Option<Timestamp>,
    /// When the record was stored.
    pub recorded_at: Timestamp,
    /// How the trial ended.
    pub ended: Outcome,
    /// What was measured; `None` if nothing was.
    pub numbers: Option<Numbers>,
    /// Requests per second that the load generator would reach if answers cost nothing.
    pub generator_ceiling: Option<f64>,
    /// How the subject's report about its engine contradicts its variant.
    pub engine_contradiction: Option<String>,
    /// The CPU limit that a `LimitRange` gave the subject.
    pub limit_range_cpu: Option<String>,
    /// Bytes of the body of the first answer that was seen.
    pub answer_bytes: Option<u64>,
    /// The responses that were seen.
    pub bodies: Bodies,
    /// Index of the facts about node and subject in the collector's list.
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
            Numbers::Climb(_)
            | Numbers::Payload(_)
            | Numbers::ColdStart(_)
            | Numbers::Density(_) => None,
        }
    }

    /// What was measured of a climb of a ladder of rates.
    pub fn climb(&self) -> Option<&ClimbTrial> {
        match self.numbers.as_ref()? {
            Numbers::Climb(found) => Some(found),
            Numbers::Load(_)
            | Numbers::Payload(_)
            | Numbers::ColdStart(_)
            | Numbers::Density(_) => None,
        }
    }

    /// What was measured of bodies of several sizes.
    pub fn payload(&self) -> Option<&PayloadTrial> {
        match self.numbers.as_ref()? {
            Numbers::Payload(found) => Some(found),
            Numbers::Load(_) | Numbers::Climb(_) | Numbers::ColdStart(_) | Numbers::Density(_) => {
                None
            }
        }
    }

    /// What was measured of cold starts.
    pub fn cold_start(&self) -> Option<&ColdTrial> {
        match self.numbers.as_ref()? {
            Numbers::ColdStart(found) => Some(found),
            Numbers::Load(_) | Numbers::Climb(_) | Numbers::Payload(_) | Numbers::Density(_) => {
                None
            }
        }
    }

    /// What was measured of density.
    pub fn density(&self) -> Option<&DensityTrial> {
        match self.numbers.as_ref()? {
            Numbers::Density(found) => Some(found),
            Numbers::Load(_) | Numbers::Climb(_) | Numbers::Payload(_) | Numbers::ColdStart(_) => {
                None
            }
        }
    }
}

/// Observes a record of any sweep. `facts` is the index of its facts.
pub fn observe(record: &Record, expected_status: u16, facts: usize) -> Observation {
    let read = match record.trial.cell.point {
        Point::ColdStart { .. } => of_cold_start(record),
        Point::Capacity => of_climb(record),
        Point::Payload => of_payload(record),
        Point::Density => of_density(record, expected_status),
        Point::Scout => Read::new(None, None),
        Point::WarmLatency | Point::Throughput { .. } | Point::OpenLoop { .. } => {
            of_load(record, expected_status)
        }
    };
    let is_measured = record.outcome == Outcome::Measured;
    let ended = read.unusable.filter(|_| is_measured);
    Observation {
        position: record.position,
        began_at: began_at(record),
        recorded_at: record.recorded_at,
        ended: ended.unwrap_or_else(|| record.outcome.clone()),
        numbers: read.numbers,
        generator_ceiling: record
            .load()
            .and_then(|document| ceiling::own_ceiling(document.generator_ceiling.as_ref()?)),
        engine_contradiction: None,
        limit_range_cpu: record
            .subject
            .as_ref()
            .and_then(|subject| Some(subject.limited_by()?.value.clone())),
        answer_bytes: record
            .evidence
            .as_ref()
            .and_then(|evidence| Some(evidence.answers().first()?.body_bytes)),
        bodies: record.evidence.as_ref().map(bodies).unwrap_or_default(),
        facts,
    }
}

/// What was read of a record.
struct Read {
    numbers: Option<Numbers>,
    /// How the trial really ended if its record claims that it was measured.
    unusable: Option<Outcome>,
}

impl Read {
    /// Numbers that can be used unless something is `missing`.
    fn new(numbers: Option<Numbers>, missing: Option<&str>) -> Self {
        let why = |missing| format!("the record's outcome is Measured, but it has no {missing}");
        Self {
            numbers,
            unusable: missing.map(|missing| failed(FailureReason::UnreadableResult, &why(missing))),
        }
    }
}

fn of_load(record: &Record, expected_status: u16) -> Read {
    const MISSING: Option<&str> = Some("timed window");
    let Some(document) = record.load() else {
        return Read::new(None, MISSING);
    };
    match trial::metrics(document, expected_status) {
        Ok(Some(found)) => Read::new(Some(Numbers::Load(Box::new(found))), None),
        Ok(None) => Read::new(None, MISSING),
        Err(error) => Read {
            numbers: None,
            unusable: Some(failed(FailureReason::UnreadableResult, &error.to_string())),
        },
    }
}

fn of_climb(record: &Record) -> Read {
    let found = record.load().map(climb_trial::from_document);
    let is_usable = found.as_ref().is_some_and(|found| !found.rungs.is_empty());
    let numbers = found.map(|found| Numbers::Climb(Box::new(found)));
    Read::new(numbers, (!is_usable).then_some("rung"))
}

fn of_payload(record: &Record) -> Read {
    let found = record.load().map(payload_trial::from_document);
    let is_usable = found.as_ref().is_some_and(|found| !found.sizes.is_empty());
    let numbers = found.map(|found| Numbers::Payload(Box::new(found)));
    Read::new(numbers, (!is_usable).then_some("size"))
}

fn of_cold_start(record: &Record) -> Read {
    let found = record.cold_start().map(coldstart::from_document);
    let is_usable = found.as_ref().is_some_and(ColdTrial::is_measured);
    let numbers = found.map(|found| Numbers::ColdStart(Box::new(found)));
    Read::new(numbers, (!is_usable).then_some("sample that counts"))
}

fn of_density(record: &Record, expected_status: u16) -> Read {
    let document = record.density();
    let found = document.map(|document| density::from_document(document, expected_status));
    let is_usable = found.as_ref().is_some_and(|found| !found.steps.is_empty());
    let numbers = found.map(|found| Numbers::Density(Box::new(found)));
    Read::new(numbers, (!is_usable).then_some("step"))
}

fn failed(reason: FailureReason, message: &str) -> Outcome {
    Outcome::Failed {
        reason,
        message: message.to_owned(),
    }
}

/// When the measurement of a record began, by the node's clock: its first window, sample or step.
fn began_at(record: &Record) -> Option<Timestamp> {
    let starts = record.evidence.as_ref()?.starts().into_iter();
    let earliest = starts.filter(|nanoseconds| *nanoseconds > 0).min()?;
    Timestamp::from_nanosecond(i128::from(earliest)).ok()
}
