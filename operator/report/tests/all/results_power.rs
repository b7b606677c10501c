//! What a run reports about the differences that it can detect: before it begins, while it goes on,
//! and after it has ended.

use jiff::Timestamp;
use serde_json::{Value, json};
use wasmbench_api::BenchmarkRun;
use wasmbench_api::conditions::{self, TRUSTWORTHY};
use wasmbench_api::status::Power;
use wasmbench_controller::status::{Conclusion, status_of};
use wasmbench_core::observed::{Observed, Scatter};
use wasmbench_core::plan::{Plan, Stage, Wake};
use wasmbench_core::validate::validate;
use wasmbench_report::terminal::status_text;
use wasmbench_results::summary::collect::summarize;
use wasmbench_results::summary::power;

use crate::common;
use crate::results_support::{all_measured, run_with};
use crate::synthetic::{Chance, SyntheticRun};

/// A run of two equals with these additional fields in its spec, waiting for its node.
fn queued(more: &Value) -> BenchmarkRun {
    scattering(more, None)
}

/// The same, whose trials scatter like this so far.
fn scattering(more: &Value, scatter: Option<Scatter>) -> BenchmarkRun {
    let seen = Observed {
        scatter,
        ..Observed::default()
    };
    observed(more, &seen)
}

/// The same, of which this was seen.
fn observed(more: &Value, seen: &Observed) -> BenchmarkRun {
    let mut spec = json!({
        "variants": [{"name": "native", "preset": "native"}, {"name": "equal", "preset": "native"}],
        "workloads": [{"name": "hello"}],
        "sweeps": {"throughput": {"connections": [50]}},
    });
    for (field, value) in more.as_object().unwrap() {
        spec[field] = value.clone();
    }
    let input = run_with(spec);
    let mut run = BenchmarkRun::new(&input.name, input.spec);
    run.metadata.uid = Some(input.uid);
    let valid = validate(&run, &common::config()).unwrap();
    let plan = Plan {
        steps: vec![],
        stage: Stage::Queued {
            message: "waiting".into(),
        },
        node: None,
        completed: 0,
        wake: Wake::OnChange,
    };
    let now = Timestamp::UNIX_EPOCH;
    run.status = Some(status_of(&run, &valid, seen, &plan, None, now));
    run
}

fn expected(more: &Value) -> Option<Power> {
    queued(more).status.unwrap().power
}

#[test]
fn a_run_reports_what_it_is_expected_to_find_before_it_begins() {
    let power = expected(&json!({"blocks": 30})).unwrap();
    assert_eq!(power.assumed_scatter, Some(0.04));
    let smallest = power.smallest_difference.unwrap();
    assert!((0.02..0.05).contains(&smallest), "{power:?}");
    assert_eq!(
        power.message,
        "expected: with 30 blocks, where trials scatter by 4 %, 80 of 100 runs find a difference of 3.8 %"
    );
    let text = status_text(&queued(&json!({"blocks": 30})));
    assert!(text.contains("\nPower: expected: with 30 blocks"), "{text}");
}

#[test]
fn a_run_reports_from_its_third_block_on_what_its_own_scatter_lets_it_find() {
    let power = |share| {
        let scatter = Some(Scatter { blocks: 3, share });
        let run = scattering(&json!({"blocks": 10}), scatter);
        run.status.unwrap().power.unwrap()
    };
    let noisy = power(Some(0.08));
    assert_eq!((noisy.scatter, noisy.blocks), (Some(0.08), Some(3)));
    assert_eq!(noisy.assumed_scatter, None);
    let smallest = noisy.smallest_difference.unwrap();
    assert!((0.10..0.13).contains(&smallest), "{noisy:?}");
    let expected = "with 10 blocks, where trials scatter by 8 % as in the first 3, 80 of 100 runs";
    assert!(noisy.message.contains(expected), "{noisy:?}");
    assert!(
        power(Some(0.02)).smallest_difference < noisy.smallest_difference,
        "less scatter finds more"
    );
    // Starts alone show no scatter of ratios.
    let unknown = power(None);
    assert_eq!((unknown.scatter, unknown.blocks), (None, Some(3)));
    assert_eq!(unknown.assumed_scatter, Some(0.04));
}

#[test]
fn what_speaks_against_a_run_so_far_is_in_its_status_from_which_it_is_read_again() {
    let doubts = "after 2 block(s):\nNodeNoisy: native on hello. What to do: move other pods away.";
    let seen = Observed {
        doubts: Some(doubts.to_owned()),
        ..Observed::default()
    };
    let conditions_of = |run: BenchmarkRun| run.status.unwrap().conditions;
    let found = conditions_of(observed(&json!({"blocks": 10}), &seen));
    assert_eq!(conditions::doubts_so_far(&found), Some(doubts));
    let mut trust = found.iter().filter(|one| one.type_ == TRUSTWORTHY);
    assert_eq!(trust.next().unwrap().status, "Unknown", "it may pass");
    let without = conditions_of(queued(&json!({"blocks": 10})));
    assert_eq!(conditions::doubts_so_far(&without), None);
}

#[test]
fn the_first_three_blocks_of_a_run_with_a_twin_show_its_scatter() {
    let mut input = run_with(json!({
        "blocks": 6,
        "variants": [{"name": "native", "preset": "native"}, {"name": "equal", "preset": "native"}],
        "workloads": [{"name": "hello"}],
        "sweeps": {"throughput": {"connections": [50]}},
    }));
    let mut records = all_measured(&input);
    let whole = summarize(&input, &records);
    input.spec.blocks = 3;
    input.spec.noise_floor = Some(true);
    let first = summarize(&input, &records);
    records.retain(|record| record.trial.block <= 3);
    assert_eq!(summarize(&input, &records).comparisons, first.comparisons);
    for summary in [&first, &whole] {
        assert!(!summary.noise_floors.is_empty(), "the twin is left out");
        let scatter = power::scatter(summary).unwrap();
        assert!((0.0..0.5).contains(&scatter), "{scatter}");
    }
    records.retain(|record| record.trial.block <= 2);
    assert_eq!(power::scatter(&summarize(&input, &records)), None);
}

#[test]
fn a_run_too_short_to_decide_equals_reports_it_before_it_begins() {
    for (more, remedy) in [
        (json!({"blocks": 10}), "raise spec.blocks or "),
        (
            json!({"precision": {"maxBlocks": 12}}),
            "raise spec.precision.maxBlocks or ",
        ),
    ] {
        let message = expected(&more).unwrap().message;
        assert!(message.contains("equals take 1"), "{message}");
        assert!(message.contains(remedy), "{message}");
    }
    let enough = expected(&json!({"precision": {"maxBlocks": 30}})).unwrap();
    assert!(
        enough.message.contains("with 10 to 30 blocks"),
        "{enough:?}"
    );
    assert!(!enough.message.contains("undecided"), "{enough:?}");
    let one_block = expected(&json!({"blocks": 1})).unwrap();
    assert_eq!(one_block.smallest_difference, None);
    assert!(
        one_block.message.contains("raise spec.blocks"),
        "{one_block:?}"
    );
}

#[test]
fn a_run_without_comparisons_finds_nothing() {
    let one_variant = json!({"variants": [{"name": "native", "preset": "native"}]});
    assert_eq!(expected(&one_variant), None);
}

#[test]
fn a_finished_run_reports_what_its_own_scatter_lets_it_find() {
    let input = run_with(json!({
        "blocks": 6,
        "variants": [{"name": "native", "preset": "native"}, {"name": "equal", "preset": "native"}],
        "workloads": [{"name": "hello"}, {"name": "fib"}],
        "sweeps": {"throughput": {"connections": [50]}},
    }));
    let summary = summarize(&input, &all_measured(&input));
    let own = Conclusion::from_summary(&summary, vec![]).power.unwrap();
    assert_eq!(own.assumed_scatter, None);
    assert_eq!(own.scatter, power::scatter(&summary));
    assert_eq!(own.blocks, own.scatter.map(|_| 6));
    let primary = summary.comparisons.iter().filter(|one| one.primary);
    let found: Vec<f64> = primary.filter_map(|one| one.smallest_found).collect();
    assert_eq!(found.len(), 2);
    let worst = found.into_iter().fold(1.0, f64::max) - 1.0;
    assert!((own.smallest_difference.unwrap() - worst).abs() < 1e-9);
    for workload in ["; hello: CPU per request ", "; fib: CPU per request "] {
        assert!(own.message.contains(workload), "{own:?}");
    }
}

#[test]
fn trials_scatter_no_more_because_a_pilot_chose_how_many_there_are() {
    let cells = SyntheticRun::new(20, 0.03, 1.1).measure(&mut Chance::new(7));
    let scatter = |pilot| power::scatter_of(&cells.planned(20, pilot), false).unwrap();
    let times = scatter(Some(8)) / scatter(None);
    assert!((times - 1.0).abs() < 0.05, "{times}");
}
