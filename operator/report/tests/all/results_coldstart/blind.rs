//! Samples for which it is unknown whether the node was noisy.

use wasmbench_model::wire::cold_start::NodeSpan;
use wasmbench_model::wire::document::NodeCpu;
use wasmbench_model::wire::record::Record;
use wasmbench_results::vocabulary::doubt::Reason;

use super::support::{doubts_of, summary_of};
use crate::results_support::cold_starts::records;

/// The notes if the node was read in all samples except those of the first `blind` trials, over
/// spans of `milliseconds` on two CPUs.
fn noted(blind: usize, milliseconds: u64) -> Vec<(bool, String)> {
    let mut all = records();
    let documents = all.iter_mut().filter_map(Record::cold_start_mut);
    for (position, document) in documents.enumerate() {
        let facts = &mut document.environment.facts;
        facts.insert("cpus".into(), "0-1".into());
        for sample in document.samples.iter_mut().filter(|_| position >= blind) {
            sample.node = Some(NodeSpan {
                duration_nanoseconds: milliseconds * 1_000_000,
                cpu: NodeCpu {
                    busy_nanoseconds: milliseconds * 800_000,
                    ..NodeCpu::default()
                },
            });
        }
    }
    let summary = summary_of(&all);
    let found = doubts_of(&summary, Reason::NoiseUnknown);
    found
        .into_iter()
        .map(|(breaks, message)| (breaks, message.to_owned()))
        .collect()
}

#[test]
fn samples_of_unknown_noise_are_counted_in_a_note() {
    assert_eq!(noted(0, 1000), []);
    let found = noted(2, 1000);
    assert!(!found[0].0, "{found:?}");
    let places = "cold starts of tortoise on greet (3 of 15 samples), \
                  tortoise on greet, 4 pods at once (3 of 15 samples)";
    assert!(found[0].1.ends_with(places), "{found:?}");
}

#[test]
fn starts_too_short_for_the_kernels_counters_are_noted_as_well() {
    let found = noted(0, 199);
    assert!(found[0].1.contains("(15 of 15 samples)"), "{found:?}");
}
