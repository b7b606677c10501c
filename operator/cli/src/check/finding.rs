//! The result of a check, and all results as a table. Pure.

use wasmbench_report::table::{Align, Table};

/// The state of what was checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum State {
    /// It works.
    Ok,
    /// It does not work.
    Missing,
    /// It could not be determined.
    Unknown,
    /// Runs skip it and go on.
    Skipped,
}

/// What a check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What was checked.
    pub what: String,
    /// Its state.
    pub state: State,
    /// What was found.
    pub found: String,
    /// What to do; empty if there is nothing to do.
    pub remedy: String,
    /// Whether runs need it.
    pub is_needed: bool,
}

impl Finding {
    /// Something that works.
    pub fn ok(what: &str, found: impl Into<String>) -> Self {
        Self::new(what, State::Ok, found.into(), "")
    }

    /// Something that runs need, and that is missing or unknown.
    pub fn needed(what: &str, state: State, found: String, remedy: &str) -> Self {
        Self {
            is_needed: true,
            ..Self::new(what, state, found, remedy)
        }
    }

    /// Something that runs can do without.
    pub fn new(what: &str, state: State, found: String, remedy: &str) -> Self {
        Self {
            what: what.to_owned(),
            state,
            found,
            remedy: remedy.to_owned(),
            is_needed: false,
        }
    }

    /// Whether it keeps runs from starting. An unknown state counts as a failure.
    pub fn fails(&self) -> bool {
        self.is_needed && self.state != State::Ok
    }
}

/// A table, and the conclusion for runs in `namespace`.
pub fn text(found: &[Finding], namespace: &str) -> String {
    let columns = ["CHECK", "STATE", "FOUND", "WHAT TO DO"].map(|title| (title, Align::Left));
    let mut table = Table::new(&columns);
    for finding in found {
        let state: &str = finding.state.into();
        table.row(&[
            finding.what.clone(),
            state.to_owned(),
            finding.found.clone(),
            finding.remedy.clone(),
        ]);
    }
    table.drop_columns_of("");
    let failing = found.iter().filter(|finding| finding.fails()).count();
    let comes_to = match failing {
        0 => format!("Runs can start in namespace {namespace}."),
        1 => "1 check fails: see WHAT TO DO.".to_owned(),
        many => format!("{many} checks fail: see WHAT TO DO."),
    };
    format!("{}\n{comes_to}\n", table.plain())
}
