//! What a run's variants cost: what a price affects and what it does not, and what has no cost.

use proptest::prelude::*;
use serde_json::json;
use wasmbench_model::wire::record::{Outcome, Point, TrialId};
use wasmbench_report::cost::cost_text;
use wasmbench_results::statistics::Spread;
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::collect::summarize;
use wasmbench_results::summary::cost::{Cost, Costs};
use wasmbench_results::summary::node_price::NodePrice;

use crate::results_support::{all_measured, capacity, fortio, record, replace, run, run_with};

fn node() -> NodePrice {
    NodePrice {
        per_hour: 0.10,
        vcpus: 4.0,
        memory_bytes: 16.0 * f64::from(1 << 30),
        cpu_utilisation: 1.0,
    }
}

/// The synthetic run in which all requests of `embedded` on `hello` failed.
fn failing() -> Summary {
    let run = run();
    let mut records = all_measured(&run);
    let is_embedded_hello =
        |trial: &TrialId| trial.cell.variant == "embedded" && trial.cell.workload == "hello";
    replace(&mut records, is_embedded_hello, |trial, position| {
        record(trial, position, Outcome::Measured, Some(fortio("errors")))
    });
    summarize(&run, &records)
}

#[test]
fn invalid_points_have_a_reason_instead_of_a_cost() {
    let summary = failing();
    let costs = Costs::new(&summary, node(), None);
    let cost_of = |variant: &str| {
        let mut all = costs.million_requests.iter();
        let found = all.find(|cost| cost.variant == variant && cost.workload == "hello");
        found.unwrap()
    };
    let embedded = cost_of("embedded");
    let missing = embedded.missing.as_deref().unwrap();
    assert!(missing.starts_with("invalid: ErrorsInLoad"), "{missing}");
    assert_eq!((embedded.measured, embedded.cost), (None, None));
    assert!(cost_of("native").cost.is_some());
    let text = cost_text(&summary, &costs);
    assert!(
        text.contains("MISSING") && text.contains("invalid: ErrorsInLoad"),
        "{text}"
    );
}

#[test]
fn requests_are_priced_at_the_point_where_the_variants_are_compared() {
    let summary = summarize(&run(), &all_measured(&run()));
    let costs = Costs::new(&summary, node(), None);
    for cost in &costs.million_requests {
        let compared = cost.versus_baseline.map(|compared| compared.point);
        let is_baseline = cost.variant == "native";
        assert_eq!(compared.is_none(), is_baseline, "{cost:?}");
        assert!(is_baseline || compared == cost.point, "{cost:?}");
    }
}

#[test]
fn memory_comes_from_the_warm_pod_without_a_throughput_sweep() {
    let run = run_with(json!({
        "blocks": 5,
        "noiseFloor": false,
        "variants": [{"name": "native", "preset": "native"}],
        "workloads": [{"name": "hello"}],
        "sweeps": {"warmLatency": {}},
    }));
    let summary = summarize(&run, &all_measured(&run));
    let costs = Costs::new(&summary, node(), None);
    assert_eq!(costs.million_requests[0].point, Some(Point::WarmLatency));
    assert!(costs.any());
}

#[test]
fn an_untrusted_run_is_marked_as_such_before_any_cost() {
    let mut summary = failing();
    summary.trustworthy = Some(false);
    let text = cost_text(&summary, &Costs::new(&summary, node(), None));
    let doubt = text.find("Trustworthy: NO").unwrap();
    assert!(doubt < text.find("A million requests").unwrap(), "{text}");
}

#[test]
fn a_rate_shows_what_a_month_costs_and_what_a_variant_saves() {
    let summary = summarize(&run(), &all_measured(&run()));
    let costs = Costs::new(&summary, node(), Some(500.0));
    let (million, month) = (&costs.million_requests[1], &costs.rate_month[1]);
    let times = month.cost.unwrap().median / million.cost.unwrap().median;
    assert!((times / 1314.0 - 1.0).abs() < 1e-3, "{times}");
    assert!(
        costs.saved(&costs.rate_month[0]).is_none(),
        "it is the baseline"
    );
    let saved = costs.saved(month).unwrap();
    let ratio = month.versus_baseline.unwrap().estimate.ratio;
    let baseline = costs.rate_month[0].cost.unwrap().median;
    assert!(
        (saved.amount - baseline * (1.0 - ratio)).abs() < 1e-9,
        "{saved:?}"
    );
    let text = cost_text(&summary, &costs);
    assert!(
        text.contains("A month with 500 requests per second"),
        "{text}"
    );
    assert!(!cost_text(&summary, &Costs::new(&summary, node(), None)).contains("SAVES"));
}

#[test]
fn costs_at_the_target_are_compared_block_by_block_without_a_verdict() {
    let (_, mut records, run) = capacity::with(340.0);
    for record in &mut records {
        // In each block the other variant takes half as much.
        let is_wasm = record.trial.cell.variant == "wasm";
        let block = u64::from(record.trial.block);
        for rung in &mut record.load_mut().unwrap().rungs {
            let meter = rung.window.as_mut().unwrap().subject.as_mut().unwrap();
            meter.cpu_nanoseconds = block * if is_wasm { 200_000_000 } else { 400_000_000 };
        }
    }
    let summary = summarize(&run, &records);
    let costs = Costs::new(&summary, node(), Some(100.0));
    let [native, wasm] = [&costs.million_requests[0], &costs.million_requests[1]];
    assert_eq!((native.ratio_text(), costs.saved(native)), (None, None));
    let found = wasm.ratio_at_target.as_ref().unwrap();
    assert_eq!(found.blocks, 6);
    assert!((found.ratio - 0.5).abs() < 1e-4, "{found:?}");
    let (low, high) = found.ends().unwrap();
    assert!(high - low < 1e-3, "{found:?}");
    let message = wasm.ratio_text().unwrap();
    assert!(message.ends_with(", not judged"), "{message}");
    let baseline = costs.rate_month[0].cost.unwrap().median;
    let saved = costs.saved(&costs.rate_month[1]).unwrap();
    assert!((saved.amount / baseline - 0.5).abs() < 1e-4, "{saved:?}");
    let memory = costs.instance_month[1].ratio_at_target.as_ref().unwrap();
    assert!((memory.ratio - 1.0).abs() < 1e-4, "{memory:?}");
}

#[test]
fn a_variant_that_no_rung_can_serve_in_time_has_no_cost_for_that_reason() {
    let (summary, _, _) = capacity::with(1.0);
    let costs = Costs::new(&summary, node(), None);
    for cost in [&costs.million_requests[1], &costs.instance_month[1]] {
        let expected = Some("no rung met the target");
        assert_eq!(cost.missing.as_deref(), expected, "{cost:?}");
    }
}

#[test]
fn a_million_requests_cost_the_cpu_time_at_the_target() {
    let (summary, _, _) = capacity::with(340.0);
    let costs = Costs::new(&summary, node(), None);
    let measured = costs.million_requests[0].measured.unwrap();
    // Two seconds for a thousand requests.
    assert!((measured.median - 2000.0).abs() < 1e-6, "{measured:?}");
    assert!(costs.million_requests[0].cost.is_some());
}

fn all<'a>(costs: &'a Costs<'_>) -> impl Iterator<Item = &'a Cost<'a>> {
    costs.million_requests.iter().chain(&costs.instance_month)
}

proptest! {
    #[test]
    fn a_more_expensive_node_raises_all_costs_and_changes_no_ratio(factor in 1e-2..1e2) {
        let summary = summarize(&run(), &all_measured(&run()));
        let cheap = Costs::new(&summary, node(), None);
        let dear = Costs::new(&summary, NodePrice { per_hour: 0.10 * factor, ..node() }, None);
        for (one, other) in all(&cheap).zip(all(&dear)) {
            prop_assert_eq!(one.versus_baseline, other.versus_baseline);
            prop_assert_eq!(one.measured, other.measured);
            let (Some(one), Some(other)) = (one.cost, other.cost) else { continue };
            let ends = |spread: Spread| [spread.low, spread.median, spread.high];
            for (one, other) in ends(one).into_iter().zip(ends(other)) {
                let off: f64 = other / one / factor - 1.0;
                // Five digits are kept.
                prop_assert!(off.abs() < 2e-4, "{one} {other}");
            }
        }
    }

    #[test]
    fn a_cost_is_never_negative_and_lies_in_its_interval(
        per_hour in 1e-4..1e4, vcpus in 0.1..512.0, memory_bytes in 1e6..1e14, share in 0.01..=1.0
    ) {
        let summary = summarize(&run(), &all_measured(&run()));
        let node = NodePrice { per_hour, vcpus, memory_bytes, cpu_utilisation: share };
        let costs = Costs::new(&summary, node, None);
        for cost in all(&costs).filter_map(|cost| cost.cost) {
            prop_assert!(0.0 <= cost.low && cost.low <= cost.median && cost.median <= cost.high);
            prop_assert!(cost.high.is_finite());
        }
    }
}
