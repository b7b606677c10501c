//! Changes to a run, each with a page that asks for confirmation.

use maud::{Markup, html};
use serde::Deserialize;
use wasmbench_api::BenchmarkRun;

use crate::dashboard::pages::frame;
use crate::dashboard::state::Dashboard;
use crate::dashboard::watched::named;

/// A change to a run.
#[derive(Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// Stops the run for now.
    Suspend,
    /// Lets a suspended run go on.
    Resume,
    /// Deletes the run.
    Delete,
}

impl Change {
    /// Its segment of a URL path.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Suspend => "suspend",
            Self::Resume => "resume",
            Self::Delete => "delete",
        }
    }

    /// The label of its button.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Suspend => "Suspend",
            Self::Resume => "Resume",
            Self::Delete => "Delete",
        }
    }

    const fn consequence(self) -> &'static str {
        match self {
            Self::Suspend => {
                "The load stops within seconds and the node is free for other runs. Recorded trials stay; the one that is \
                 measured now is measured again."
            }
            Self::Resume => "The run goes on with the first trial that has no record.",
            Self::Delete => {
                "Its pods, records and report are deleted with it, and cannot be brought back. The history of its schedule \
                 stays, if it has one."
            }
        }
    }
}

/// The page that asks for confirmation.
pub fn page(dashboard: &Dashboard, run: &BenchmarkRun, change: Change) -> Markup {
    let place = named(run);
    let back = dashboard.access.path(&format!("runs/{place}"));
    let title = format!("{} {place}?", change.title());
    let body = html! {
        p { (change.consequence()) }
        form method="post" action={ (back) "/" (change.word()) } {
            button #confirm class=(change.word()) { (change.title()) } " "
            a.button href=(back) { "Leave it as it is" }
        }
    };
    frame::page(dashboard, &title, None, &body)
}
