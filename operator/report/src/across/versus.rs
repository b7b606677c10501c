//! A run and the run that it names in `spec.baselineRunName`: whether they may be compared, and
//! what the status and the report show of it.

use wasmbench_api::status::VersusRun;
use wasmbench_api::{BenchmarkRun, BenchmarkRunSpec};
use wasmbench_model::twin::without_twin;
use wasmbench_model::units::truncate;
use wasmbench_results::runs::across::{Across, CellRatio, Side, across};
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::collect::RunInput;

use crate::across::InWords as _;

/// Name of the file in the report.
pub const VERSUS_RUN_TXT: &str = "versus-run.txt";
/// The largest size of that file in bytes: what a `ConfigMap` can hold in addition to
/// [`crate::files::MAX_REPORT_BYTES`].
const MAX_BYTES: usize = 60_000;
/// Room for the note on omitted rows.
const NOTE_BYTES: usize = 200;
/// Longest message in the status, in characters.
const MAX_MESSAGE_CHARS: usize = 500;

/// The outcome of the comparison with an earlier run.
#[derive(Clone, Debug, PartialEq)]
pub struct Versus {
    name: String,
    found: Result<Across, String>,
}

/// What to read from the earlier run, or why it cannot be compared with.
pub fn earlier(name: &str, found: Option<&BenchmarkRun>) -> Result<RunInput, String> {
    let Some(run) = found else {
        return Err(format!(
            "there is no BenchmarkRun '{name}' in this namespace; it may have been deleted"
        ));
    };
    if !run.is_finished() {
        return Err(format!("BenchmarkRun '{name}' was not finished"));
    }
    match run.status.as_ref().and_then(|status| status.seed) {
        Some(seed) => Ok(RunInput::new(run, seed)),
        None => Err(format!(
            "BenchmarkRun '{name}' was refused and measured nothing"
        )),
    }
}

impl Versus {
    /// Compares `after` with the run `name`, whose spec and summary are `before`, or which has none
    /// for the given reason.
    pub fn new(
        name: &str,
        before: Result<(&BenchmarkRunSpec, &Summary), String>,
        after: (&BenchmarkRunSpec, &Summary),
    ) -> Self {
        let found = before.map(|(spec, summary)| {
            let (one, other) = (without_twin(spec), without_twin(after.0));
            across(
                &[Side {
                    spec: &one,
                    summary,
                }],
                Side {
                    spec: &other,
                    summary: after.1,
                },
                None,
                after.0.run_scatter(),
                false,
            )
        });
        Self {
            name: name.to_owned(),
            found,
        }
    }

    /// Every number that was compared; empty if the runs were not compared.
    pub fn ratios(&self) -> &[CellRatio] {
        self.found.as_ref().map_or(&[], |found| &found.ratios)
    }

    /// The comparison as the status has it.
    pub fn status(&self) -> VersusRun {
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let (compared, worse, better, message) = match &self.found {
            Ok(found) => (
                !found.ratios.is_empty(),
                count(found.worse()),
                count(found.better()),
                found.line(),
            ),
            Err(reason) => (false, 0, 0, reason.clone()),
        };
        VersusRun {
            name: self.name.clone(),
            compared,
            worse,
            better,
            message: truncate(&message, MAX_MESSAGE_CHARS),
        }
    }

    /// The file [`VERSUS_RUN_TXT`] of the report. Rows that do not fit are omitted, with a
    /// note.
    pub fn text(&self) -> String {
        let text = match &self.found {
            Ok(found) => found.text(),
            Err(reason) => format!("Not compared with {}: {reason}.\n", self.name),
        };
        if text.len() <= MAX_BYTES {
            return text;
        }
        let mut kept = String::new();
        for line in text.split_inclusive('\n') {
            if kept.len() + line.len() + NOTE_BYTES > MAX_BYTES {
                break;
            }
            kept.push_str(line);
        }
        kept + "The rest has no room here: kubectl wasmbench compare prints all of it.\n"
    }
}
