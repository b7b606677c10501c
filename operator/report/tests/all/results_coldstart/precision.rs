//! Cold starts of a run that determines by itself how many blocks it needs.

use serde_json::json;
use wasmbench_model::wire::cold_start::NodeSpan;
use wasmbench_model::wire::document::NodeCpu;
use wasmbench_model::wire::record::{Cell, Point, TrialId};
use wasmbench_results::judge::precision::{Ending, Precision};
use wasmbench_results::summary::collect::{RunInput, summarize};

use crate::results_support::cold_starts::{record, run};

/// The precision of a run of `blocks` blocks with three samples each; `noisy` samples of `variant`
/// had a neighbour.
fn precision(blocks: u32, variant: &str, noisy: usize) -> Precision {
    let mut run = run();
    run.spec.sweeps.cold_start.as_mut().unwrap().concurrency = vec![1];
    let precision = json!({"targetRelativeInterval": "5%", "maxBlocks": 12});
    run.spec.precision = Some(serde_json::from_value(precision).unwrap());
    let mut left = noisy;
    let mut records = vec![];
    for block in 1..=blocks {
        for name in ["tortoise", "hare"] {
            let cell = Cell {
                variant: name.into(),
                workload: "greet".into(),
                point: Point::ColdStart { concurrency: 1 },
            };
            let position = u32::try_from(records.len()).unwrap();
            let mut record = record(TrialId { cell, block }, position);
            let document = record.cold_start_mut().unwrap();
            let facts = &mut document.environment.facts;
            facts.insert("cpus".into(), "0-1".into());
            for sample in document.samples.iter_mut().filter(|s| !s.discarded) {
                let has_neighbour = name == variant && left > 0;
                left -= usize::from(has_neighbour);
                sample.node = Some(span(if has_neighbour { 1600 } else { 800 }));
            }
            records.push(record);
        }
    }
    let summary = summarize(&RunInput::new(&run, 7), &records);
    summary.precision.unwrap()
}

/// A span of one second on two CPUs, busy for `busy_milliseconds` in total.
fn span(busy_milliseconds: u64) -> NodeSpan {
    NodeSpan {
        duration_nanoseconds: 1_000_000_000,
        cpu: NodeCpu {
            busy_nanoseconds: busy_milliseconds * 1_000_000,
            ..NodeCpu::default()
        },
    }
}

#[test]
fn noisy_cold_starts_cost_no_block_by_themselves() {
    for variant in ["hare", "tortoise"] {
        assert_eq!(precision(8, variant, 5).outcome, Ending::PreciseEnough);
    }
}

#[test]
fn cold_starts_on_a_quiet_node_end_a_run_as_soon_as_they_are_precise() {
    assert_eq!(precision(8, "hare", 0).outcome, Ending::PreciseEnough);
}
