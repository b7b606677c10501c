//! One run: its state, its trials as they are measured, and their numbers.

use maud::{Markup, html};
use wasmbench_api::BenchmarkRun;
use wasmbench_api::conditions::{SUCCEEDED, TRUSTWORTHY};
use wasmbench_report::files;
use wasmbench_report::html::{HATCH, plots, report_head, report_rest};
use wasmbench_results::vocabulary::doubt::Doubt;

use crate::dashboard::followed::Recorded;
use crate::dashboard::pages::change::Change;
use crate::dashboard::pages::{frame, list, trials};
use crate::dashboard::state::Dashboard;
use crate::dashboard::stream::Regions;
use crate::dashboard::watched::named;
use crate::live;

/// The bytes of plots that a browser can redraw repeatedly without a delay.
const ROOM: usize = 1_500_000;
/// Files of the report offered for download.
const FILES: [&str; 5] = [
    files::REPORT_HTML,
    files::REPORT_MD,
    files::SUMMARY_JSON,
    files::SUMMARY_CSV,
    files::COMPARISONS_CSV,
];

/// The page.
pub fn page(dashboard: &Dashboard, run: &BenchmarkRun, recorded: &Recorded) -> Markup {
    let place = named(run);
    let events = format!("runs/{place}/events");
    let regions = regions(dashboard, run, recorded);
    frame::page(dashboard, &place, Some(&events), &frame::live(&regions))
}

/// The parts of the page that are updated live: what was decided stands above how it was measured.
pub fn regions(dashboard: &Dashboard, run: &BenchmarkRun, recorded: &Recorded) -> Regions {
    let decided = recorded.summary.as_ref().filter(|_| run.is_finished());
    vec![
        ("state", state(dashboard, run)),
        ("doubts", doubts(run, recorded)),
        ("decision", decided.map_or_else(|| html! {}, report_head)),
        ("trials", trials::table(run, recorded)),
        ("report", report(dashboard, run, recorded)),
    ]
}

/// The same parts for a run that no longer exists.
pub fn gone() -> Regions {
    let gone = html! { p.error role="alert" { "The run was deleted, and its records with it." } };
    let nothing = || html! {};
    vec![
        ("state", gone),
        ("doubts", nothing()),
        ("decision", nothing()),
        ("trials", nothing()),
        ("report", nothing()),
    ]
}

fn state(dashboard: &Dashboard, run: &BenchmarkRun) -> Markup {
    let status = run.status.as_ref();
    let progress = status.and_then(|status| status.progress.as_ref());
    let node = status.and_then(|status| status.node.as_ref());
    let until = progress.and_then(|progress| progress.estimated_completion_time.as_ref());
    let mut conditions = status.into_iter().flat_map(|status| &status.conditions);
    let failed = conditions.find(|one| one.type_ == SUCCEEDED && one.status == "False");
    html! {
        p {
            span class={ "state " (live::state(run).to_lowercase()) } { (live::state(run)) }
            @if let Some(node) = node { " on node " (node.name) }
        }
        @if !run.is_finished() {
            p role="status" {
                @if let Some(progress) = progress {
                    @let (done, all) = (progress.completed_trials, progress.total_trials);
                    (list::bar(progress)) " " (done) " of " (all) " trials"
                    @if let Some(most) = progress.most_trials { ", " (most) " at most" }
                }
                @if let Some(until) = until {
                    " " span.hint data-until=(until.0) {}
                }
            }
            p { (progress.map_or("Waiting for the operator to see the run.", |progress| progress.message.as_str())) }
            @if let Some(delay) = progress.and_then(|progress| progress.delay.as_ref()) { p.hint { (delay) } }
        } @else if let Some(why) = failed {
            p.error { (why.message) }
        }
        (links(dashboard, run))
    }
}

fn links(dashboard: &Dashboard, run: &BenchmarkRun) -> Markup {
    let place = named(run);
    let to = |change: Change| {
        let word = change.word();
        let path = dashboard.access.path(&format!("runs/{place}/{word}"));
        html! { a.button #(word) href=(path) { (change.title()) } " " }
    };
    let again = dashboard.access.path(&format!("new?like={place}"));
    html! {
        p.links {
            @if !run.is_finished() {
                (to(if run.spec.suspend { Change::Resume } else { Change::Suspend }))
            }
            @if run.is_finished() {
                a.button #cost href=(dashboard.access.path(&format!("runs/{place}/cost"))) { "What it costs" } " "
            }
            a.button #again href=(again) { "Start one like it" } " "
            (to(Change::Delete))
        }
    }
}

/// Doubts about the numbers so far, except those that vanish as the run goes on. For a finished
/// run, whether its numbers are trustworthy.
fn doubts(run: &BenchmarkRun, recorded: &Recorded) -> Markup {
    let trouble = html! {
        @if let Some(trouble) = &recorded.trouble {
            p.error { "The records cannot be read: " (trouble) }
        }
    };
    if run.is_finished() {
        let trusted = live::condition_is(run, TRUSTWORTHY);
        return html! {
            (trouble)
            @match trusted {
                Some(true) => p.better { "Trustworthy: yes" },
                Some(false) => p.worse { "Trustworthy: no. The doubts are listed below the decision." },
                None => {},
            }
        };
    }
    let doubts: Vec<&Doubt> = recorded
        .summary
        .iter()
        .flat_map(|summary| &summary.doubts)
        .filter(|doubt| !doubt.reason.is_of_the_end())
        .collect();
    html! {
        (trouble)
        @if !doubts.is_empty() {
            details open {
                summary { "Doubts so far: " (doubts.len()) }
                ul {
                    @for doubt in doubts {
                        li {
                            @if !doubt.breaks_trust { "Note, " }
                            b { (<&str>::from(doubt.reason)) } ": " (doubt.text())
                        }
                    }
                }
            }
        }
    }
}

fn report(dashboard: &Dashboard, run: &BenchmarkRun, recorded: &Recorded) -> Markup {
    let Some(summary) = &recorded.summary else {
        return html! {
            @if !run.is_finished() {
                p.hint { "Points appear between trials: while one is measured nothing is read." }
            }
        };
    };
    if !run.is_finished() {
        return html! {
            h2 { "So far" }
            p.hint { "Every point is a trial. Intervals are those of what is measured so far; what the run decides is reported at its end." }
            (HATCH) (plots(summary, ROOM, true))
        };
    }
    let is_short = summary.compared.workloads.len() == 1;
    html! {
        (HATCH) (report_rest(summary, ROOM, is_short))
        (raw(dashboard, run))
    }
}

fn raw(dashboard: &Dashboard, run: &BenchmarkRun) -> Markup {
    let at = |file: &str| {
        let place = named(run);
        dashboard.access.path(&format!("runs/{place}/files/{file}"))
    };
    html! {
        h2 { "Files" }
        ul { @for file in FILES { li { a href=(at(file)) download { (file) } } } }
    }
}
