//! The history of a schedule.

use maud::{Markup, html};
use wasmbench_report::history::history_body;
use wasmbench_results::runs::history::History;

use crate::dashboard::pages::frame;
use crate::dashboard::state::Dashboard;

/// The page.
pub fn page(dashboard: &Dashboard, namespace: &str, name: &str, history: &History) -> Markup {
    let title = format!("Schedule {namespace}/{name}");
    let body = html! { section #history { (history_body(history)) } };
    frame::page(dashboard, &title, None, &body)
}
