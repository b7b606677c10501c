//! The trials of a run as a table that fills up: a row for each cell, a column for each block.

use std::collections::BTreeMap;

use maud::{Markup, html};
use wasmbench_api::BenchmarkRun;
use wasmbench_core::admit::admit;
use wasmbench_core::validate::ValidatedRun;
use wasmbench_model::store::Ended;
use wasmbench_model::wire::record::{Cell, TrialId};
use wasmbench_results::read::trial::TrialState;
use wasmbench_results::summary::Summary;
use wasmbench_results::vocabulary::trial_reason::TrialReason;

use crate::assumed;
use crate::dashboard::followed::{Recorded, begun};

/// With more trials than this, the table only counts the valid ones of each cell.
const MOST: usize = 3000;

/// The state of a trial.
#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    Planned,
    Running,
    Valid,
    Invalid(String),
    Failed(String),
    Skipped(String),
}

impl State {
    /// Its word, its sign, and the reason.
    fn shown(&self) -> (&'static str, &'static str, &str) {
        match self {
            Self::Planned => ("planned", "\u{b7}", ""),
            Self::Running => ("running", "\u{25b6}", ""),
            Self::Valid => ("valid", "\u{25cf}", ""),
            Self::Invalid(why) => ("invalid", "!", why),
            Self::Failed(why) => ("failed", "\u{2715}", why),
            Self::Skipped(why) => ("skipped", "\u{2013}", why),
        }
    }
}

/// The table; empty if the run is refused. It is folded once the run has ended.
pub fn table(run: &BenchmarkRun, recorded: &Recorded) -> Markup {
    let Ok(valid) = admit(run, &assumed::config()) else {
        return html! {};
    };
    let now = begun(run);
    let known = recorded.ended.keys().chain(&now);
    let last = known.map(|trial| trial.block).max().unwrap_or_default();
    let planned = valid.planned(last);
    let cells = cells(&valid, planned);
    let blocks: u32 = planned
        .iter()
        .map(|trial| trial.block)
        .max()
        .unwrap_or_default();
    let is_large = planned.len() > MOST;
    let state = |trial: &TrialId| state(trial, now.as_ref(), recorded);
    html! {
        details open[!run.is_finished()] {
            summary { "Trials" }
            div.table {
                table.trials {
                    thead {
                        tr {
                            @for title in ["Workload", "Variant", "Point"] { th scope="col" { (title) } }
                            @if is_large {
                                th scope="col" { "Measured" }
                            } @else {
                                @for block in 1..=blocks { th.n scope="col" aria-label={ "Block " (block) } { (block) } }
                            }
                        }
                    }
                    tbody {
                        @for (cell, trials) in &cells {
                            tr {
                                th scope="row" { (cell.workload) }
                                td { (cell.variant) }
                                td { (cell.point) }
                                @if is_large {
                                    td { (counted(trials, state)) }
                                } @else {
                                    @for trial in trials { (one(&state(trial))) }
                                }
                            }
                        }
                    }
                }
            }
            p.legend { (legend()) }
        }
    }
}

fn one(state: &State) -> Markup {
    let (word, sign, why) = state.shown();
    let title = if why.is_empty() {
        word.to_owned()
    } else {
        format!("{word}: {why}")
    };
    html! {
        td data-state=(word) title=(title) {
            span aria-hidden="true" { (sign) }
            span.unseen { (title) }
        }
    }
}

fn legend() -> Markup {
    let none = String::new;
    let states = [
        State::Planned,
        State::Running,
        State::Valid,
        State::Invalid(none()),
        State::Failed(none()),
        State::Skipped(none()),
    ];
    html! {
        @for state in &states {
            @let (word, sign, _) = state.shown();
            span { b data-state=(word) aria-hidden="true" { (sign) } " " (word) } " "
        }
    }
}

fn counted(trials: &[&TrialId], state: impl Fn(&TrialId) -> State) -> String {
    let measured = trials.iter().filter(|trial| state(trial) == State::Valid);
    format!("{} of {}", measured.count(), trials.len())
}

/// The cells in the order of the spec, each with its trials by block. Scouts belong to no block.
fn cells<'a>(valid: &ValidatedRun, planned: &'a [TrialId]) -> Vec<(&'a Cell, Vec<&'a TrialId>)> {
    let workload = |cell: &Cell| {
        valid
            .spec
            .workloads
            .iter()
            .position(|one| one.name == cell.workload)
    };
    let variant = |cell: &Cell| {
        valid
            .spec
            .variants
            .iter()
            .position(|one| one.name == cell.variant)
    };
    let mut cells: BTreeMap<_, (&Cell, Vec<&TrialId>)> = BTreeMap::new();
    for trial in planned.iter().filter(|trial| !trial.is_scout()) {
        let cell = &trial.cell;
        let place = (workload(cell), variant(cell), cell.point);
        let (_, trials) = cells.entry(place).or_insert((cell, vec![]));
        trials.push(trial);
    }
    let mut cells: Vec<_> = cells.into_values().collect();
    for (_, trials) in &mut cells {
        trials.sort_by_key(|trial| trial.block);
    }
    cells
}

fn state(trial: &TrialId, now: Option<&TrialId>, recorded: &Recorded) -> State {
    match recorded.ended.get(trial) {
        Some(Ended::Failed(why)) => State::Failed(why.to_string()),
        Some(Ended::Skipped(why)) => State::Skipped(why.to_string()),
        Some(Ended::Measured) => judged(trial, recorded),
        None if now == Some(trial) => State::Running,
        None => State::Planned,
    }
}

/// Whether a measured trial is valid.
fn judged(trial: &TrialId, recorded: &Recorded) -> State {
    let mut cells = recorded.summary.iter().flat_map(Summary::all_cells);
    let Some(cell) = cells.find(|cell| cell.cell() == trial.cell) else {
        return State::Valid;
    };
    let load = cell.detail.try_as_load();
    let mut trials = load.into_iter().flat_map(|load| &load.trials);
    if let Some(own) = trials.find(|one| one.block == trial.block)
        && own.state == TrialState::Invalid
    {
        let why = own.reason.as_ref().map(TrialReason::to_string);
        return State::Invalid(why.unwrap_or_default());
    }
    match cell.invalid_because.first() {
        Some(reason) => State::Invalid(<&str>::from(reason).to_owned()),
        None => State::Valid,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str = include_str!("../../../../../manifests/samples/quickstart.yaml");

    fn run(phase: &str, trial: &str) -> BenchmarkRun {
        let mut run: BenchmarkRun = serde_yaml::from_str(RUN).unwrap();
        run.status = serde_json::from_value(serde_json::json!({
            "progress": {
                "completedTrials": 1, "totalTrials": 40, "text": "1/40", "message": "",
                "trial": trial, "phase": phase,
            },
        }))
        .unwrap();
        run
    }

    fn states(html: &Markup, state: &str) -> usize {
        let cell = format!("<td data-state=\"{state}\"");
        html.0.matches(&cell).count()
    }

    #[test]
    fn a_trial_is_planned_then_runs_then_counts() {
        let mut recorded = Recorded::default();
        let html = table(&run("Preparing", "native/hello/warm/b1"), &recorded);
        assert_eq!(states(&html, "planned"), 40);
        let html = table(&run("Measuring", "native/hello/warm/b1"), &recorded);
        assert_eq!(
            (states(&html, "planned"), states(&html, "running")),
            (39, 1)
        );
        let trial: TrialId = "native/hello/warm/b1".parse().unwrap();
        recorded.ended.insert(trial, Ended::Measured);
        let html = table(&run("Preparing", "embedded/hello/warm/b1"), &recorded);
        assert_eq!((states(&html, "planned"), states(&html, "valid")), (39, 1));
    }

    #[test]
    fn a_failed_trial_has_its_reason() {
        let mut recorded = Recorded::default();
        let trial: TrialId = "native/hello/warm/b1".parse().unwrap();
        recorded
            .ended
            .insert(trial, Ended::Failed("SubjectNotReady".into()));
        let html = table(&run("Recording", "embedded/hello/warm/b1"), &recorded);
        assert!(
            html.0.contains("title=\"failed: SubjectNotReady\""),
            "{}",
            html.0
        );
    }
}
