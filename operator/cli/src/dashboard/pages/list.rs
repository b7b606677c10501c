//! All runs: those that are running or waiting, and those that have ended; and all schedules.

use jiff::Timestamp;
use kube::ResourceExt;
use maud::{Markup, html};
use wasmbench_api::conditions::{PASSED, TRUSTWORTHY};
use wasmbench_api::status::Progress;
use wasmbench_api::{BenchmarkRun, BenchmarkSchedule, labels};
use wasmbench_model::units;

use crate::dashboard::pages::{frame, schedule};
use crate::dashboard::state::Dashboard;
use crate::dashboard::stream::Regions;
use crate::dashboard::watched::named;
use crate::error::Error;
use crate::live;

/// The maximum number of ended runs shown.
const MOST: usize = 200;

/// The page.
pub fn page(dashboard: &Dashboard, schedules: &Result<Vec<BenchmarkSchedule>, Error>) -> Markup {
    let body = html! {
        p { a #new.button href=(dashboard.access.path("new")) { "Start a run" } }
        form action=(dashboard.access.path("compare")) {
            (frame::live(&regions(dashboard)))
            p {
                button #compare { "Compare the marked runs" }
                span.hint { " The latest of them as a multiple of an earlier one, or of 5 and more." }
            }
        }
        (schedule::list(dashboard, schedules))
    };
    frame::page(dashboard, "Runs", Some("events"), &body)
}

/// The parts of the page that are updated live.
pub fn regions(dashboard: &Dashboard) -> Regions {
    let observed = dashboard.watched.now();
    let mut runs: Vec<&BenchmarkRun> = observed.runs.values().map(AsRef::as_ref).collect();
    // First the running and queued runs in the order of their turns, then the ended ones, newest first.
    runs.sort_by_key(|run| run.creation_timestamp().map(|time| time.0));
    let (mut ended, mut runs): (Vec<_>, Vec<_>) =
        runs.into_iter().partition(|run| run.is_finished());
    ended.reverse();
    runs.sort_by_key(|run| turn(run));
    let left_out = ended.len().saturating_sub(MOST);
    ended.truncate(MOST);
    runs.append(&mut ended);
    let trouble = html! {
        @if let Some(trouble) = &observed.trouble {
            p.error { "The cluster does not answer (" (trouble) "). What is shown may be old; the request is repeated." }
        }
    };
    let table = if observed.is_complete {
        table(dashboard, &runs)
    } else {
        html! { p { "Reading the runs ..." } }
    };
    let older = html! {
        @if left_out > 0 { p.hint { (left_out) " older runs are not shown; kubectl wasmbench get lists them." } }
    };
    vec![("trouble", trouble), ("list", html! { (table) (older) })]
}

/// The place of an unfinished run: first what is measured, then what waits for a node, by when it
/// will probably begin, then what waits for its user or the operator.
fn turn(run: &BenchmarkRun) -> (u8, bool, Option<Timestamp>, Option<u32>) {
    let status = run.status.as_ref();
    let progress = status.and_then(|status| status.progress.as_ref());
    let place = progress.and_then(|progress| progress.place_in_queue);
    let begins = progress.and_then(|progress| progress.estimated_start_time.as_ref());
    let has_node = status.is_some_and(|status| status.node.is_some());
    let group = match place {
        Some(_) => 1,
        None if has_node && !run.spec.suspend => 0,
        None => 2,
    };
    (group, begins.is_none(), begins.map(|time| time.0), place)
}

fn table(dashboard: &Dashboard, runs: &[&BenchmarkRun]) -> Markup {
    if runs.is_empty() {
        return html! { p { "There are no runs yet." } };
    }
    let titles = [
        "Mark", "Run", "Trusted", "Verdict", "State", "Progress", "Passed", "Age",
    ];
    html! {
        div.table {
            table #runs.cards {
                thead { tr { @for title in titles { th scope="col" { (title) } } } }
                tbody { @for run in runs { (row(dashboard, run)) } }
            }
        }
    }
}

fn row(dashboard: &Dashboard, run: &BenchmarkRun) -> Markup {
    let (namespace, place) = (run.namespace().unwrap_or_default(), named(run));
    let verdict = run.status.as_ref().and_then(|s| s.verdict.as_deref());
    let doing = run
        .status
        .as_ref()
        .and_then(|s| s.progress.as_ref())
        .map(|progress| progress.message.as_str());
    let schedule = run.labels().get(labels::SCHEDULE);
    html! {
        tr data-run=(place) {
            td {
                @if run.is_finished() {
                    input type="checkbox" name="run" value=(place) aria-label={ "Compare " (place) };
                }
            }
            th scope="row" {
                a href=(dashboard.access.path(&format!("runs/{place}"))) { (place) }
                @if let Some(schedule) = schedule {
                    br;
                    span.hint {
                        "of schedule "
                        a href=(dashboard.access.path(&format!("schedules/{namespace}/{schedule}"))) { (schedule) }
                    }
                }
            }
            td data-title="Trusted" { (truth(run, TRUSTWORTHY)) }
            td.words { (verdict.or(doing.filter(|_| !run.is_finished())).unwrap_or_default()) }
            td { span class={ "state " (live::state(run).to_lowercase()) } { (live::state(run)) } }
            td { (progress(run)) }
            td data-title="Passed" { (truth(run, PASSED)) }
            td.n data-title="Age" { (age(run)) }
        }
    }
}

/// A progress bar with its text, and until the end when the run will probably be measured.
fn progress(run: &BenchmarkRun) -> Markup {
    let Some(progress) = run.status.as_ref().and_then(|s| s.progress.as_ref()) else {
        return html! {};
    };
    let times = live::times(progress, Timestamp::now()).filter(|_| !run.is_finished());
    html! {
        (bar(progress)) " " span.n { (progress.text) }
        @if let Some(times) = times { br; span.hint { (times) } }
    }
}

/// A run's progress, as a bar.
pub fn bar(progress: &Progress) -> Markup {
    let (done, all) = (progress.completed_trials, progress.total_trials.max(1));
    html! { progress value=(done.min(all)) max=(all) aria-label="trials measured" {} }
}

/// A condition as a word.
fn truth(run: &BenchmarkRun, type_: &str) -> Markup {
    match live::condition_is(run, type_) {
        Some(true) => html! { span.better { "yes" } },
        Some(false) => html! { span.worse { "no" } },
        None => html! {},
    }
}

fn age(run: &BenchmarkRun) -> String {
    // Only to the minute: a page that changes all the time is hard to read.
    match live::age_seconds(run, Timestamp::now()) {
        None => String::new(),
        Some(0..60) => "under a minute".to_owned(),
        Some(seconds) => units::duration(seconds / 60 * 60),
    }
}
