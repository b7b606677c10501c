//! Do intervals of capacities contain the truth? Synthetic climbs of subjects whose p99 at every rate is
//! known, wherever on the ladder they cross the target, with noise at the crossing, with rungs that were
//! disturbed, and beyond either end of the ladder.

use wasmbench_model::ladder;
use wasmbench_model::wire::document::{Rung, TimedWindow};
use wasmbench_model::wire::open_loop::{OpenLoopWindow, Quantiles};
use wasmbench_model::wire::request::Target;
use wasmbench_results::statistics::{Bounded, BoundedSpread, OneSided};

use crate::synthetic::{Chance, print_figure};

/// What the baseline can do at most, in requests per second; its scout finds it.
const PEAK: f64 = 400.0;
/// Connections of the load.
const CONNECTIONS: u32 = 50;
/// Seconds of a window.
const SECONDS: u32 = 10;
const RUNS: u32 = 400;

/// How climbs are disturbed, and which rungs they have.
#[derive(Clone, Copy)]
struct Climbs {
    blocks: u32,
    /// What the variant can do at most, as a multiple of the baseline's.
    ratio: f64,
    /// How the p99 of the variant and of the baseline grow.
    shapes: [Shape; 2],
    /// The target, in milliseconds.
    target: f64,
    /// The share of rungs whose p99 is five times what it should be.
    disturbed: f64,
}

impl Climbs {
    const fn new(blocks: u32, ratio: f64) -> Self {
        Self {
            blocks,
            ratio,
            shapes: [QUEUE; 2],
            target: 50.0,
            disturbed: 0.02,
        }
    }

    fn target(&self) -> Target {
        Target {
            p99_microseconds: self.target * 1e3,
            max_error_share: 0.0,
        }
    }

    /// The ratio of the rates at which the two subjects cross the target.
    fn truth(&self) -> f64 {
        let [variant, baseline] = self.shapes;
        crossing(variant, PEAK * self.ratio, self.target) / crossing(baseline, PEAK, self.target)
    }

    /// What a run shows of the ratio. A trial can do 2 % more or less than another, a block too, and the p99
    /// of a rung scatters by 15 %.
    fn run(&self, chance: &mut Chance) -> Option<Bounded> {
        let blocks = (1..=self.blocks).map(|_| {
            let rates = ladder::around(PEAK);
            let day = (0.02 * chance.normal()).exp();
            let [variant, baseline] = self.shapes;
            let mut climb = |shape: Shape, most: f64| {
                let most = most * day * (0.02 * chance.normal()).exp();
                let rungs = self.climb(shape, &rates, most, chance);
                ladder::capacity(&rungs, self.target())
                    .expect("rungs")
                    .ends()
            };
            let value = climb(variant, PEAK * self.ratio);
            let base = climb(baseline, PEAK);
            [value[0] / base[1], value[1] / base[0]]
        });
        Bounded::from_ratios(&blocks.collect::<Vec<[f64; 2]>>())
    }

    /// The share of runs whose interval of the baseline's capacity contains the truth.
    fn coverage_of_the_baseline(&self) -> f64 {
        let mut chance = Chance::new(u64::from(self.blocks));
        let [_, shape] = self.shapes;
        let truth = crossing(shape, PEAK, self.target);
        let mut holds = 0;
        for _ in 0..RUNS {
            let ends = (0..self.blocks).map(|_| {
                let most = PEAK * (0.03 * chance.normal()).exp();
                let rungs = self.climb(shape, &ladder::around(PEAK), most, &mut chance);
                let capacity = ladder::capacity(&rungs, self.target());
                capacity.expect("rungs").ends()
            });
            let found = BoundedSpread::from_ends(&ends.collect::<Vec<[f64; 2]>>());
            let [low, high] = [found.low, found.high].map(|end| end.expect("on the ladder"));
            holds += u32::from((low..=high).contains(&truth));
        }
        f64::from(holds) / f64::from(RUNS)
    }

    fn climb(&self, shape: Shape, rates: &[f64], most: f64, chance: &mut Chance) -> Vec<Rung> {
        let mut measured = |rps: f64| {
            let is_hit = chance.uniform() < self.disturbed;
            let noise = (0.15 * chance.normal()).exp() * if is_hit { 5.0 } else { 1.0 };
            rung(rps, shape.p99(rps, most) * noise)
        };
        let mut rungs = vec![];
        for rps in rates {
            rungs.push(measured(*rps));
            if ladder::is_over(&ladder::outcomes(&rungs, self.target())) {
                break;
            }
        }
        for _ in 0..ladder::BETWEEN {
            let Some(rps) = ladder::between(&rungs, self.target()) else {
                break;
            };
            let place = rungs.partition_point(|other| other.requested_rps < rps);
            rungs.insert(place, measured(rps));
        }
        rungs
    }

    /// The share of runs whose known ends do not exclude the truth, and the share that know one end only.
    fn coverage(&self) -> (f64, f64) {
        let mut chance = Chance::new(u64::from(self.blocks));
        let truth = self.truth().ln();
        let (mut holds, mut one_sided) = (0, 0);
        for _ in 0..RUNS {
            // Without either end, nothing is compared, and nothing said.
            let Some(found) = self.run(&mut chance) else {
                holds += 1;
                continue;
            };
            let (low, high) = (
                found.interval.low().expect("one"),
                found.interval.high().expect("one"),
            );
            let is_below = found.bound != Some(OneSided::AtMost) && truth < low;
            let is_above = found.bound != Some(OneSided::AtLeast) && truth > high;
            holds += u32::from(!is_below && !is_above);
            one_sided += u32::from(found.bound.is_some());
        }
        let share = |count: u32| f64::from(count) / f64::from(RUNS);
        (share(holds), share(one_sided))
    }
}

/// How a subject's p99 grows with the rate.
#[derive(Clone, Copy, Debug)]
enum Shape {
    /// Answers take so many milliseconds and wait for each other as the subject fills up; above what it
    /// can do, the queue grows for as long as the window lasts.
    Queues(f64),
    /// The same, but nothing waits below.
    Knee(f64),
    /// Nothing waits, and what is too much is refused.
    Sheds(f64),
}

const QUEUE: Shape = Shape::Queues(10.0);

impl Shape {
    /// The p99 in milliseconds at a rate, of a subject that can do `most`; infinite where requests fail.
    fn p99(self, rps: f64, most: f64) -> f64 {
        let load = rps / most;
        let (answer, waits) = match self {
            Self::Queues(answer) => (answer, 0.2 * load.min(1.0) / (1.02 - load.min(1.0))),
            Self::Knee(answer) | Self::Sheds(answer) => (answer, 0.0),
        };
        let below = answer * (1.0 + waits);
        if load <= 1.0 {
            return below;
        }
        if matches!(self, Self::Sheds(_)) {
            return f64::INFINITY;
        }
        let seconds = f64::from(ladder::seconds(rps, CONNECTIONS, SECONDS));
        below + 990.0 * seconds * (1.0 - 1.0 / load)
    }
}

/// The rate at which the p99 reaches a target.
fn crossing(shape: Shape, most: f64, target: f64) -> f64 {
    let (mut low, mut high) = (0.1 * most, 3.0 * most);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if shape.p99(middle, most) > target {
            high = middle;
        } else {
            low = middle;
        }
    }
    low
}

fn rung(rps: f64, p99_milliseconds: f64) -> Rung {
    let open_loop = OpenLoopWindow {
        requested_rps: rps,
        requests: 10_000,
        failed: if p99_milliseconds.is_finite() {
            0
        } else {
            1000
        },
        from_schedule: Quantiles {
            p99_microseconds: p99_milliseconds * 1e3,
            ..Quantiles::default()
        },
        ..OpenLoopWindow::default()
    };
    Rung {
        requested_rps: rps,
        between: false,
        window: Some(TimedWindow {
            open_loop: Some(open_loop),
            ..TimedWindow::default()
        }),
    }
}

/// Prints the share of intervals that contain the truth, and asserts that it is at least this one.
fn assert_covers(name: &str, share: f64, least: f64) {
    print_figure(name, share, &format!("{:.0} % or more", 100.0 * least));
    assert!(share >= least, "{name}: {share}");
}

#[test]
fn intervals_of_a_capacity_contain_the_truth_wherever_between_two_rungs_it_lies() {
    for blocks in [5, 10, 20] {
        for ratio in [0.6, 0.74, 0.8, 0.9, 1.0] {
            for target in [50.0, 300.0] {
                let climbs = Climbs {
                    target,
                    ..Climbs::new(blocks, ratio)
                };
                let (share, _) = climbs.coverage();
                let name = format!("capacity {ratio}x at {target} ms, {blocks} blocks");
                assert_covers(&name, share, 0.9);
            }
        }
    }
}

/// One subject queues long before it is full, another one only then, a third one refuses what is too much.
#[test]
fn intervals_contain_the_truth_of_subjects_whose_latency_grows_differently() {
    for variant in [
        Shape::Queues(2.0),
        Shape::Queues(40.0),
        Shape::Knee(2.0),
        Shape::Knee(10.0),
        Shape::Sheds(2.0),
        Shape::Sheds(10.0),
    ] {
        for target in [50.0, 300.0] {
            for blocks in [5, 10, 20] {
                let climbs = Climbs {
                    target,
                    shapes: [variant, QUEUE],
                    ..Climbs::new(blocks, 0.9)
                };
                let (share, _) = climbs.coverage();
                let name =
                    format!("capacity, {variant:?} and {QUEUE:?} at {target} ms, {blocks} blocks");
                assert_covers(&name, share, 0.88);
            }
        }
    }
}

#[test]
fn intervals_of_one_capacity_contain_the_truth() {
    for baseline in [QUEUE, Shape::Knee(2.0), Shape::Sheds(10.0)] {
        for target in [50.0, 300.0] {
            for blocks in [6, 10, 20] {
                let climbs = Climbs {
                    target,
                    shapes: [QUEUE, baseline],
                    ..Climbs::new(blocks, 1.0)
                };
                let share = climbs.coverage_of_the_baseline();
                let name = format!("capacity of {baseline:?} at {target} ms, {blocks} blocks");
                assert_covers(&name, share, 0.9);
            }
        }
    }
}

#[test]
fn a_p99_that_is_not_monotonous_costs_no_coverage() {
    let climbs = Climbs {
        disturbed: 0.1,
        ..Climbs::new(10, 0.74)
    };
    let (share, _) = climbs.coverage();
    print_figure("capacity, one rung in ten disturbed", share, "93 % or more");
    assert!(share >= 0.93, "{share}");
}

#[test]
fn known_ends_hold_where_blocks_lie_beyond_either_end_of_the_ladder() {
    for ratio in [1.15, 1.2, 1.3, 2.0, 0.4, 0.35, 0.33, 0.3, 0.25] {
        for blocks in [5, 10, 20] {
            let (share, one_sided) = Climbs::new(blocks, ratio).coverage();
            let name = format!("capacity {ratio}x beyond the ladder, {blocks} blocks");
            print_figure(&name, share, "91 % or more");
            print_figure(
                &format!("{name}, one end known"),
                one_sided,
                "as many as there are",
            );
            assert!(share >= 0.91, "{name}: {share}");
        }
    }
}

#[test]
fn far_beyond_the_ladder_one_end_is_known_and_decides() {
    let mut chance = Chance::new(3);
    for (ratio, bound) in [(2.0, OneSided::AtLeast), (0.2, OneSided::AtMost)] {
        let mut is_known = || {
            let found = Climbs::new(5, ratio).run(&mut chance);
            found.is_some_and(|found| found.bound == Some(bound) && found.interval.p_value < 0.05)
        };
        let decided = (0..RUNS).filter(|_| is_known()).count() as f64 / f64::from(RUNS);
        print_figure(
            &format!("far beyond the ladder, {ratio}x, decided"),
            decided,
            "98 % or more",
        );
        // Two disturbed rungs in a row end a climb far too low.
        assert!(decided >= 0.98, "{ratio}: {decided}");
    }
}
