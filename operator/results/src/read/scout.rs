//! What scouts saw before the first block. It enters no number: it shows under what a variant cannot
//! be compared, how its answers arrive, and how quiet the node was.

use serde::{Deserialize, Serialize};
use wasmbench_model::noise::{self, Noise};
use wasmbench_model::quote::shorten;
use wasmbench_model::wire::record::Record;
use wasmbench_model::wire::scout::{ANSWERS, AfterAnswer, BodyFraming, ScoutDocument, Scouted};

/// The most workloads of a run.
const MAX_WORKLOADS: usize = 16;
/// Longest message, in characters; records keep all of it.
const MAX_MESSAGE_CHARS: usize = 512;

/// What the scout of one variant saw.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct ScoutSummary {
    /// Name of the variant.
    pub variant: String,
    /// How it answered, by workload, in the order of the spec.
    pub workloads: Vec<LookedAt>,
    /// The share (0 to 1) of all CPUs of the node that others used while nothing of the run worked.
    pub others_cpu_share: Option<f64>,
    /// What was too much of it, in words; absent on a quiet node.
    pub noise: Option<String>,
}

/// How a variant answered one workload.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct LookedAt {
    /// Name of the workload.
    pub workload: String,
    /// The answers, in order.
    pub answers: Vec<Arrived>,
    /// What was wrong with them, or why there are none.
    pub message: Option<String>,
}

/// One answer, and how it arrived.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Arrived {
    /// HTTP status code.
    pub status: u16,
    /// Bytes of the body.
    pub body_bytes: u64,
    /// How its end was marked.
    pub framing: BodyFraming,
    /// What became of the connection.
    pub connection: AfterAnswer,
}

impl Arrived {
    /// Whether it arrived as most do: the connection stays, and a length or the status marked the
    /// end.
    pub fn is_usual(self) -> bool {
        let ends_by_itself = match self.framing {
            BodyFraming::Length | BodyFraming::Chunked | BodyFraming::NoBody => true,
            BodyFraming::UntilClose => false,
        };
        ends_by_itself && self.connection == AfterAnswer::Kept
    }
}

impl LookedAt {
    /// Whether there is nothing to report.
    pub fn is_usual(&self) -> bool {
        self.message.is_none() && self.answers.iter().all(|answer| answer.is_usual())
    }
}

/// What the scout in `record` saw; `None` for other records, and for a scout that failed.
pub fn from_record(record: &Record) -> Option<ScoutSummary> {
    let document = record.scout().filter(|scout| scout.failure.is_none())?;
    let noise = noise(document);
    let words = noise.map(Noise::message).filter(|words| !words.is_empty());
    Some(ScoutSummary {
        variant: record.trial.cell.variant.clone(),
        workloads: document
            .workloads
            .iter()
            .take(MAX_WORKLOADS)
            .map(looked_at)
            .collect(),
        others_cpu_share: noise.and_then(|noise| noise.others),
        noise: words,
    })
}

fn noise(document: &ScoutDocument) -> Option<Noise> {
    let cpus = noise::cpus(document.environment.facts.get("cpus")?)?;
    Some(Noise::from_idle(document.idle.as_ref()?, cpus))
}

fn looked_at(scouted: &Scouted) -> LookedAt {
    let arrived = scouted
        .answers
        .iter()
        .take(ANSWERS)
        .map(|observed| Arrived {
            status: observed.answer.status,
            body_bytes: observed.answer.body_bytes,
            framing: observed.framing,
            connection: observed.connection,
        });
    let failure = scouted.failure.as_ref();
    let message = failure
        .map(|failure| failure.message.as_str())
        .or(scouted.not_asked.as_deref());
    LookedAt {
        workload: scouted.workload.clone(),
        answers: arrived.collect(),
        message: message.map(|text| shorten(text, MAX_MESSAGE_CHARS)),
    }
}
