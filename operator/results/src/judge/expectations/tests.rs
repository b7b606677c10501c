//! Tests of how bounds and intervals decide an expectation.

use serde_json::{Value, json};
use wasmbench_model::wire::open_loop::Rate;

use super::*;
use crate::judge::comparison::{Difference, Estimate};
use crate::judge::verdict::Verdict;

fn outcome_of(bounds: &Value, interval: Option<(f64, f64)>) -> Fulfilment {
    decided(bounds, found(interval)).outcome
}

fn decided(bounds: &Value, comparison: Comparison) -> Decision {
    let mut expectation = json!({
        "name": "gate", "metric": "memory", "variant": "one", "workload": "hello",
    });
    for (field, value) in bounds.as_object().unwrap() {
        expectation[field] = value.clone();
    }
    let expectation = serde_json::from_value(expectation).unwrap();
    decision(None, 1, &expectation, &[comparison])
}

fn found(interval: Option<(f64, f64)>) -> Comparison {
    Comparison {
        variant: "one".into(),
        workload: "hello".into(),
        metric: Metric::Memory,
        point: Point::WarmLatency,
        estimate: Estimate {
            ratio: 1.0,
            low: interval.map(|(low, _)| low),
            high: interval.map(|(_, high)| high),
            bound: None,
            blocks: 5,
            censored_blocks: 0,
            pilot_blocks: None,
            per_block: vec![],
        },
        difference: None,
        p_value: 1.0,
        adjusted_p_value: 1.0,
        noise_floor: None,
        verdict: Verdict::Inconclusive,
        primary: true,
        untrusted: vec![],
        at_least: None,
        smallest_found: None,
    }
}

#[test]
fn the_end_of_the_interval_decides_not_the_estimate() {
    let least = json!({"atLeast": "0.8"});
    assert_eq!(outcome_of(&least, Some((0.81, 0.9))), Fulfilment::Met);
    assert_eq!(outcome_of(&least, Some((0.79, 1.2))), Fulfilment::Undecided);
    assert_eq!(outcome_of(&least, Some((0.7, 0.79))), Fulfilment::NotMet);
}

#[test]
fn both_bounds_must_hold() {
    let both = json!({"atLeast": "0.8", "atMost": "1.2"});
    assert_eq!(outcome_of(&both, Some((0.8, 1.2))), Fulfilment::Met);
    assert_eq!(outcome_of(&both, Some((0.9, 1.3))), Fulfilment::Undecided);
    assert_eq!(outcome_of(&both, Some((1.3, 1.4))), Fulfilment::NotMet);
}

/// A comparison of which only one end is known.
fn bounded(bound: OneSided, ratio: f64, end: f64) -> Comparison {
    let comparison = found(None);
    Comparison {
        metric: Metric::Capacity,
        point: Point::Capacity,
        estimate: Estimate {
            ratio,
            low: Some(end),
            high: Some(end),
            ..comparison.estimate.clone()
        }
        .within(Some(bound), 3),
        ..comparison
    }
}

#[test]
fn one_known_end_decides_what_lies_on_its_side() {
    let decide = |bounds: Value, comparison| decided(&bounds_on("capacity", &bounds), comparison);
    let at_least = || bounded(OneSided::AtLeast, 2.2, 2.1);
    let outcome = |bounds: Value| decide(bounds, at_least()).outcome;
    assert_eq!(outcome(json!({"atLeast": "2"})), Fulfilment::Met);
    assert_eq!(outcome(json!({"atLeast": "2.5"})), Fulfilment::Undecided);
    assert_eq!(outcome(json!({"atMost": "2"})), Fulfilment::NotMet);
    assert_eq!(outcome(json!({"atMost": "3"})), Fulfilment::Undecided);
    let message = decide(json!({"atLeast": "2"}), at_least()).message;
    assert!(message.ends_with("it is at least 2.10x"), "{message}");
    let at_most = bounded(OneSided::AtMost, 0.45, 0.5);
    let gate = decide(json!({"atLeast": "0.9"}), at_most);
    assert_eq!(gate.outcome, Fulfilment::NotMet);
}

/// A comparison of starts, or of another measure that is judged by its difference.
fn differs(metric: Metric, value: f64, (low, high): (f64, f64)) -> Comparison {
    Comparison {
        metric,
        difference: Some(Difference {
            value,
            low: Some(low),
            high: Some(high),
            smallest: 10_000.0,
            at_least: None,
            smallest_found: None,
        }),
        // The ratio decides nothing.
        ..found(Some((0.1, 0.1)))
    }
}

#[test]
fn starts_are_expected_in_milliseconds_whatever_their_ratio() {
    let decide = |bounds: Value| {
        let bounds = bounds_on("coldStartListening", &bounds);
        let comparison = differs(Metric::ColdStartListening, 18e3, (17e3, 19e3));
        decided(&bounds, comparison)
    };
    let outcome = |bounds| decide(bounds).outcome;
    assert_eq!(outcome(json!({"atMost": "20ms"})), Fulfilment::Met);
    assert_eq!(outcome(json!({"atMost": "18ms"})), Fulfilment::Undecided);
    assert_eq!(outcome(json!({"atMost": "-5ms"})), Fulfilment::NotMet);
    let message = decide(json!({"atMost": "20ms", "atLeast": "-5ms"})).message;
    let expected = "must be at least -5.00 ms and at most +20.0 ms relative to the baseline's: it is +18.0 ms \
                    (+17.0 ms to +19.0 ms)";
    assert!(message.contains(expected), "{message}");
    // A ratio is no bound on a start.
    assert_eq!(outcome(json!({"atMost": "9"})), Fulfilment::Undecided);
}

#[test]
fn the_share_that_succeeds_is_expected_in_points() {
    let decide = |least: &str| {
        let bounds = bounds_on("succeeded", &json!({"atLeast": least}));
        decided(
            &bounds,
            differs(Metric::Succeeded, -0.002, (-0.003, -0.001)),
        )
    };
    assert_eq!(decide("-0.5%").outcome, Fulfilment::Met);
    assert_eq!(decide("-0.05%").outcome, Fulfilment::NotMet);
    let message = decide("-0.5%").message;
    assert!(message.contains("at least -0.50 points"), "{message}");
}

fn bounds_on(metric: &str, bounds: &Value) -> Value {
    let mut bounds = bounds.clone();
    bounds["metric"] = json!(metric);
    bounds
}

#[test]
fn nothing_is_decided_without_an_interval_or_a_comparison() {
    assert_eq!(
        outcome_of(&json!({"atMost": "9"}), None),
        Fulfilment::Undecided
    );
    let other = json!({"atMost": "9", "variant": "other"});
    assert_eq!(outcome_of(&other, Some((1.0, 1.0))), Fulfilment::Undecided);
}

#[test]
fn the_highest_of_several_rates_decides_even_if_it_is_invalid() {
    let expectation = json!({
        "name": "tail", "metric": "openLoopP99", "variant": "one", "workload": "hello",
        "atMost": "1.2",
    });
    let expectation = serde_json::from_value(expectation).unwrap();
    let at = |rps| Point::OpenLoop {
        rate: Rate::Rps(rps),
    };
    let between = |rps, ends| Comparison {
        metric: Metric::OpenLoopP99,
        point: at(rps),
        ..found(Some(ends))
    };
    let both = [between(200, (1.0, 1.1)), between(500, (1.5, 1.6))];
    let highest = at(500);
    let decided = |comparisons| decision(Some(highest), 1, &expectation, comparisons);
    assert_eq!(decided(&both).outcome, Fulfilment::NotMet);
    assert!(decided(&both).message.contains("at 500 requests/s"));
    assert_eq!(decided(&both[..1]).outcome, Fulfilment::Undecided);
}

#[test]
fn one_expectation_that_is_not_met_decides_for_all() {
    let decision = |outcome| Decision {
        name: String::new(),
        outcome,
        message: String::new(),
    };
    let all = [Fulfilment::Met, Fulfilment::NotMet, Fulfilment::Undecided].map(decision);
    assert_eq!(overall(&all), Some(Fulfilment::NotMet));
    assert_eq!(overall(&[]), None);
}

#[test]
fn more_expectations_demand_more_certainty_of_each_bound() {
    let expectation = json!({
        "name": "gate", "metric": "memory", "variant": "one", "workload": "hello", "atMost": "1.1",
    });
    let expectation = serde_json::from_value(expectation).unwrap();
    let comparison = found(Some((1.0 / 1.08, 1.08)));
    let decided = |among| decision(None, among, &expectation, std::slice::from_ref(&comparison));
    assert_eq!(decided(1).outcome, Fulfilment::Met);
    let among_many = decided(30);
    assert_eq!(among_many.outcome, Fulfilment::Undecided);
    let text = "for 30 expectations together";
    assert!(among_many.message.contains(text), "{}", among_many.message);
}
