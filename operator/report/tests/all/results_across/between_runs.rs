//! A shift of a whole run is no finding about a variant: shown by simulated runs with a known
//! truth, and by runs that differ in one respect.

use wasmbench_api::run::RunScatter;
use wasmbench_model::wire::record::Record;
use wasmbench_report::across::InWords as _;
use wasmbench_results::cells::Cells;
use wasmbench_results::judge::compare::comparisons;
use wasmbench_results::judge::verdict::Verdict;
use wasmbench_results::runs::across::{Across, CellRatio, Schedule, Side, Unjudged, across};
use wasmbench_results::runs::history::History;
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::collect::{RunInput, summarize};
use wasmbench_results::vocabulary::measure::Metric;

use super::support::{compared, named};
use crate::results_support::{all_measured, run, slower};
use crate::synthetic::{Chance, print_figure};

/// The records of a run on a node that is `factor` times as slow on that day.
fn shifted(run: &RunInput, factor: f64) -> Vec<Record> {
    let mut records = all_measured(run);
    for record in &mut records {
        let timed = record.load_mut().and_then(|d| d.timed.as_mut());
        if let Some(timed) = timed {
            timed.fortio = slower(timed.fortio.clone(), factor);
        }
    }
    records
}

fn verdicts(found: &Across, variant: &str, metric: Metric) -> Vec<Option<Verdict>> {
    let ratios = found.ratios.iter();
    let meant = ratios.filter(|ratio| ratio.variant == variant && ratio.metric == metric);
    meant.map(|ratio| ratio.verdict).collect()
}

#[test]
fn a_run_on_a_slower_day_calls_no_variant_slower() {
    let (before, after) = (named("before"), named("after"));
    let found = compared(
        (&before, &all_measured(&before)),
        (&after, &shifted(&after, 1.3)),
        false,
    );
    assert_eq!((found.worse(), found.judged()), (0, 18));
    let native = found.ratios.iter().find(|r| r.variant == "native").unwrap();
    // The number is shown without a verdict.
    assert!((native.ratio - 1.3).abs() < 0.01, "{native:?}");
    assert_eq!(
        (native.verdict, native.unjudged),
        (None, Some(Unjudged::TooFewRuns))
    );
    let text = found.text();
    assert!(text.contains("name as many"), "{text}");
}

#[test]
fn runs_are_not_judged_if_the_baseline_changed() {
    let (before, after) = (named("before"), named("after"));
    let mut records = all_measured(&after);
    for record in &mut records {
        let is_base = record.trial.cell.variant == "native";
        if let Some(subject) = record.subject.as_mut().filter(|_| is_base) {
            subject.image_id = Some("sha256:changed".into());
        }
    }
    let found = compared((&before, &all_measured(&before)), (&after, &records), false);
    assert_eq!((found.judged(), found.ratios.len()), (0, 36));
    let embedded = found.ratios.iter().filter(|r| r.variant == "embedded");
    let why: Vec<Option<Unjudged>> = embedded.map(|ratio| ratio.unjudged).collect();
    assert_eq!(why, [Some(Unjudged::BaselineChanged); 18]);
    assert_eq!(found.line(), "no number is judged: see why below the table");
    assert!(
        found.text().contains("Run the earlier images again"),
        "{}",
        found.text()
    );
}

#[test]
fn a_run_of_one_variant_is_not_judged_by_a_single_earlier_run() {
    let of_one_variant = |name: &str| {
        let mut input = named(name);
        input.spec.variants.truncate(1);
        input
    };
    let (before, after) = (of_one_variant("before"), of_one_variant("after"));
    let found = compared(
        (&before, &all_measured(&before)),
        (&after, &shifted(&after, 2.0)),
        false,
    );
    assert_eq!((found.judged(), found.ratios.len()), (0, 18));
}

/// `after` as a multiple of earlier runs on nodes that were slower by the factors `days`.
fn among(days: &[f64], after: f64) -> Across {
    let input = run();
    let summary = |factor: &f64| summarize(&input, &shifted(&input, *factor));
    let earlier: Vec<Summary> = days.iter().map(summary).collect();
    let later = summary(&after);
    let side = |summary| Side {
        spec: &input.spec,
        summary,
    };
    let earlier: Vec<Side<'_>> = earlier.iter().map(side).collect();
    across(&earlier, side(&later), None, RunScatter::default(), false)
}

#[test]
fn five_earlier_runs_also_judge_the_baselines_own_numbers() {
    let days = [1.0, 1.02, 0.98, 1.01, 0.99];
    let slow = among(&days, 1.3);
    let of_native = |metric| verdicts(&slow, "native", metric);
    assert_eq!(of_native(Metric::ThroughputRps), [Some(Verdict::Slower); 4]);
    let judged_by = "by how far 5 earlier runs scatter.\n80 of 100 such comparisons find a";
    let text = slow.text();
    assert!(text.contains(judged_by), "{text}");
    // The variant kept its multiple of the baseline.
    let of_embedded = verdicts(&slow, "embedded", Metric::ThroughputRps);
    assert!(
        of_embedded.iter().flatten().all(|v| !v.is_difference()) && of_embedded.len() == 4,
        "{of_embedded:?}"
    );
    assert_eq!(among(&days, 1.02).worse(), 0);
    // Where runs scatter as much, a slow one is nothing new.
    assert_eq!(among(&[0.8, 1.0, 1.25, 0.9, 1.1], 1.3).worse(), 0);
}

/// How the logarithms of a run's numbers scatter, as standard deviations.
#[derive(Clone, Copy)]
struct Scatter {
    /// Between trials.
    trial: f64,
    /// Between runs, of all variants together.
    day: f64,
    /// Between runs, of only `embedded`.
    own: f64,
}

impl Scatter {
    /// All variants move together from run to run.
    fn of_days(day: f64) -> Self {
        Self {
            trial: 0.03,
            day,
            own: 0.0,
        }
    }
}

/// A summary whose numbers scatter that way; `embedded` is `factor` times as slow.
fn simulated(like: &Summary, chance: &mut Chance, scatter: Scatter, factor: f64) -> Summary {
    let Scatter { trial, day, own } = scatter;
    let mut summary = like.clone();
    let day = day * chance.normal();
    // Without a scatter of its own nothing is drawn, which keeps the random sequence of the other
    // tests unchanged.
    let shift = if own > 0.0 {
        own * chance.normal()
    } else {
        0.0
    };
    let factor = factor * shift.exp();
    for cell in &mut summary.cells {
        let own = if cell.variant == "embedded" {
            factor
        } else {
            1.0
        };
        for measured in &mut cell.detail.trials {
            let mut longer = || own * (day + trial * chance.normal()).exp();
            let metrics = &mut measured.metrics;
            metrics.rps = Some(10_000.0 / longer());
            metrics.p50 = Some(100.0 * longer());
            metrics.cpu = Some(50.0 * longer());
        }
    }
    summary
}

/// The share of pairs of runs in which the later one is called worse.
fn called_worse(scatter: Scatter, factor: f64, earlier_runs: usize, stated: RunScatter) -> f64 {
    const PAIRS: u32 = 200;
    let input = run();
    let like = summarize(&input, &all_measured(&input));
    let mut chance = Chance::new(7);
    let is_worse = |_: &u32| {
        let earlier: Vec<Summary> = (0..earlier_runs)
            .map(|_| simulated(&like, &mut chance, scatter, 1.0))
            .collect();
        let later = simulated(&like, &mut chance, scatter, factor);
        let side = |summary| Side {
            spec: &input.spec,
            summary,
        };
        let earlier: Vec<Side<'_>> = earlier.iter().map(side).collect();
        across(&earlier, side(&later), None, stated, false).worse() > 0
    };
    f64::from(u32::try_from((0..PAIRS).filter(is_worse).count()).unwrap()) / f64::from(PAIRS)
}

#[test]
fn two_runs_of_the_same_thing_rarely_give_false_positives() {
    for deviation in [0.01, 0.02, 0.03, 0.05] {
        for runs in [1, 5] {
            // Nothing but the whole run shifts.
            let scatter = Scatter::of_days(deviation);
            let share = called_worse(scatter, 1.0, runs, RunScatter::NONE);
            let percent = deviation * 100.0;
            let name =
                format!("equal runs called worse, {percent:.0} % between runs, {runs} before");
            print_figure(&name, share, "at most 5 %");
            assert!(share <= 0.05, "{deviation}, {runs} earlier runs: {share}");
        }
    }
}

/// A shift of only one variant from run to run does not cancel: only earlier runs show how large
/// it can be.
#[test]
fn five_runs_show_how_far_one_variant_shifts_from_run_to_run() {
    let share = |own: f64, runs: usize, stated: RunScatter, expected: &str| {
        let scatter = Scatter {
            own,
            ..Scatter::of_days(0.02)
        };
        let share = called_worse(scatter, 1.0, runs, stated);
        let percent = own * 100.0;
        let name = format!(
            "equal runs called worse, a variant's own {percent:.0} %, {runs} before, {stated} stated"
        );
        print_figure(&name, share, expected);
        share
    };
    for own in [0.02, 0.05] {
        let among_five = share(own, 5, RunScatter::NONE, "at most 7 %");
        assert!(among_five <= 0.07, "{own}: {among_five}");
    }
    let none = RunScatter::NONE;
    let with_one_run = share(0.05, 1, none, "more than 10 %, if no scatter is stated");
    assert!(with_one_run >= 0.10, "{with_one_run}");
    let known = RunScatter::parse("5%").unwrap();
    let stated = share(0.05, 1, known, "at most 5 %, if it is");
    assert!(stated <= 0.05, "{stated}");
}

/// The share of pairs of runs of a schedule in which the later one is called worse, if the history
/// has `others` other runs.
fn called_worse_by_history(scatter: Scatter, factor: f64, others: usize) -> f64 {
    const PAIRS: u32 = 200;
    let input = run();
    let like = summarize(&input, &all_measured(&input));
    let mut chance = Chance::new(11);
    let is_worse = |_: &u32| {
        let mut history = History::default();
        for number in 0..others {
            let mut run = simulated(&like, &mut chance, scatter, 1.0);
            run.run.name = format!("other-{number}");
            follow(&mut history, &run, &input);
        }
        let mut of_two = |factor| simulated(&like, &mut chance, scatter, factor);
        let (before, after) = (of_two(1.0), of_two(factor));
        let found = by_history(&input, &before, &after, &history);
        let run_counts: Vec<u32> = found.ratios.iter().filter_map(|ratio| ratio.runs).collect();
        assert!(run_counts.iter().all(|runs| *runs as usize == others) && !run_counts.is_empty());
        found.worse() > 0
    };
    f64::from(u32::try_from((0..PAIRS).filter(is_worse).count()).unwrap()) / f64::from(PAIRS)
}

/// Adds a run, compared anew, whose numbers are trusted even if it has few blocks.
fn follow(history: &mut History, run: &Summary, input: &RunInput) {
    let cells = Cells {
        loads: run.cells.clone(),
        cold_starts: run.cold_starts.clone(),
        density: run.density.clone(),
        ..Cells::default()
    };
    let mut compared = comparisons(&input.spec, &run.baseline, &cells, None).with_baseline;
    for one in &mut compared {
        one.untrusted.clear();
    }
    let run = Summary {
        comparisons: compared,
        ..run.clone()
    };
    history.add(&run, &input.spec, "2026-01-01T03:00:00Z".parse().unwrap());
}

fn by_history(input: &RunInput, before: &Summary, after: &Summary, history: &History) -> Across {
    let side = |summary| Side {
        spec: &input.spec,
        summary,
    };
    let schedule = Schedule {
        name: "nightly",
        history,
    };
    across(
        &[side(before)],
        side(after),
        Some(schedule),
        RunScatter::default(),
        false,
    )
}

/// Just two runs call such a shift different in more than a tenth of pairs.
#[test]
fn the_history_of_a_schedule_shows_how_far_one_variant_shifts() {
    let scatter = Scatter {
        own: 0.05,
        ..Scatter::of_days(0.02)
    };
    let share = called_worse_by_history(scatter, 1.0, 8);
    print_figure(
        "equal runs called worse, a variant's own 5 %, history of 8",
        share,
        "at most 5 %",
    );
    assert!(share <= 0.05, "{share}");
    let found = called_worse_by_history(scatter, 1.5, 8);
    print_figure(
        "half slower found, a variant's own 5 %, history of 8",
        found,
        "at least 90 %",
    );
    assert!(found >= 0.9, "{found}");
}

/// `count` equal runs of a schedule, and its history.
fn nights(input: &RunInput, count: usize) -> (Vec<Summary>, History) {
    let like = summarize(input, &all_measured(input));
    let (mut chance, mut history) = (Chance::new(3), History::default());
    let night = |number: usize| {
        let mut run = simulated(&like, &mut chance, Scatter::of_days(0.02), 1.0);
        run.run.name = format!("nightly-{number}");
        follow(&mut history, &run, input);
        run
    };
    ((0..count).map(night).collect(), history)
}

#[test]
fn a_history_of_many_runs_also_judges_the_baselines_own_numbers() {
    let input = run();
    let (nights, history) = nights(&input, 12);
    let mut slow = summarize(&input, &shifted(&input, 1.5));
    slow.run.name = "slow".into();
    let found = by_history(&input, &nights[11], &slow, &history);
    let of_native: Vec<&CellRatio> = found
        .ratios
        .iter()
        .filter(|r| r.variant == "native")
        .collect();
    let judged = of_native
        .iter()
        .filter(|ratio| ratio.verdict == Some(Verdict::Slower));
    // Under two workloads, judged by all nights except the one compared with.
    assert_eq!(
        judged.map(|ratio| ratio.runs).collect::<Vec<_>>(),
        [Some(11); 2]
    );
    let others = of_native.iter().filter(|ratio| ratio.verdict.is_none());
    assert!(others.into_iter().all(|ratio| ratio.unjudged.is_some()));
    let text = found.text();
    for expected in [
        "by how far 11 other runs of the schedule nightly scatter.\n80 of 100 such comparisons find a change of",
        "Not followed",
    ] {
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn a_history_of_too_few_or_other_runs_is_ignored() {
    let input = run();
    let (few, history) = nights(&input, 5);
    let without = compared(
        (&input, &all_measured(&input)),
        (&input, &all_measured(&input)),
        false,
    );
    // Five, one of which is compared.
    let by_few = by_history(&input, &few[3], &few[4], &history);
    assert_eq!(by_few.judged(), without.judged());
    assert!(!by_few.text().contains("scatter."), "{}", by_few.text());
    // Another kernel.
    let (many, history) = nights(&input, 12);
    let moved = |mut run: Summary| {
        run.environment.fingerprint = Some("another".to_owned());
        run
    };
    let (before, after) = (moved(many[3].clone()), moved(many[4].clone()));
    let by_others = by_history(&input, &before, &after, &history);
    assert_eq!(by_others.judged(), without.judged());
    assert!(by_others.ratios.iter().all(|ratio| ratio.runs.is_none()));
}

#[test]
fn a_variant_that_got_a_fifth_slower_is_found_however_the_days_scatter() {
    for deviation in [0.01, 0.05] {
        let share = called_worse(Scatter::of_days(deviation), 1.2, 1, RunScatter::default());
        let percent = deviation * 100.0;
        let name =
            format!("a fifth slower found with one earlier run, {percent:.0} % between runs");
        print_figure(&name, share, "at least 95 %");
        assert!(share >= 0.95, "{deviation}: {share}");
    }
}
