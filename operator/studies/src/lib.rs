//! The published figures of studies compared with those of the same experiments here.
//!
//! Reading order: [`mod@published`] (what documents print, from `manifests/studies/published.yaml`; a value is [`printed`],
//! and [`reasons`] explain differences), [`mod@manifest`] (the runs that repeat them), [`mod@measured`] (what these found,
//! from their `summary.json`), [`values`] (ratios and means of that), [`mod@compared`] (published and measured as ratios to
//! the same base, row by row), [`coverage`] (what was measured of what could be), then what people see: [`terminal`],
//! [`plot`], [`by_workload`], [`experiments`] and [`page`], which are `docs/studies.md` and `docs/studies`, and [`decide`], which is
//! `docs/when-wasm.md`. No ratio is typed in anywhere.

pub mod by_workload;
pub mod compared;
pub mod coverage;
pub mod decide;
pub mod experiments;
pub mod figure;
pub mod manifest;
pub mod measured;
pub mod page;
pub mod plot;
pub mod printed;
pub mod published;
pub mod reasons;
pub mod terminal;
pub mod values;

use std::path::{Path, PathBuf};

use crate::manifest::Manifest;
use crate::measured::Measured;

/// What there is of a study here.
#[derive(Clone, Copy, Debug)]
pub struct Ours<'a> {
    /// What was measured; `None` before the first run.
    pub measured: Option<&'a Measured>,
    /// What its manifest measures.
    pub manifest: &'a Manifest,
}

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// Which one.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file is not what it should be.
    #[error("{}: {message}", path.display())]
    Content {
        /// Which one.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// Standard output is closed.
    #[error("standard output: {0}")]
    Output(#[source] std::io::Error),
    /// A study that is not among the published ones.
    #[error("there is no study {name}: choose of {known}")]
    UnknownStudy {
        /// The requested name.
        name: String,
        /// All names.
        known: String,
    },
}

/// The text of a file.
pub fn read(path: &Path) -> Result<String, Error> {
    std::fs::read_to_string(path).map_err(|source| Error::File {
        path: path.to_owned(),
        source,
    })
}

/// The published figures in a file.
pub fn published(path: &Path) -> Result<published::Published, Error> {
    published::parse(&read(path)?).map_err(|message| Error::Content {
        path: path.to_owned(),
        message,
    })
}

/// The manifest of a study, from its file in `directory`.
pub fn manifest(directory: &Path, study: &str) -> Result<Manifest, Error> {
    let path = directory.join(format!("{study}.yaml"));
    let found = manifest::parse(&read(&path)?);
    found.map_err(|message| Error::Content { path, message })
}

/// What was measured of a study, from its file in `directory`; `None` when there is no file.
pub fn measured(directory: &Path, study: &str) -> Result<Option<Measured>, Error> {
    let path = directory.join(format!("{study}.json"));
    if !path.exists() {
        return Ok(None);
    }
    let found = measured::parse(&read(&path)?);
    found
        .map(Some)
        .map_err(|message| Error::Content { path, message })
}
