//! Numbers that depend on what ran before.

use serde_json::json;
use wasmbench_model::wire::record::Record;
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::collect::summarize;
use wasmbench_results::vocabulary::doubt::Reason;

use super::support::doubt;
use crate::results_support::{all_measured, run_with};

/// A run in which trials directly after `heavy` take `factor` times the CPU. The order turns by one
/// variant or is reversed from block to block.
fn with_heavy(factor: f64) -> Summary {
    let run = run_with(json!({
        "blocks": 12,
        "noiseFloor": false,
        "variants": [
            {"name": "native", "preset": "native"},
            {"name": "equal", "preset": "native"},
            {"name": "heavy", "preset": "native"},
        ],
        "workloads": [{"name": "hello"}],
        "sweeps": {"throughput": {"connections": [50]}},
    }));
    let mut records = all_measured(&run);
    for block in records.chunks_mut(3) {
        let number = block[0].trial.block;
        let first = block[0].position;
        block.rotate_left(number as usize % 3);
        if number % 2 == 0 {
            block.reverse();
        }
        let mut before = String::new();
        for (record, position) in block.iter_mut().zip(first..) {
            record.position = position;
            let carried = if before == "heavy" { factor } else { 1.0 };
            take_longer(record, carried);
            before.clone_from(&record.trial.cell.variant);
        }
    }
    summarize(&run, &records)
}

/// Multiplies the CPU time of a trial, which scatters a little.
fn take_longer(record: &mut Record, factor: f64) {
    let scatter = f64::from(record.position * 7 % 11) / 1000.0;
    let window = record.load_mut().unwrap().timed.as_mut().unwrap();
    let used = &mut window.subject.as_mut().unwrap().cpu_nanoseconds;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "nanoseconds"
    )]
    let longer = (*used as f64 * factor * (1.0 + scatter)) as u64;
    *used = longer;
}

#[test]
fn a_variant_that_burdens_the_next_trial_is_named() {
    let summary = with_heavy(1.05);
    let note = doubt(&summary, Reason::OrderEffect);
    let text = "CPU per request of trials on hello at 50 connections directly after heavy is ";
    assert!(
        !note.breaks_trust && note.message.contains(text) && note.message.contains(" larger, "),
        "{note:?}"
    );
    assert_eq!(
        doubt(&with_heavy(1.0), Reason::OrderEffect).message,
        "missing"
    );
}

#[test]
fn a_comparison_that_the_order_shifts_too_far_is_not_trusted() {
    let summary = with_heavy(1.3);
    let doubt = doubt(&summary, Reason::OrderEffect);
    assert!(doubt.breaks_trust, "{doubt:?}");
    let mut primary = summary.comparisons.iter().filter(|one| one.primary);
    assert!(primary.any(|one| one.untrusted.contains(&Reason::OrderEffect)));
    assert_eq!(summary.trustworthy, Some(false));
}
