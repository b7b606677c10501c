//! What the node's services do for a variant's log.

use wasmbench_model::wire::document::NodeServices;
use wasmbench_report::markdown::report_md;
use wasmbench_results::summary::Summary;
use wasmbench_results::vocabulary::doubt::Reason;

use super::support::{doubt, with_window};

/// Containerd and the kubelet use a fifth of the node's CPUs while `embedded` is loaded under
/// `hello`, and this share of that without the load.
fn with_services(idle: Option<f64>) -> Summary {
    with_window(|record| {
        let window = record.load_mut().unwrap().timed.as_mut().unwrap();
        let used = window.duration_nanoseconds / 5 * 2;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a share"
        )]
        let of_used = |share: f64| (used as f64 * share) as u64;
        window.node.as_mut().unwrap().busy_nanoseconds += used;
        window.subject.as_mut().unwrap().services = Some(NodeServices {
            cpu_nanoseconds: used,
            idle_cpu_nanoseconds: idle.map(of_used),
        });
    })
}

#[test]
fn a_log_that_keeps_containerd_busy_is_a_cost_of_its_variant_not_noise() {
    let summary = with_services(Some(0.05));
    assert_eq!(summary.trustworthy, Some(true));
    assert_eq!(doubt(&summary, Reason::NodeNoisy).message, "missing");
    let note = doubt(&summary, Reason::LogCost);
    let place = "embedded on hello at 50 connections (";
    assert!(
        !note.breaks_trust
            && note.message.contains(place)
            && note.message.contains("us a request, in addition to ")
            && !note.message.contains("native"),
        "{note:?}"
    );
    let report = report_md(&summary, usize::MAX);
    assert!(report.contains(" Its log/req "), "{report}");
}

#[test]
fn services_as_busy_without_the_load_are_noise_not_a_cost_of_the_log() {
    for idle in [Some(1.0), Some(1.5), None] {
        let summary = with_services(idle);
        assert_eq!(doubt(&summary, Reason::LogCost).message, "missing");
        assert!(
            doubt(&summary, Reason::NodeNoisy).breaks_trust,
            "{idle:?}: {:?}",
            summary.doubts
        );
        let report = report_md(&summary, usize::MAX);
        assert!(!report.contains(" Its log/req "), "{report}");
    }
}
