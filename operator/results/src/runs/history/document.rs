//! The history of a schedule as it is stored.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::runs::history::bounded;
use crate::runs::history::lasting_change::LastingChange;
use crate::runs::history::line::{Line, Series, Setting};

/// Name and version of the history's schema.
pub const HISTORY_SCHEMA: &str = "wasmbench.dev/history/v2";

/// The most settings of a history: one that changes every night reaches back eleven years.
pub const MOST_SETTINGS: usize = 4000;

/// The history of a schedule.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct History {
    /// [`HISTORY_SCHEMA`].
    pub schema: String,
    /// What was measured, in order of appearance; runs refer to a series by its place here.
    pub series: Vec<Series>,
    /// Where and with what it was measured, in order of appearance; runs refer to a setting by its
    /// place here.
    #[serde(deserialize_with = "bounded::list::<MOST_SETTINGS, _, _>")]
    pub settings: Vec<Setting>,
    /// The runs in the order in which they ended.
    pub runs: Vec<Line>,
    /// Lasting changes, in the order in which they were found.
    pub changes: Vec<LastingChange>,
    /// When the latest run ended that was folded or dropped; runs up to then may have lost their
    /// names.
    pub folded_until: Option<Timestamp>,
    /// Runs for which not even a folded line is left.
    #[serde(default)]
    pub forgotten: u32,
}

impl Default for History {
    fn default() -> Self {
        Self {
            schema: HISTORY_SCHEMA.to_owned(),
            series: vec![],
            settings: vec![],
            runs: vec![],
            changes: vec![],
            folded_until: None,
            forgotten: 0,
        }
    }
}

impl History {
    /// Whether the run of this name, which ended at `ended`, is in the history.
    pub fn has(&self, name: &str, ended: Timestamp) -> bool {
        let is_folded = self.folded_until.is_some_and(|until| ended <= until);
        is_folded || self.runs.iter().any(|line| line.name == name)
    }

    /// The number of runs that the lines represent.
    pub fn run_count(&self) -> u32 {
        self.runs.iter().map(|line| line.runs).sum()
    }
}
