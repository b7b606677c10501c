//! Schedules: all of them, and the history of one.

use jiff::Timestamp;
use kube::ResourceExt;
use maud::{Markup, html};
use wasmbench_api::BenchmarkSchedule;
use wasmbench_report::history::history_body;
use wasmbench_results::runs::history::History;

use crate::dashboard::pages::frame;
use crate::dashboard::state::Dashboard;
use crate::error::Error;
use crate::live;

/// The page.
pub fn page(dashboard: &Dashboard, namespace: &str, name: &str, history: &History) -> Markup {
    let title = format!("Schedule {namespace}/{name}");
    let body = html! { section #history { (history_body(history)) } };
    frame::page(dashboard, &title, None, &body)
}

/// The schedules, also those that have no runs; nothing if there are none.
pub fn list(dashboard: &Dashboard, schedules: &Result<Vec<BenchmarkSchedule>, Error>) -> Markup {
    let schedules = match schedules {
        Ok(schedules) => schedules,
        Err(error) => {
            return html! { p.hint { "The schedules cannot be read: " (error.to_string()) } };
        }
    };
    if schedules.is_empty() {
        return html! {};
    }
    html! {
        h2 { "Schedules" }
        div.table {
            table #schedules.cards {
                thead {
                    tr {
                        @for title in ["Schedule", "When", "Next run", "Last run", "Unfinished runs"] {
                            th scope="col" { (title) }
                        }
                    }
                }
                tbody { @for schedule in schedules { (row(dashboard, schedule)) } }
            }
        }
    }
}

fn row(dashboard: &Dashboard, schedule: &BenchmarkSchedule) -> Markup {
    let (spec, status) = (&schedule.spec, schedule.status.clone().unwrap_or_default());
    let (namespace, name) = (
        schedule.namespace().unwrap_or_default(),
        schedule.name_any(),
    );
    let path = dashboard
        .access
        .path(&format!("schedules/{namespace}/{name}"));
    let clock = |time: Timestamp| live::clock(time, Timestamp::now());
    let next = status.next_schedule_time.map(|time| clock(time.0));
    let last = status.last_schedule_time.map(|time| clock(time.0));
    let next = if spec.suspend {
        "suspended".to_owned()
    } else {
        next.unwrap_or_else(|| "not known yet".to_owned())
    };
    html! {
        tr {
            th scope="row" { a href=(path) { (namespace) "/" (name) } }
            td data-title="When" { (spec.schedule) " " (spec.time_zone.as_deref().unwrap_or("UTC")) }
            td data-title="Next run" { (next) }
            td data-title="Last run" { (last.unwrap_or_else(|| "none yet".to_owned())) }
            td data-title="Unfinished runs" { (status.active_runs) }
        }
    }
}
