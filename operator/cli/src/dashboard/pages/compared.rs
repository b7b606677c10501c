//! Runs side by side.

use std::sync::Arc;

use maud::{Markup, html};
use wasmbench_api::BenchmarkRun;
use wasmbench_report::across::InWords as _;
use wasmbench_results::runs::across::Across;

use crate::dashboard::pages::frame;
use crate::dashboard::state::Dashboard;
use crate::dashboard::watched::named;
use crate::error::Error;

/// The page, also if the runs are not comparable.
pub fn page(
    dashboard: &Dashboard,
    runs: &[Arc<BenchmarkRun>],
    found: &Result<Across, Error>,
) -> Markup {
    let forced = |runs: &[Arc<BenchmarkRun>]| {
        let runs = runs.iter().map(|run| format!("run={}&", named(run)));
        dashboard
            .access
            .path(&format!("compare?{}force=yes", runs.collect::<String>()))
    };
    let body = html! {
        section #comparison {
            @match found {
                Err(error) => p.error role="alert" { (error.to_string()) },
                Ok(found) => {
                    (found.html())
                    @if found.ratios.is_empty() && found.obstacles().next().is_some() {
                        p { a.button href=(forced(runs)) { "Compare them all the same" } }
                    }
                },
            }
        }
        p {
            @for run in runs {
                a href=(dashboard.access.path(&format!("runs/{}", named(run)))) { (named(run)) } " "
            }
        }
    };
    frame::page(dashboard, "Comparison", None, &body)
}
