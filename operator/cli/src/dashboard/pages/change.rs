//! What changes a run, each with the page that asks before it is done.

use maud::{Markup, html};
use serde::Deserialize;
use wasmbench_api::BenchmarkRun;

use crate::dashboard::pages::frame;
use crate::dashboard::state::Dashboard;
use crate::dashboard::watched::named;

/// What can be done with a run.
#[derive(Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// Nothing goes on.
    Suspend,
    /// It goes on.
    Resume,
    /// It is gone.
    Delete,
}

impl Change {
    /// Its part of an address.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Suspend => "suspend",
            Self::Resume => "resume",
            Self::Delete => "delete",
        }
    }

    /// What a button says.
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

/// The page that asks.
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
