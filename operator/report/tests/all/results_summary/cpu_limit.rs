//! CPU limits: one that the run sets is part of its question, any other makes points invalid.

use serde_json::json;
use wasmbench_model::wire::addition::{AddedBy, Addition, CPU_LIMIT};
use wasmbench_model::wire::record::{Point, Record};
use wasmbench_report::markdown::report_md;
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::collect::{RunInput, summarize};
use wasmbench_results::vocabulary::doubt::Reason;

use super::support::{compared_on, doubt, is_embedded_hello, reasons, with_window};
use crate::results_support::{all_measured, run, slower};

/// A CPU limit stops the subject three times, for 31 % of the window.
fn throttle(record: &mut Record) {
    let window = record.load_mut().unwrap().timed.as_mut().unwrap();
    let meter = window.subject.as_mut().unwrap();
    meter.throttled_periods = Some(3);
    meter.throttled_nanoseconds = Some(window.duration_nanoseconds / 100 * 31);
}

/// The synthetic run, which sets this CPU limit.
fn limited(cpu: &str) -> RunInput {
    let mut run = run();
    run.spec.resources = serde_json::from_value(json!({"limits": {"cpu": cpu}})).unwrap();
    run
}

const STOPPED: &str = "embedded on hello at 10 connections (15 periods, for 31 % of the window)";

#[test]
fn a_limit_that_the_run_does_not_set_makes_its_points_invalid() {
    let summary = with_window(throttle);
    assert_eq!(reasons(&summary), [Reason::Throttled]);
    let found = doubt(&summary, Reason::Throttled);
    let message = &found.message;
    assert!(
        message.starts_with("a CPU limit that the run does not set") && message.contains(STOPPED),
        "{message}"
    );
    assert!(found.remedy.contains("LimitRange"), "{}", found.remedy);
    assert_eq!(compared_on(&summary), ["compute"; 4]);
}

#[test]
fn a_limit_that_a_limit_range_sets_is_named_with_its_amount() {
    let summary = with_window(|record| {
        throttle(record);
        let added = Addition {
            by: AddedBy::LimitRange,
            what: CPU_LIMIT.to_owned(),
            value: "300m".to_owned(),
        };
        record.subject.as_mut().unwrap().added = vec![added];
    });
    assert_eq!(reasons(&summary), [Reason::Throttled]);
    let message = doubt(&summary, Reason::Throttled).message;
    let expected = "the CPU limit of 300m, which a LimitRange sets and the run does not, stopped the subject: ";
    assert!(
        message.starts_with(expected) && message.contains(STOPPED),
        "{message}"
    );
}

#[test]
fn numbers_under_a_limit_of_the_run_are_compared_and_shown_with_the_throttling() {
    let run = limited("500m");
    let mut records = all_measured(&run);
    let slowed = records.iter_mut();
    slowed
        .filter(|record| is_embedded_hello(&record.trial))
        .for_each(throttle);
    let summary = summarize(&run, &records);
    assert_eq!(summary.trustworthy, Some(true));
    assert_eq!(
        compared_on(&summary),
        [["hello"; 4], ["compute"; 4]].concat()
    );
    let note = doubt(&summary, Reason::Throttled);
    let expected = "the CPU limit of 500m, which the run sets, stopped the subject";
    assert!(
        !note.breaks_trust && note.message.starts_with(expected) && note.message.contains(STOPPED),
        "{note:?}"
    );
    let shares: Vec<Option<f64>> = summary
        .cells
        .iter()
        .filter_map(|cell| cell.detail.throttled_share)
        .map(Some)
        .collect();
    assert_eq!(shares, [Some(0.31); 3], "one for each point of embedded");
    let report = report_md(&summary, usize::MAX);
    assert!(report.contains(" Throttled "), "{report}");
    let never = report_md(&summarize(&run, &all_measured(&run)), usize::MAX);
    assert!(!never.contains("Throttled"), "{never}");
}

/// The warm p50 of `embedded` under `hello`, in microseconds.
fn warm_p50(summary: &Summary) -> f64 {
    let mut cells = summary.cells.iter();
    let found = cells.find(|cell| cell.place() == "embedded on hello (warm latency)");
    found.unwrap().detail.p50_microseconds.unwrap().median
}

#[test]
fn waits_and_rates_under_a_cpu_limit_do_not_blame_sockets_or_the_generator() {
    let run = limited("100m");
    let factor = 42_000.0 / warm_p50(&summarize(&run, &all_measured(&run)));
    let noted = |change: fn(&mut Record)| {
        let mut records = all_measured(&run);
        let of_embedded = records.iter_mut();
        for record in of_embedded.filter(|record| is_embedded_hello(&record.trial)) {
            let is_warm = record.trial.cell.point == Point::WarmLatency;
            let window = record.load_mut().unwrap().timed.as_mut().unwrap();
            if is_warm {
                window.fortio = slower(window.fortio.clone(), factor);
            }
            let used = window.duration_nanoseconds / 1000;
            window.subject.as_mut().unwrap().cpu_nanoseconds = used;
            window.generator_cpu_nanoseconds = Some(2 * used);
            change(record);
        }
        let summary = summarize(&run, &records);
        [Reason::DelayedAck, Reason::GeneratorShare].map(|reason| doubt(&summary, reason).message)
    };
    for message in noted(|_| ()) {
        assert!(message.contains("embedded on hello"), "{message}");
    }
    for message in noted(throttle) {
        assert!(!message.contains("embedded on hello"), "{message}");
    }
}
