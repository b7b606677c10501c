//! What a probe printed about a trial, whatever its sweep.

use serde::Serialize;

use crate::wire::cold_start::ColdStartDocument;
use crate::wire::density::DensityDocument;
use crate::wire::document::{Answer, Environment, LoadDocument};
use crate::wire::scout::ScoutDocument;

/// The document of a trial. In a record each kind has a field of its own.
#[derive(Serialize, Clone, Debug, PartialEq, strum::EnumDiscriminants)]
#[serde(rename_all = "camelCase")]
#[strum_discriminants(
    name(Kind),
    doc = "A kind of trial: all of one kind have the same document, and cells with the same detail.",
    derive(strum::EnumIter)
)]
pub enum Evidence {
    /// The document of a load.
    #[serde(rename = "document")]
    Load(Box<LoadDocument>),
    /// The document of cold starts.
    ColdStart(Box<ColdStartDocument>),
    /// The document of density.
    Density(Box<DensityDocument>),
    /// The document of a scout.
    Scout(Box<ScoutDocument>),
}

impl Evidence {
    /// The environment that the probe saw.
    pub fn environment(&self) -> &Environment {
        match self {
            Self::Load(document) => &document.environment,
            Self::ColdStart(document) => &document.environment,
            Self::Density(document) => &document.environment,
            Self::Scout(document) => &document.environment,
        }
    }

    /// Version of the probe.
    pub fn probe_version(&self) -> &str {
        match self {
            Self::Load(document) => &document.probe_version,
            Self::ColdStart(document) => &document.probe_version,
            Self::Density(document) => &document.probe_version,
            Self::Scout(document) => &document.probe_version,
        }
    }

    /// The answers that the probe saw.
    pub fn answers(&self) -> Vec<&Answer> {
        match self {
            Self::Load(document) => {
                let answers = [&document.answer_before, &document.answer_after];
                answers.into_iter().flatten().collect()
            }
            Self::ColdStart(document) => document.answer.iter().collect(),
            Self::Density(document) => document.answer.iter().collect(),
            // They belong to several workloads, and were not measured.
            Self::Scout(_) => vec![],
        }
    }

    /// When its windows, samples or steps began, in nanoseconds since 1970.
    pub fn starts(&self) -> Vec<i64> {
        match self {
            Self::Load(document) => {
                let rungs = document
                    .rungs
                    .iter()
                    .filter_map(|rung| rung.window.as_ref());
                let sizes = document.sizes.iter().map(|size| &size.window);
                let windows = document.timed.iter().chain(rungs).chain(sizes);
                windows
                    .map(|window| window.start_unix_nanoseconds)
                    .collect()
            }
            Self::ColdStart(document) => {
                let samples = document.floor.iter().chain(&document.samples);
                samples
                    .map(|sample| sample.start_unix_nanoseconds)
                    .collect()
            }
            Self::Density(document) => {
                let steps = document.steps.iter();
                steps
                    .map(|step| step.first.start_unix_nanoseconds)
                    .collect()
            }
            Self::Scout(_) => vec![],
        }
    }

    /// Version of the load generator, where there is a load.
    pub fn fortio_version(&self) -> Option<&str> {
        match self {
            Self::Load(document) => Some(&document.fortio_version),
            Self::ColdStart(_) | Self::Scout(_) => None,
            Self::Density(document) => Some(&document.fortio_version),
        }
    }
}

impl From<LoadDocument> for Evidence {
    fn from(document: LoadDocument) -> Self {
        Self::Load(Box::new(document))
    }
}

impl From<ColdStartDocument> for Evidence {
    fn from(document: ColdStartDocument) -> Self {
        Self::ColdStart(Box::new(document))
    }
}

impl From<DensityDocument> for Evidence {
    fn from(document: DensityDocument) -> Self {
        Self::Density(Box::new(document))
    }
}

impl From<ScoutDocument> for Evidence {
    fn from(document: ScoutDocument) -> Self {
        Self::Scout(Box::new(document))
    }
}
