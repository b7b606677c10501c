//! How often does a schedule raise false and true alarms? Histories with a known truth, seeded so
//! that every test run gives the same result. A history is evaluated after each of its runs:
//! `changes` replays it that way, and `a_change_that_was_found_stays_found_whatever_comes_later` (in its own
//! tests) shows that the evaluations agree.

use wasmbench_results::statistics::change::{Change, Observed, changes};

use crate::synthetic::{Chance, Noise, print_figure};

/// How runs scatter around their truth. The standard deviation is 2 %, apart from outliers.
#[derive(Clone, Copy, Debug)]
enum Scatter {
    Normal,
    /// Normal, and one run in 20 is 10 % off.
    Outliers,
    /// Student's t with 3 degrees of freedom.
    HeavyTails,
}

const DEVIATION: f64 = 0.02;

impl Scatter {
    fn of_run(self, chance: &mut Chance) -> f64 {
        match self {
            Self::Normal => chance.trial(Noise::Normal(DEVIATION), 0.0, 0.0),
            Self::Outliers => {
                let off = if chance.uniform() < 0.05 { 0.1 } else { 0.0 };
                off + chance.trial(Noise::Normal(DEVIATION), 0.0, 0.0)
            }
            Self::HeavyTails => {
                let noise = Noise::HeavyTails(DEVIATION / 3.0_f64.sqrt());
                chance.trial(noise, 0.0, 0.0)
            }
        }
    }
}

/// A history of `runs` runs, numbered from 0. `truth` gives the true logarithm and the name of the
/// stratum for each run.
fn history(
    scatter: Scatter,
    runs: u32,
    truth: impl Fn(u32) -> (f64, &'static str),
    chance: &mut Chance,
) -> Vec<Observed<'static>> {
    let observed = |run: u32| {
        let (truth, stratum) = truth(run);
        Observed {
            run: u64::from(run),
            number: truth + scatter.of_run(chance),
            error: None,
            stratum,
        }
    };
    (0..runs).map(observed).collect()
}

/// Alarms per 100 runs of schedules with `series` series each, in which nothing changes except what
/// strata explain.
fn alarms(
    scatter: Scatter,
    schedules: u32,
    series: usize,
    truth: impl Fn(u32) -> (f64, &'static str),
) -> f64 {
    let mut chance = Chance::new(61);
    let mut of_schedule = || -> usize {
        let each = (0..series).map(|_| history(scatter, 100, &truth, &mut chance));
        each.map(|history| changes(&history, series).len()).sum()
    };
    let all: usize = (0..schedules).map(|_| of_schedule()).sum();
    all as f64 / f64::from(schedules)
}

fn assert_few_alarms(scatter: Scatter, schedules: u32, series: usize) {
    let alarms = alarms(scatter, schedules, series, |_| (0.0, "node"));
    let name = format!("runs without a change that raise an alarm, {series} series, {scatter:?}");
    print_figure(&name, alarms / 100.0, "at most 1 %");
    assert!(alarms <= 1.0, "{name}: {alarms} in 100 runs");
}

#[test]
fn at_most_one_false_alarm_in_100_runs_with_normal_noise() {
    assert_few_alarms(Scatter::Normal, 300, 1);
}

#[test]
fn at_most_one_false_alarm_in_100_runs_with_outliers() {
    assert_few_alarms(Scatter::Outliers, 300, 1);
}

#[test]
fn at_most_one_false_alarm_in_100_runs_with_heavy_tails() {
    assert_few_alarms(Scatter::HeavyTails, 300, 1);
}

#[test]
fn at_most_one_false_alarm_in_100_runs_of_six_series_together() {
    assert_few_alarms(Scatter::Normal, 200, 6);
}

#[test]
fn at_most_one_false_alarm_of_six_series_together_with_outliers() {
    assert_few_alarms(Scatter::Outliers, 200, 6);
}

/// Two nodes take turns, one a tenth slower; from the 60th run on there is another baseline, which
/// is twice as fast.
fn explained(run: u32) -> (f64, &'static str) {
    match (run.is_multiple_of(2), run < 60) {
        (true, true) => (0.0, "one node"),
        (true, false) => (0.7, "one node, other baseline"),
        (false, true) => (0.1, "other node"),
        (false, false) => (0.8, "other node, other baseline"),
    }
}

#[test]
fn differences_explained_by_strata_raise_no_more_alarms() {
    let alarms = alarms(Scatter::Normal, 200, 1, explained);
    let name = "runs on nodes that take turns, with a new baseline, that raise an alarm";
    print_figure(name, alarms / 100.0, "at most 1 %");
    assert!(alarms <= 1.0, "{alarms} in 100 runs");
}

/// A lasting change by `factor` after `before` runs.
#[derive(Clone, Copy, Debug)]
struct Planted {
    scatter: Scatter,
    before: u32,
    factor: f64,
    series: usize,
}

impl Planted {
    fn new(before: u32, percent: f64) -> Self {
        Self {
            scatter: Scatter::Normal,
            before,
            factor: 1.0 + percent / 100.0,
            series: 1,
        }
    }

    fn under(self, scatter: Scatter) -> Self {
        Self { scatter, ..self }
    }

    fn among(self, series: usize) -> Self {
        Self { series, ..self }
    }

    /// The detected change after `after` further runs, if it is at most three runs off.
    fn found(self, after: u32, chance: &mut Chance) -> Option<Change> {
        let truth = |run| {
            let size = if run < self.before {
                0.0
            } else {
                self.factor.ln()
            };
            (size, "node")
        };
        let history = history(self.scatter, self.before + after, truth, chance);
        let near = u64::from(self.before.saturating_sub(3))..=u64::from(self.before + 3);
        let mut changes = changes(&history, self.series).into_iter();
        changes.find(|change| {
            near.contains(&change.first)
                && change.found_with >= u64::from(self.before)
                && change.size > 0.0
        })
    }
}

const HISTORIES: u32 = 400;

fn assert_found(planted: Planted, within: u32, least: f64) {
    let mut chance = Chance::new(67);
    let found = (0..HISTORIES).filter(|_| planted.found(within, &mut chance).is_some());
    let share = found.count() as f64 / f64::from(HISTORIES);
    let name = format!("found within {within} runs, {planted:?}");
    print_figure(&name, share, &format!("at least {:.0} %", least * 100.0));
    assert!(share >= least, "{name}: {share}");
}

/// The promise: after 20 runs that scatter by 2 %, a change of 5 % is found within 5 runs.
#[test]
fn a_lasting_change_of_5_percent_is_found_within_5_runs() {
    assert_found(Planted::new(20, 5.0), 5, 0.80);
    assert_found(Planted::new(30, 5.0), 5, 0.85);
    assert_found(Planted::new(20, 5.0), 10, 0.90);
}

#[test]
fn a_lasting_change_of_10_percent_is_found_within_5_runs() {
    assert_found(Planted::new(20, 10.0), 5, 0.95);
    assert_found(Planted::new(10, 10.0), 5, 0.95);
    assert_found(Planted::new(5, 10.0), 5, 0.85);
}

#[test]
fn a_lasting_change_of_3_percent_takes_longer() {
    assert_found(Planted::new(20, 3.0), 5, 0.20);
    assert_found(Planted::new(20, 3.0), 10, 0.55);
    assert_found(Planted::new(30, 3.0), 15, 0.70);
}

#[test]
fn with_less_history_or_more_series_a_change_takes_longer() {
    assert_found(Planted::new(10, 5.0), 5, 0.60);
    assert_found(Planted::new(10, 5.0), 10, 0.85);
    assert_found(Planted::new(30, 5.0).among(6), 5, 0.65);
    assert_found(Planted::new(30, 5.0).among(6), 10, 0.90);
}

#[test]
fn outliers_and_heavy_tails_hide_few_changes() {
    assert_found(Planted::new(20, 5.0).under(Scatter::HeavyTails), 5, 0.80);
    assert_found(Planted::new(20, 5.0).under(Scatter::Outliers), 5, 0.50);
    assert_found(Planted::new(20, 5.0).under(Scatter::Outliers), 10, 0.75);
    assert_found(Planted::new(20, 10.0).under(Scatter::Outliers), 5, 0.85);
}

/// Whether an alarm is raised at or after the 21st run, the only one that is off by `size`.
fn alarmed_by(size: f64, chance: &mut Chance) -> bool {
    let truth = |run| (if run == 20 { size } else { 0.0 }, "node");
    let history = history(Scatter::Normal, 36, truth, chance);
    changes(&history, 1)
        .iter()
        .any(|change| change.found_with >= 20)
}

#[test]
fn a_change_that_reverts_after_one_run_rarely_raises_an_alarm() {
    let share = |size| {
        let mut chance = Chance::new(71);
        let alarmed = (0..600).filter(|_| alarmed_by(size, &mut chance));
        alarmed.count() as f64 / 600.0
    };
    let without = share(0.0);
    for size in [0.05, 0.1, 1.0] {
        let with = share(size);
        let name = format!("16 runs with an alarm where the first is off by {size}");
        let expected = format!("{:.1} % without, and 5 more at most", without * 100.0);
        print_figure(&name, with, &expected);
        assert!(with <= without + 0.05, "{name}: {with}, {expected}");
    }
}

/// For the changes that are found, which are the larger ones: as soon as they are found, and 15
/// runs after the change.
#[test]
fn intervals_of_changes_have_about_95_percent_coverage() {
    for (planted, after) in [
        (Planted::new(20, 5.0), 5),
        (Planted::new(20, 5.0), 15),
        (Planted::new(20, 10.0), 5),
        (Planted::new(10, 5.0), 15),
    ] {
        let mut chance = Chance::new(73);
        let found: Vec<Change> = (0..HISTORIES)
            .filter_map(|_| planted.found(after, &mut chance))
            .collect();
        let truth = planted.factor.ln();
        let holding = |change: &&Change| change.low <= truth && truth <= change.high;
        let held = found.iter().filter(holding).count() as f64 / found.len() as f64;
        let name = format!("intervals of changes that hold their size, {after} runs, {planted:?}");
        print_figure(&name, held, "95 %, and 90 at least");
        assert!(held >= 0.90, "{name}: {held}");
    }
}
