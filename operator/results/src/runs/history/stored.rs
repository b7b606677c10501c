//! A history as the bytes of a `ConfigMap` entry.

use wasmbench_model::store::{self, Bounds};

use crate::runs::history::document::{HISTORY_SCHEMA, History, MOST_SETTINGS};

/// Key of the entry.
pub const HISTORY_KEY: &str = "history.json.gz";

/// The most bytes of the entry: base64 adds a third, and a `ConfigMap` holds at most 1 MiB.
pub const MOST_BYTES: usize = 700 * 1024;

/// What a history may unpack to: twice what a full entry does. With the most settings and images, it takes less than
/// 40 MiB of memory however it was made.
pub const BOUNDS: Bounds = Bounds {
    bytes: 4 * 1024 * 1024,
    values: 400_000,
};

/// A history could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The bytes are not a history, or the history cannot be packed.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// Another version of wasmbench wrote it.
    #[error("it has the schema {0}, and this version reads {HISTORY_SCHEMA}")]
    OtherSchema(String),
    /// A line refers to an entry that no table has.
    #[error("it names series or settings that it does not have")]
    Torn,
}

impl History {
    /// The bytes to store, at most `most` of them unless the history cannot be shortened further.
    /// If they do not fit, or could not be unpacked again, runs are folded, the oldest first.
    pub fn pack(&mut self, most: usize) -> Result<Vec<u8>, Error> {
        loop {
            let json = store::json(self)?;
            let bytes = store::compressed(&json)?;
            let is_readable = BOUNDS.hold(&json) && self.settings.len() <= MOST_SETTINGS;
            if (bytes.len() <= most && is_readable) || !self.shorten() {
                return Ok(bytes);
            }
        }
    }

    /// Reads a history from its bytes.
    pub fn unpack(bytes: &[u8]) -> Result<Self, Error> {
        let history: Self = store::unpack(bytes, BOUNDS)?;
        if history.schema != HISTORY_SCHEMA {
            return Err(Error::OtherSchema(history.schema));
        }
        let (series, settings) = (history.series.len(), history.settings.len());
        let whole = history.runs.iter().all(|line| {
            line.setting < settings && line.numbers.iter().all(|number| number.series < series)
        });
        if whole && history.changes.iter().all(|found| found.series < series) {
            Ok(history)
        } else {
            Err(Error::Torn)
        }
    }
}
