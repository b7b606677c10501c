//! What a check comes to, and all of them as a table. Pure.

use wasmbench_report::table::{Align, Table};

/// How something stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum State {
    /// It works.
    Ok,
    /// It does not work.
    Missing,
    /// Nobody told.
    Unknown,
    /// Runs leave it out and go on.
    Skipped,
}

/// What a check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What was looked at.
    pub what: String,
    /// How it stands.
    pub state: State,
    /// What was found.
    pub found: String,
    /// What to do; empty where nothing is.
    pub remedy: String,
    /// Whether runs need it.
    pub is_needed: bool,
}

impl Finding {
    /// Something that works.
    pub fn ok(what: &str, found: impl Into<String>) -> Self {
        Self::new(what, State::Ok, found.into(), "")
    }

    /// Something that runs need and that does not stand.
    pub fn needed(what: &str, state: State, found: String, remedy: &str) -> Self {
        Self {
            is_needed: true,
            ..Self::new(what, state, found, remedy)
        }
    }

    /// Something that runs do without.
    pub fn new(what: &str, state: State, found: String, remedy: &str) -> Self {
        Self {
            what: what.to_owned(),
            state,
            found,
            remedy: remedy.to_owned(),
            is_needed: false,
        }
    }

    /// Whether it keeps runs from starting, as far as is known.
    pub fn fails(&self) -> bool {
        self.is_needed && self.state != State::Ok
    }
}

/// A table, and what it comes to for runs in `namespace`.
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
