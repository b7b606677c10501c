//! How many CPUs each variant used where rates are compared.

use wasmbench_model::wire::record::Point;
use wasmbench_report::markdown::report_md;
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::collect::summarize;
use wasmbench_results::vocabulary::doubt::Reason;

use super::support::{doubt, is_embedded_hello};
use crate::results_support::{all_measured, run};

/// The synthetic run in which `native` used `native` hundredths of a CPU and `embedded` under `hello`
/// `embedded` at the knee.
fn with_cpus(native: u64, embedded: u64) -> Summary {
    let run = run();
    let mut records = all_measured(&run);
    for record in &mut records {
        let hundredths = if is_embedded_hello(&record.trial) {
            embedded
        } else {
            native
        };
        if record.trial.cell.point == Point::WarmLatency {
            continue;
        }
        let window = record.load_mut().unwrap().timed.as_mut().unwrap();
        let used = window.duration_nanoseconds / 100 * hundredths;
        window.subject.as_mut().unwrap().cpu_nanoseconds = used;
        window.node = None;
    }
    summarize(&run, &records)
}

#[test]
fn services_that_use_one_and_two_cpus_are_noted_with_the_cpus_of_both() {
    let summary = with_cpus(190, 100);
    let note = doubt(&summary, Reason::UnequalCpus);
    let expected = "throughput: native used 1.90 CPUs and embedded 1.00 on hello at ";
    assert!(
        !note.breaks_trust
            && note.message.starts_with(expected)
            && !note.message.contains("compute"),
        "{note:?}"
    );
    let report = report_md(&summary, usize::MAX);
    assert!(report.contains(" CPUs |"), "{report}");
    // The other way round it is as true.
    let note = doubt(&with_cpus(100, 190), Reason::UnequalCpus);
    let expected = "throughput: native used 1.00 CPUs and embedded 1.90 on hello at ";
    assert!(note.message.starts_with(expected), "{note:?}");
}

#[test]
fn services_that_use_similar_or_hardly_any_cpus_have_neither_note_nor_column() {
    for (native, embedded) in [(150, 100), (100, 150), (10, 49)] {
        let summary = with_cpus(native, embedded);
        assert_eq!(doubt(&summary, Reason::UnequalCpus).message, "missing");
        let report = report_md(&summary, usize::MAX);
        assert!(!report.contains(" CPUs |"), "{report}");
    }
}
