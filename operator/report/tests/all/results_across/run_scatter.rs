//! What two runs say if every variant shifts a little on its own from run to run, and if the cluster
//! becomes faster between them: simulated runs with a known truth.

use serde_json::json;
use wasmbench_api::run::RunScatter;
use wasmbench_report::across::InWords as _;
use wasmbench_results::cells::coldstart::ColdBlock;
use wasmbench_results::judge::verdict::Verdict;
use wasmbench_results::runs::across::{Across, CellRatio, Side, across};
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::collect::{RunInput, summarize};
use wasmbench_results::vocabulary::measure::Metric;

use crate::results_support::{all_measured, cold_starts, run_with};
use crate::synthetic::{Chance, print_figure};

/// Pairs of runs in each simulation.
const PAIRS: u32 = 400;

/// How the logarithms of trials scatter, as a standard deviation.
const TRIAL: f64 = 0.03;

/// A run with twelve ratios: rate and CPU per request of three variants under two workloads.
fn of_twelve() -> RunInput {
    run_with(json!({
        "blocks": 10,
        "noiseFloor": false,
        "variants": [{"name": "native"}, {"name": "one"}, {"name": "two"}, {"name": "three"}],
        "workloads": [{"name": "hello", "path": "/"}, {"name": "compute", "path": "/compute?iters=20000"}],
        "sweeps": {"throughput": {"connections": [10], "durationSeconds": 2}},
    }))
}

/// A run like this one, in which each ratio has shifted on its own by `own`, a standard deviation.
/// The CPU per request of `one` on `hello` is `factor` times as much.
fn shifted(like: &Summary, chance: &mut Chance, own: f64, factor: f64) -> Summary {
    let mut run = like.clone();
    let day = 0.02 * chance.normal();
    for cell in &mut run.cells {
        let is_changed = (cell.variant.as_str(), cell.workload.as_str()) == ("one", "hello");
        let changed = if is_changed { factor.ln() } else { 0.0 };
        let own = if cell.variant == run.baseline {
            0.0
        } else {
            own
        };
        let [rate, cpu] = [0.0, changed].map(|more| day + more + own * chance.normal());
        for trial in &mut cell.detail.trials {
            let metrics = &mut trial.metrics;
            metrics.rps = Some(10_000.0 / (rate + TRIAL * chance.normal()).exp());
            metrics.cpu = Some(50.0 * (cpu + TRIAL * chance.normal()).exp());
            metrics.memory = None;
        }
    }
    run
}

fn compared(input: &RunInput, runs: [&Summary; 2], stated: RunScatter) -> Across {
    let [before, after] = runs;
    let side = |summary| Side {
        spec: &input.spec,
        summary,
    };
    across(&[side(before)], side(after), None, stated, true)
}

fn share_of_pairs(mut holds: impl FnMut(&mut Chance) -> bool) -> f64 {
    let mut chance = Chance::new(39);
    let held = (0..PAIRS).filter(|_| holds(&mut chance)).count();
    held as f64 / f64::from(PAIRS)
}

/// The share of pairs of runs in which something is called worse, so that `compare` exits with 4,
/// where each ratio shifts on its own by `own` and one is `factor` times as large as before.
fn closed_gates(own: f64, factor: f64, stated: RunScatter) -> f64 {
    let input = of_twelve();
    let like = summarize(&input, &all_measured(&input));
    share_of_pairs(|chance| {
        let mut run = |factor| shifted(&like, chance, own, factor);
        let found = compared(&input, [&run(1.0), &run(factor)], stated);
        assert_eq!(
            (found.judged(), found.run_scatter),
            (12, Some(stated.share()))
        );
        found.worse() > 0
    })
}

#[test]
fn equal_runs_whose_variants_shift_on_their_own_rarely_close_a_gate() {
    for own in [0.01, 0.02, 0.035] {
        let percent = own * 100.0;
        let name = format!("equal runs of 12 ratios called worse, each shifts by {percent:.1} %");
        let share = closed_gates(own, 1.0, RunScatter::default());
        print_figure(&name, share, "at most 5 %");
        assert!(share <= 0.05, "{own}: {share}");
        let trusting = closed_gates(own, 1.0, RunScatter::NONE);
        print_figure(
            &format!("{name}, 0 % stated"),
            trusting,
            "hence a stated scatter",
        );
        assert!(own < 0.03 || trusting >= 0.2, "{own}: {trusting}");
    }
}

/// The change of CPU per request that is planted.
fn planted(ratio: &CellRatio) -> bool {
    let place = (ratio.variant.as_str(), ratio.workload.as_str());
    place == ("one", "hello") && ratio.metric == Metric::CpuPerRequest
}

#[test]
fn the_smallest_change_that_is_printed_is_found_in_four_of_five_pairs() {
    let input = of_twelve();
    let like = summarize(&input, &all_measured(&input));
    for percent in ["0%", "2%", "3.5%"] {
        let stated = RunScatter::parse(percent).unwrap();
        let mut sizes = vec![];
        share_of_pairs(|chance| {
            let mut run = || shifted(&like, chance, stated.share(), 1.0);
            let found = compared(&input, [&run(), &run()], stated);
            let ratio = found.ratios.iter().find(|one| planted(one)).unwrap();
            sizes.push(ratio.smallest_found.unwrap().ln());
            true
        });
        let smallest = (sizes.iter().sum::<f64>() / sizes.len() as f64).exp();
        let share = share_of_pairs(|chance| {
            let mut run = |factor| shifted(&like, chance, stated.share(), factor);
            let found = compared(&input, [&run(1.0), &run(smallest)], stated);
            let ratio = found.ratios.iter().find(|one| planted(one)).unwrap();
            ratio.verdict == Some(Verdict::Larger)
        });
        let more = (smallest - 1.0) * 100.0;
        let name = format!("a change of {more:.1} % among 12 ratios found, {percent} stated");
        print_figure(&name, share, "73 to 88 %");
        assert!((0.73..=0.88).contains(&share), "{name}: {share}");
    }
}

#[test]
fn a_comparison_says_with_which_scatter_it_was_judged_and_what_it_finds() {
    let input = of_twelve();
    let like = summarize(&input, &all_measured(&input));
    let mut chance = Chance::new(3);
    let mut run = || shifted(&like, &mut chance, 0.0, 1.0);
    let found = compared(&input, [&run(), &run()], RunScatter::default());
    let text = found.text();
    let expected = "Judged with a scatter of 3.5 % between runs (--run-scatter).\n80 of 100 such comparisons find a \
                    change of this size: throughput ";
    assert!(text.contains(expected), "{text}");
    assert!(text.contains(" %, CPU per request "), "{text}");
    // The spec of the later run states it, unless the command line does.
    let mut spec = input.spec.clone();
    assert_eq!(spec.run_scatter(), RunScatter::default());
    spec.run_scatter = Some("2%".into());
    assert_eq!(spec.run_scatter().to_string(), "2%");
}

/// A run of equals like this one, on pods of two kinds: one in ten takes 8 % more.
fn of_two_kinds(like: &Summary, chance: &mut Chance) -> Summary {
    let mut run = like.clone();
    let cells = run.cells.iter_mut();
    for trial in cells.flat_map(|cell| &mut cell.detail.trials) {
        let mut longer = || {
            let slower = if chance.uniform() < 0.1 { 0.08 } else { 0.0 };
            f64::exp(slower + 0.01 * chance.normal())
        };
        let metrics = &mut trial.metrics;
        metrics.rps = Some(10_000.0 / longer());
        metrics.cpu = Some(50.0 * longer());
        metrics.memory = None;
    }
    run
}

/// The mean of two skewed numbers is skewed less than either: if the ratio were that to the mean of
/// baseline and twin, all variants would be 0.2 % faster in the run that has a twin.
#[test]
fn a_twin_in_one_of_two_runs_makes_no_variant_faster() {
    let mut input = of_twelve();
    input.spec.blocks = 20;
    let without = summarize(&input, &all_measured(&input));
    input.spec.noise_floor = Some(true);
    let with_twin = summarize(&input, &all_measured(&input));
    let mut longer = vec![];
    share_of_pairs(|chance| {
        let mut run = |like: &Summary| of_two_kinds(like, chance);
        let found = compared(&input, [&run(&without), &run(&with_twin)], RunScatter::NONE);
        let ratios = found.ratios.iter().filter(|ratio| ratio.is_of_baseline);
        longer.extend(ratios.map(|ratio| {
            let is_rate = ratio.metric == Metric::ThroughputRps;
            ratio.ratio.ln() * if is_rate { -1.0 } else { 1.0 }
        }));
        true
    });
    assert_eq!(longer.len(), 12 * PAIRS as usize);
    let mean = longer.iter().sum::<f64>() / longer.len() as f64;
    assert!(mean.abs() < 0.0009, "{mean}");
}

/// What a variant's starts take beyond the baseline's, in microseconds.
const MORE: f64 = 120_000.0;

/// A run of cold starts like this one: the baseline's pods start in 300 ms, times `cluster`, and the
/// variant's that much and `more` microseconds later.
fn started(like: &Summary, chance: &mut Chance, trial: f64, cluster: f64, more: f64) -> Summary {
    let mut run = like.clone();
    for cell in &mut run.cold_starts {
        let own = if cell.variant == run.baseline {
            0.0
        } else {
            more
        };
        let known = cell.detail.blocks[0].clone();
        let mut start = || Some((300_000.0 * cluster + own) * (trial * chance.normal()).exp());
        let block = |block| ColdBlock {
            block,
            listening: start(),
            answer: start(),
            ..known.clone()
        };
        cell.detail.blocks = (1..=10).map(block).collect();
    }
    run
}

fn of_starts() -> (RunInput, Summary) {
    let mut input = cold_starts::input();
    input.spec.blocks = 10;
    let mut like = summarize(&input, &cold_starts::records());
    like.cold_starts.retain(|cell| cell.detail.concurrency == 1);
    (input, like)
}

#[test]
fn a_faster_or_slower_cluster_makes_no_variant_start_later() {
    let (input, like) = of_starts();
    // With or without a stated scatter: a shift of the whole cluster cancels in the difference.
    let worlds = [(0.03, 0.9), (0.05, 0.9), (0.03, 1.1), (0.03, 0.7)];
    let all = worlds.map(|world| [(world, RunScatter::NONE), (world, RunScatter::default())]);
    for ((trial, cluster), stated) in all.into_iter().flatten() {
        let mut sooner = 0;
        let later = share_of_pairs(|chance| {
            let mut run = |cluster| started(&like, chance, trial, cluster, MORE);
            let found = compared(&input, [&run(1.0), &run(cluster)], stated);
            assert_eq!(found.judged(), 2, "{:?}", found.ratios);
            sooner += u32::from(found.better() > 0);
            found.worse() > 0
        });
        let name = format!(
            "starts called later, and sooner, on a cluster that takes {cluster} times as long, {:.0} % noise, {stated} stated",
            trial * 100.0
        );
        for share in [later, f64::from(sooner) / f64::from(PAIRS)] {
            print_figure(&name, share, "at most 5 %");
            assert!(share <= 0.05, "{name}: {share}");
        }
    }
}

#[test]
fn a_variant_that_starts_100_ms_later_is_found_and_reported_in_milliseconds() {
    let (input, like) = of_starts();
    let share = share_of_pairs(|chance| {
        let mut run = |cluster, more| started(&like, chance, TRIAL, cluster, more);
        let runs = [&run(1.0, MORE), &run(0.9, MORE + 100_000.0)];
        let found = compared(&input, runs, RunScatter::default());
        let start = found.ratios.iter().find(|ratio| ratio.verdict.is_some());
        let start = start.expect("starts are judged");
        let difference = start.difference.expect("by their difference");
        assert!(
            (difference.value - 100_000.0).abs() < 40_000.0,
            "{difference:?}"
        );
        let text = found.text();
        assert!(
            text.contains(" ms (+") && text.contains("+1") && text.contains(" ms -> "),
            "{text}"
        );
        found.worse() > 0
    });
    print_figure(
        "starts 100 ms later found on a faster cluster, 3 % noise",
        share,
        "at least 95 %",
    );
    assert!(share >= 0.95, "{share}");
}
