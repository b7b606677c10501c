//! What is kept of a trial. Records are the only truth about a run: everything else in a report can
//! be recomputed from them.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::wire::addition::{AddedBy, Addition, CPU_LIMIT};
use crate::wire::cold_start::ColdStartDocument;
use crate::wire::density::DensityDocument;
use crate::wire::document::LoadDocument;
use crate::wire::evidence::Evidence;
use crate::wire::failure::FailureReason;
use crate::wire::open_loop::Rate;
use crate::wire::scout::ScoutDocument;

/// Name and version of the record's schema; a document in it with a new schema makes this one new.
pub const RECORD_SCHEMA: &str = "wasmbench.dev/record/v2";

/// A point of a sweep.
#[derive(
    Serialize,
    Deserialize,
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    strum::EnumDiscriminants,
)]
#[serde(rename_all = "camelCase", tag = "sweep")]
#[strum_discriminants(
    name(AnySweep),
    doc = "A sweep, whichever: one for each kind of point.",
    derive(strum::EnumCount, strum::EnumIter, strum::IntoStaticStr),
    strum(serialize_all = "camelCase")
)]
pub enum Point {
    /// The cold-start sweep has one point per number of pods created at once.
    #[serde(rename_all = "camelCase")]
    ColdStart {
        /// Pods that are created at once.
        concurrency: u32,
    },
    /// The warm-latency sweep has one point.
    #[serde(rename_all = "camelCase")]
    WarmLatency,
    /// The throughput sweep has one point per number of connections.
    #[serde(rename_all = "camelCase")]
    Throughput {
        /// Connections that carry the load.
        connections: u32,
    },
    /// The open-loop sweep has one point per rate.
    #[serde(rename_all = "camelCase")]
    OpenLoop {
        /// The rate.
        #[serde(flatten)]
        rate: Rate,
    },
    /// The open-loop sweep with a target has one point, whose trials climb a ladder of rates.
    #[serde(rename_all = "camelCase")]
    Capacity,
    /// The payload sweep has one point, whose trials measure all sizes.
    #[serde(rename_all = "camelCase")]
    Payload,
    /// The density sweep has one point, whose trials climb the whole ladder.
    #[serde(rename_all = "camelCase")]
    Density,
    /// Not a sweep: a look at a variant under all workloads, before the first block.
    #[serde(rename_all = "camelCase")]
    Scout,
}

impl Point {
    /// Its sweep.
    pub fn sweep(self) -> AnySweep {
        self.into()
    }

    /// The point within its sweep: connections, pods at once, or the rate.
    pub const fn number(self) -> Option<u32> {
        match self {
            Self::ColdStart { concurrency } => Some(concurrency),
            Self::Throughput { connections } => Some(connections),
            Self::OpenLoop { rate } => Some(rate.number()),
            Self::WarmLatency | Self::Capacity | Self::Payload | Self::Density | Self::Scout => {
                None
            }
        }
    }

    /// The rate of an open loop.
    pub const fn rate(self) -> Option<Rate> {
        match self {
            Self::OpenLoop { rate } => Some(rate),
            Self::ColdStart { .. }
            | Self::WarmLatency
            | Self::Throughput { .. }
            | Self::Capacity
            | Self::Payload
            | Self::Density
            | Self::Scout => None,
        }
    }

    /// Whether the probe creates the pods under test itself.
    pub fn probe_creates_pods(self) -> bool {
        match self {
            Self::ColdStart { .. } | Self::Density => true,
            Self::WarmLatency
            | Self::Throughput { .. }
            | Self::OpenLoop { .. }
            | Self::Capacity
            | Self::Payload
            | Self::Scout => false,
        }
    }
}

impl fmt::Display for Point {
    /// `cold-c1`, `warm`, `throughput-c100`, `open-r200` (requests per second), `open-p70` (percent
    /// of the peak), `capacity`, `payload`, `density` or `scout`: fits a label value and a part of an object's name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ColdStart { concurrency } => write!(f, "cold-c{concurrency}"),
            Self::WarmLatency => f.write_str("warm"),
            Self::Throughput { connections } => write!(f, "throughput-c{connections}"),
            Self::OpenLoop { rate } => match rate {
                Rate::Rps(rps) => write!(f, "open-r{rps}"),
                Rate::PercentOfPeak(percent) => write!(f, "open-p{percent}"),
            },
            Self::Capacity => f.write_str("capacity"),
            Self::Payload => f.write_str("payload"),
            Self::Density => f.write_str("density"),
            Self::Scout => f.write_str("scout"),
        }
    }
}

/// What is measured in one trial: a variant under a workload at a sweep point.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[serde(rename_all = "camelCase")]
pub struct Cell {
    /// Name of the variant.
    pub variant: String,
    /// Name of the workload.
    pub workload: String,
    /// The sweep point.
    #[serde(flatten)]
    pub point: Point,
}

/// One cell in one block.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[serde(rename_all = "camelCase")]
pub struct TrialId {
    /// What is measured.
    #[serde(flatten)]
    pub cell: Cell,
    /// Counted from 1; 0 stands for what comes before the first block.
    pub block: u32,
}

impl TrialId {
    /// Whether it only looks at a variant, before anything is measured.
    pub fn is_scout(&self) -> bool {
        self.cell.point == Point::Scout
    }
}

impl fmt::Display for TrialId {
    /// `variant/workload/point/block`; [`FromStr`] reads it back.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Cell {
            variant,
            workload,
            point,
        } = &self.cell;
        write!(f, "{variant}/{workload}/{point}/b{}", self.block)
    }
}

/// The text is not a trial's identity.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("'{0}' is not a trial: variant/workload/point/bN is expected")]
pub struct NotATrial(String);

impl FromStr for TrialId {
    type Err = NotATrial;

    fn from_str(text: &str) -> Result<Self, NotATrial> {
        let wrong = || NotATrial(text.to_owned());
        let mut parts = text.split('/');
        let mut next = || {
            parts
                .next()
                .filter(|part| !part.is_empty())
                .ok_or_else(wrong)
        };
        let (variant, workload, point, block) = (next()?, next()?, next()?, next()?);
        if parts.next().is_some() {
            return Err(wrong());
        }
        let point = parse_point(point).ok_or_else(wrong)?;
        let block = block
            .strip_prefix('b')
            .and_then(|b| b.parse().ok())
            .ok_or_else(wrong)?;
        let cell = Cell {
            variant: variant.to_owned(),
            workload: workload.to_owned(),
            point,
        };
        Ok(Self { cell, block })
    }
}

fn parse_point(text: &str) -> Option<Point> {
    if text == "warm" {
        return Some(Point::WarmLatency);
    }
    if text == "capacity" {
        return Some(Point::Capacity);
    }
    if text == "payload" {
        return Some(Point::Payload);
    }
    if text == "density" {
        return Some(Point::Density);
    }
    if text == "scout" {
        return Some(Point::Scout);
    }
    if let Some(concurrency) = text.strip_prefix("cold-c") {
        let concurrency = concurrency.parse().ok()?;
        return Some(Point::ColdStart { concurrency });
    }
    if let Some(rps) = text.strip_prefix("open-r") {
        let rate = Rate::Rps(rps.parse().ok()?);
        return Some(Point::OpenLoop { rate });
    }
    if let Some(percent) = text.strip_prefix("open-p") {
        let rate = Rate::PercentOfPeak(percent.parse().ok()?);
        return Some(Point::OpenLoop { rate });
    }
    let connections = text.strip_prefix("throughput-c")?.parse().ok()?;
    Some(Point::Throughput { connections })
}

/// How a trial ended.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase", tag = "outcome")]
pub enum Outcome {
    /// The document holds a measurement.
    #[serde(rename_all = "camelCase")]
    Measured,
    /// It was tried and there is no usable measurement.
    #[serde(rename_all = "camelCase")]
    Failed {
        /// One `CamelCase` word.
        reason: FailureReason,
        /// What happened, and what to do about it.
        message: String,
    },
    /// It was not tried, because it could not work, or because earlier trials had failed.
    #[serde(rename_all = "camelCase")]
    Skipped {
        /// One `CamelCase` word: that of the earlier failure, or why it could not work.
        reason: FailureReason,
        /// What happened, and what to do about it.
        message: String,
    },
}

/// One trial as it is stored.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase", try_from = "StoredRecord")]
pub struct Record {
    /// [`RECORD_SCHEMA`].
    pub schema: String,
    /// Uid of the run.
    pub run_uid: String,
    /// Which trial.
    pub trial: TrialId,
    /// Position in the run's shuffled order, counted from 0.
    pub position: u32,
    /// How it ended.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// Version of the operator that stored it.
    pub operator_version: String,
    /// When it was stored.
    pub recorded_at: Timestamp,
    /// The pod under test, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<SubjectFacts>,
    /// What the probe printed, if it did.
    #[serde(flatten)]
    pub evidence: Option<Evidence>,
}

impl Record {
    /// What the probe of a load printed.
    pub fn load(&self) -> Option<&LoadDocument> {
        match self.evidence.as_ref()? {
            Evidence::Load(document) => Some(document),
            Evidence::ColdStart(_) | Evidence::Density(_) | Evidence::Scout(_) => None,
        }
    }

    /// What the probe of a load printed, mutable.
    pub fn load_mut(&mut self) -> Option<&mut LoadDocument> {
        match self.evidence.as_mut()? {
            Evidence::Load(document) => Some(document),
            Evidence::ColdStart(_) | Evidence::Density(_) | Evidence::Scout(_) => None,
        }
    }

    /// What the probe of cold starts printed.
    pub fn cold_start(&self) -> Option<&ColdStartDocument> {
        match self.evidence.as_ref()? {
            Evidence::ColdStart(document) => Some(document),
            Evidence::Load(_) | Evidence::Density(_) | Evidence::Scout(_) => None,
        }
    }

    /// What the probe of cold starts printed, mutable.
    pub fn cold_start_mut(&mut self) -> Option<&mut ColdStartDocument> {
        match self.evidence.as_mut()? {
            Evidence::ColdStart(document) => Some(document),
            Evidence::Load(_) | Evidence::Density(_) | Evidence::Scout(_) => None,
        }
    }

    /// What the probe of density printed.
    pub fn density(&self) -> Option<&DensityDocument> {
        match self.evidence.as_ref()? {
            Evidence::Density(document) => Some(document),
            Evidence::Load(_) | Evidence::ColdStart(_) | Evidence::Scout(_) => None,
        }
    }

    /// What the probe of density printed, mutable.
    pub fn density_mut(&mut self) -> Option<&mut DensityDocument> {
        match self.evidence.as_mut()? {
            Evidence::Density(document) => Some(document),
            Evidence::Load(_) | Evidence::ColdStart(_) | Evidence::Scout(_) => None,
        }
    }

    /// What the scout saw.
    pub fn scout(&self) -> Option<&ScoutDocument> {
        match self.evidence.as_ref()? {
            Evidence::Scout(document) => Some(document),
            Evidence::Load(_) | Evidence::ColdStart(_) | Evidence::Density(_) => None,
        }
    }
}

/// A record as it is read. The outcome is assembled by hand: to find its parts among the other
/// fields, serde would keep a copy of all of them, which takes ten times the size of their text or
/// more.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoredRecord {
    schema: String,
    run_uid: String,
    trial: TrialId,
    position: u32,
    outcome: StoredOutcome,
    reason: Option<FailureReason>,
    message: Option<String>,
    operator_version: String,
    recorded_at: Timestamp,
    subject: Option<SubjectFacts>,
    document: Option<LoadDocument>,
    cold_start: Option<ColdStartDocument>,
    density: Option<DensityDocument>,
    scout: Option<ScoutDocument>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum StoredOutcome {
    Measured,
    Failed,
    Skipped,
}

impl TryFrom<StoredRecord> for Record {
    type Error = &'static str;

    fn try_from(stored: StoredRecord) -> Result<Self, &'static str> {
        let why = || {
            let both = stored.reason.clone().zip(stored.message.clone());
            both.ok_or("a trial without a measurement needs a reason and a message")
        };
        let outcome = match stored.outcome {
            StoredOutcome::Measured => Outcome::Measured,
            StoredOutcome::Failed => {
                let (reason, message) = why()?;
                Outcome::Failed { reason, message }
            }
            StoredOutcome::Skipped => {
                let (reason, message) = why()?;
                Outcome::Skipped { reason, message }
            }
        };
        // A trial belongs to one sweep: a document from another sweep's probe is ignored.
        let evidence = match stored.trial.cell.point {
            Point::ColdStart { .. } => stored.cold_start.map(Evidence::from),
            Point::Density => stored.density.map(Evidence::from),
            Point::Scout => stored.scout.map(Evidence::from),
            Point::WarmLatency
            | Point::Throughput { .. }
            | Point::OpenLoop { .. }
            | Point::Capacity
            | Point::Payload => stored.document.map(Evidence::from),
        };
        Ok(Self {
            schema: stored.schema,
            run_uid: stored.run_uid,
            trial: stored.trial,
            position: stored.position,
            outcome,
            operator_version: stored.operator_version,
            recorded_at: stored.recorded_at,
            subject: stored.subject,
            evidence,
        })
    }
}

/// What is known about a subject from the API.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct SubjectFacts {
    /// Name of the pod.
    pub pod: String,
    /// Uid of the pod.
    pub pod_uid: String,
    /// Node that it ran on.
    pub node: String,
    /// Image as it was requested.
    pub image: String,
    /// Image as it was resolved, with its digest.
    pub image_id: Option<String>,
    /// Bytes of the image as the node's status has it, which lists its 50 largest by default.
    pub image_bytes: Option<u64>,
    /// `RuntimeClass`, if one was requested.
    pub runtime_class: Option<String>,
    /// Version of the template from which somebody else's controller made the pod, as it names it.
    pub template: Option<String>,
    /// What the cluster added to the pod by its own rules.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<Addition>,
    /// Node facts from the API: `kubelet`, `containerRuntime`, `osImage`, `kernel`, ...
    #[serde(default)]
    pub node_facts: std::collections::BTreeMap<String, String>,
}

impl SubjectFacts {
    /// The CPU limit that a `LimitRange` set because none was desired.
    pub fn limited_by(&self) -> Option<&Addition> {
        let mut added = self.added.iter();
        added.find(|one| one.by == AddedBy::LimitRange && one.what == CPU_LIMIT)
    }
}
