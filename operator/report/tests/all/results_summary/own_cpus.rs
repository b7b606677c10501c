//! A generator together with a subject that has CPUs to itself: the generator's ceiling is set by
//! the remaining CPUs.

use wasmbench_model::wire::instrument::CpuLists;
use wasmbench_model::wire::record::Record;
use wasmbench_results::summary::Summary;
use wasmbench_results::vocabulary::doubt::Reason;

use super::support::{doubt, reasons, with_window};

/// The run on a node with eight CPUs, where the generator may use the CPUs `on` and uses `tenths`
/// tenths of one CPU.
fn with_generator(on: &'static str, tenths: u64) -> Summary {
    with_window(move |record: &mut Record| {
        let document = record.load_mut().unwrap();
        let facts = &mut document.environment.facts;
        facts.insert("cpus".into(), "0-7".into());
        document.cpus = Some(CpuLists {
            subject: Some("2-7".into()),
            generator: Some(on.into()),
            cpus_disjoint: Some(true),
        });
        let window = document.timed.as_mut().unwrap();
        window.generator_cpu_nanoseconds = Some(window.duration_nanoseconds / 10 * tenths);
        window.node = None;
    })
}

fn saturated(summary: &Summary) -> bool {
    reasons(summary).contains(&Reason::LoadGeneratorSaturated)
}

#[test]
fn a_generator_that_fills_its_two_of_eight_cpus_is_doubted() {
    let summary = with_generator("0-1", 20);
    assert!(saturated(&summary));
    let message = &doubt(&summary, Reason::LoadGeneratorSaturated).message;
    assert!(
        message.contains("100 % of the CPUs it may use"),
        "{message}"
    );
    assert!(saturated(&with_generator("0,1", 17)), "80 % is the limit");
    assert!(!saturated(&with_generator("0-1", 15)));
}

#[test]
fn a_generator_that_may_use_the_whole_node_is_not_saturated_by_two_cpus() {
    assert!(!saturated(&with_generator("0-7", 20)));
}

/// Generator and subject on the same CPUs, where the generator uses `tenths` tenths of the
/// subject's CPU time.
fn on_same_cpus(tenths: u64) -> Summary {
    with_window(move |record: &mut Record| {
        let window = record.load_mut().unwrap().timed.as_mut().unwrap();
        let used = window.subject.as_ref().unwrap().cpu_nanoseconds;
        window.generator_cpu_nanoseconds = Some(used / 10 * tenths);
        window.node = None;
    })
}

#[test]
fn a_rate_is_noted_if_the_generator_used_most_of_the_cpu_time() {
    let summary = on_same_cpus(15);
    let note = doubt(&summary, Reason::GeneratorShare);
    assert!(!note.breaks_trust);
    assert!(
        note.message.contains("60 % was the load generator's"),
        "{note:?}"
    );
    let apart = with_generator("0-1", 15);
    for other in [&on_same_cpus(0), &apart] {
        assert!(!reasons(other).contains(&Reason::GeneratorShare));
    }
}
