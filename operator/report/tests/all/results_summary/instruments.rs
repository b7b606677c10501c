//! Load generator, limits and engines: whether the subject is what was measured.

use serde_json::json;
use wasmbench_model::wire::instrument::GeneratorCeiling;
use wasmbench_model::wire::record::Point;
use wasmbench_results::cells::load::LoadCell;
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::collect::summarize;
use wasmbench_results::vocabulary::doubt::Reason;

use super::support::{doubt, reasons, with_window};
use crate::results_support::{all_measured, facts, run, slower};

#[test]
fn a_generator_above_four_fifths_of_the_node_is_doubted() {
    let summary = with_window(|record| {
        let window = record.load_mut().unwrap().timed.as_mut().unwrap();
        window.generator_cpu_nanoseconds = Some(window.duration_nanoseconds * 17 / 10);
    });
    assert_eq!(reasons(&summary), [Reason::LoadGeneratorSaturated]);
}

#[test]
fn a_generator_at_its_own_limit_is_doubted_even_on_an_idle_node() {
    let summary = with_window(|record| {
        let window = record.load_mut().unwrap().timed.as_mut().unwrap();
        window.generator_cpu_limit = Some(0.1);
        window.generator_cpu_nanoseconds = Some(window.duration_nanoseconds / 10);
        window.node = None;
    });
    assert_eq!(reasons(&summary), [Reason::LoadGeneratorSaturated]);
    let message = &doubt(&summary, Reason::LoadGeneratorSaturated).message;
    assert!(
        message.contains("100 % of the CPUs it may use"),
        "{message}"
    );
}

/// A run in which a responder that does nothing let the generator reach `rps` requests per second.
fn with_ceiling(rps: f64) -> Summary {
    with_window(|record| {
        let document = record.load_mut().unwrap();
        let nanoseconds = 1_000_000_000;
        document.generator_ceiling = Some(GeneratorCeiling {
            connections: 50,
            rps,
            duration_nanoseconds: nanoseconds,
            generator_cpu_nanoseconds: nanoseconds,
            responder_cpu_nanoseconds: nanoseconds / 10,
            cpus: 2.0,
        });
    })
}

#[test]
fn rates_near_the_calibrated_ceiling_are_doubted_for_every_variant() {
    let cells = &with_ceiling(1e9).cells;
    let rate = |variant: &str| {
        let of_variant = |c: &&LoadCell| c.variant == variant && c.workload == "hello";
        let cell = cells.iter().filter(of_variant).nth(1).unwrap();
        assert_eq!(
            (cell.detail.connections, cell.detail.generator_ceiling_rps),
            (10, Some(1e9))
        );
        cell.detail.rps.unwrap().median
    };
    let (native, embedded) = (rate("native"), rate("embedded"));
    assert!(native > 1.5 * embedded);
    // The limit is four fifths of the ceiling: native exceeds it, embedded does not.
    let summary = with_ceiling(native / 0.85);
    assert_eq!(reasons(&summary), [Reason::LoadGeneratorSaturated]);
    let message = &doubt(&summary, Reason::LoadGeneratorSaturated).message;
    assert!(
        message.contains("native on hello at 10 connections"),
        "{message}"
    );
    assert!(!message.contains("embedded"), "{message}");
    assert!(message.contains("when answers cost nothing"), "{message}");
    assert_eq!(reasons(&with_ceiling(2.0 * native)), []);
}

fn with_engine(reported: &[(&str, &str)]) -> Summary {
    with_window(|record| record.load_mut().unwrap().engine = Some(facts(reported)))
}

#[test]
fn a_variant_in_another_mode_than_it_claims_is_detected_and_never_ranked() {
    let pooling = [
        ("engine", "wasmtime"),
        ("compileMode", "Aot"),
        ("allocator", "Pooling"),
        ("profile", "release"),
        ("computeRatio", "1.2"),
    ];
    let honest = with_engine(&pooling);
    assert_eq!(reasons(&honest), []);
    let engines = &honest.environment.variants[1].engines;
    assert!(
        engines.first().unwrap().contains("allocator Pooling"),
        "{engines:?}"
    );

    let mut other = pooling;
    other[2].1 = "OnDemand";
    let summary = with_engine(&other);
    assert_eq!(reasons(&summary), [Reason::EngineModeMismatch]);
    assert_eq!(
        doubt(&summary, Reason::EngineModeMismatch).message,
        "embedded: allocator is OnDemand instead of Pooling"
    );
    let embedded: Vec<_> = summary
        .cells
        .iter()
        .filter(|c| c.variant == "embedded")
        .collect();
    assert_eq!(embedded.len(), 6);
    for cell in embedded {
        // Also under the other workload, because its pods belong to the same variant.
        assert_eq!(cell.invalid_because, [Reason::EngineModeMismatch]);
        assert!(!cell.ranked && cell.counts.valid == 0);
    }
    assert!(summary.comparisons.is_empty());
}

#[test]
fn connections_that_do_not_wait_for_answers_are_noted() {
    let run = run();
    let clean = summarize(&run, &all_measured(&run));
    assert_eq!(doubt(&clean, Reason::LittlesLaw).message, "missing");
    let summary = with_window(|record| {
        let window = record.load_mut().unwrap().timed.as_mut().unwrap();
        let sum = window.fortio["DurationHistogram"]["Sum"].as_f64().unwrap();
        window.fortio["DurationHistogram"]["Sum"] = json!(sum * 0.5);
    });
    assert_eq!(summary.trustworthy, Some(true), "it is a note");
    let message = doubt(&summary, Reason::LittlesLaw).message;
    let place = "embedded on hello at 10 connections (50 %)";
    assert!(message.contains(place), "{message}");
}

/// Windows of four runs of fortio, the first of which was slower by `factor`.
fn with_slow_start(factor: f64) -> Summary {
    with_window(move |record| {
        let Some(timed) = &mut record.load_mut().unwrap().timed else {
            return;
        };
        timed.further = vec![timed.fortio.clone(); 3];
        let length = timed.fortio["ActualDuration"].as_f64().unwrap();
        #[expect(
            clippy::cast_possible_truncation,
            reason = "some seconds in nanoseconds"
        )]
        let slow = (length * factor).round() as i64;
        timed.fortio["ActualDuration"] = json!(slow);
        timed.duration_nanoseconds *= 4;
    })
}

#[test]
fn windows_that_begin_slowly_are_doubted_and_their_comparisons_untrusted() {
    let summary = with_slow_start(1.3);
    assert_eq!(summary.trustworthy, Some(false));
    let message = doubt(&summary, Reason::NotSteady).message;
    let place = "embedded on hello at 10 connections (13 % faster in their second half)";
    assert!(message.contains(place), "{message}");
    let untrusted = |variant: &str| {
        let mut all = summary.comparisons.iter();
        all.any(|c| c.variant == variant && c.untrusted.contains(&Reason::NotSteady))
    };
    assert!(untrusted("embedded"));
    let steady = with_slow_start(1.01);
    assert!(!reasons(&steady).contains(&Reason::NotSteady));
}

#[test]
fn a_window_of_several_runs_counts_all_their_requests() {
    let one = with_window(|_| ());
    let four = with_slow_start(1.0);
    let requests = |summary: &Summary| {
        let mut cells = summary.cells.iter();
        let cell = cells
            .find(|c| c.variant == "embedded" && c.detail.connections == 10)
            .expect("the cell")
            .clone();
        (
            cell.detail.fewest_requests.expect("requests"),
            cell.detail.rps,
            cell.detail.p50_microseconds,
        )
    };
    let (single, whole) = (requests(&one), requests(&four));
    assert_eq!(4 * single.0, whole.0);
    assert_eq!(
        (single.1, single.2),
        (whole.1, whole.2),
        "the same rate and latency"
    );
}

#[test]
fn a_variant_with_two_images_is_doubted() {
    let summary = with_window(|record| {
        record.subject.as_mut().unwrap().image_id = Some("sha256:other".into());
    });
    let message = &doubt(&summary, Reason::EnvironmentDrifted).message;
    assert_eq!(message, "image of embedded: sha256:embedded / sha256:other");
}

#[test]
fn a_variant_whose_template_changed_in_mid_run_is_doubted_and_not_compared() {
    let summary = with_window(|record| {
        let is_later = record.trial.block > 2;
        let template = if is_later { "7c9b" } else { "6d8f" };
        record.subject.as_mut().unwrap().template = Some(template.into());
    });
    let message = &doubt(&summary, Reason::EnvironmentDrifted).message;
    assert_eq!(message, "template of embedded: 6d8f / 7c9b");
    for cell in &summary.cells {
        assert_eq!(cell.ranked, cell.variant != "embedded", "{}", cell.variant);
    }
}

/// A run in which single requests to the embedded gateway take 42 ms, of which the share `busy` is
/// CPU time.
fn with_waits(busy: f64) -> Summary {
    let warm = |summary: &Summary| {
        let mut cells = summary.cells.iter();
        let found = cells.find(|cell| cell.place() == "embedded on hello (warm latency)");
        found.unwrap().detail.p50_microseconds.unwrap().median
    };
    let factor = 42_000.0 / warm(&with_window(|_| ()));
    with_window(|record| {
        if record.trial.cell.point != Point::WarmLatency {
            return;
        }
        let window = record.load_mut().unwrap().timed.as_mut().unwrap();
        window.fortio = slower(window.fortio.clone(), factor);
        let nanoseconds = window.fortio["ActualDuration"].as_u64().unwrap();
        window.duration_nanoseconds = nanoseconds;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let used = (nanoseconds as f64 * busy) as u64;
        window.subject.as_mut().unwrap().cpu_nanoseconds = used;
    })
}

#[test]
fn latencies_of_delayed_acks_are_noted_unless_work_explains_them() {
    let noted = |busy| {
        let summary = with_waits(busy);
        let note = doubt(&summary, Reason::DelayedAck);
        assert!(!note.breaks_trust);
        note.message
    };
    let message = noted(0.001);
    assert!(
        message.contains("embedded on hello (warm latency) (p50 42.0 ms)"),
        "{message}"
    );
    assert_eq!(noted(0.9), "missing");
}
