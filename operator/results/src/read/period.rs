//! When a run was measured: determined only from its records, so that the same report can be
//! computed again.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use wasmbench_model::units;

use crate::read::observation::Observation;

/// From the first measurement to the last record.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Period {
    /// When the first timed window, sample or step began, by the node's clock.
    pub started_at: Timestamp,
    /// When the last record was stored, by the operator's clock.
    pub ended_at: Timestamp,
    /// Seconds from start to end, including waiting and suspension.
    pub seconds: u64,
}

impl Period {
    /// The period of all observations; `None` without a record.
    pub fn from_observations<'a>(
        observations: impl Iterator<Item = &'a Observation> + Clone,
    ) -> Option<Self> {
        let began = observations
            .clone()
            .map(|observed| observed.began_at.unwrap_or(observed.recorded_at));
        let started_at = began.min()?;
        let last = observations.map(|observed| observed.recorded_at).max()?;
        // The times come from two clocks: the end must not come before the start.
        let ended_at = last.max(started_at);
        let seconds = ended_at.duration_since(started_at).as_secs();
        Some(Self {
            started_at,
            ended_at,
            seconds: seconds.unsigned_abs(),
        })
    }

    /// `2026-01-05 10:00:05 to 2026-01-05 10:42:10 UTC (42 min)`.
    pub fn text(&self) -> String {
        let shown = |time: Timestamp| time.strftime("%Y-%m-%d %H:%M:%S").to_string();
        format!(
            "{} to {} UTC ({})",
            shown(self.started_at),
            shown(self.ended_at),
            units::duration(self.seconds)
        )
    }
}
