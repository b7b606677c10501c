//! Cold starts under a CPU limit, and cold starts without any measurement.

use serde_json::json;
use wasmbench_model::wire::addition::{AddedBy, Addition, CPU_LIMIT};
use wasmbench_model::wire::record::Outcome;
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::collect::{RunInput, summarize};
use wasmbench_results::vocabulary::doubt::Reason;

use super::support::{doubts_of, summary_of};
use crate::results_support::cold_starts::{records, run};

fn with_limits(limits: &serde_json::Value) -> Summary {
    let mut run = run();
    let resources = json!({"limits": limits});
    run.spec.resources = Some(serde_json::from_value(resources).unwrap());
    summarize(&RunInput::new(&run, 7), &records())
}

#[test]
fn a_cpu_limit_on_pods_whose_start_is_timed_is_noted_and_breaks_no_trust() {
    let summary = with_limits(&json!({"cpu": "500m", "memory": "128Mi"}));
    let found = doubts_of(&summary, Reason::Throttled);
    assert_eq!(found.len(), 1);
    assert!(
        !found[0].0 && found[0].1.contains("the CPU limit of 500m"),
        "{found:?}"
    );
    assert_eq!(summary.trustworthy, Some(true));
    for quiet in [
        with_limits(&json!({"memory": "128Mi"})),
        summary_of(&records()),
    ] {
        assert_eq!(doubts_of(&quiet, Reason::Throttled), []);
    }
}

#[test]
fn a_limit_range_on_pods_whose_start_is_timed_is_named_and_not_the_runs_limit() {
    let mut all = records();
    for subject in all.iter_mut().filter_map(|record| record.subject.as_mut()) {
        subject.added = vec![Addition {
            by: AddedBy::LimitRange,
            what: CPU_LIMIT.to_owned(),
            value: "500m".to_owned(),
        }];
    }
    let summary = summary_of(&all);
    let mut doubts = summary.doubts.iter();
    let found = doubts.find(|one| one.reason == Reason::Throttled).unwrap();
    let expected = "the CPU limit of 500m, which a LimitRange sets and the run does not,";
    assert!(found.message.contains(expected), "{}", found.message);
    assert!(
        !found.breaks_trust
            && found
                .remedy
                .starts_with("remove the default from the LimitRange")
    );
}

#[test]
fn a_variant_without_a_measured_cold_start_is_named() {
    let mut all = records();
    let hares = all.iter_mut().filter(|r| r.trial.cell.variant == "hare");
    for record in hares {
        record.evidence = None;
        record.outcome = Outcome::Failed {
            reason: "NeverListened".into(),
            message: "no answer within 60 s".into(),
        };
    }
    let summary = summary_of(&all);
    assert_eq!(
        doubts_of(&summary, Reason::TrialsFailed),
        [(false, "not measured at all: cold starts of hare on greet")]
    );
    assert_eq!(summary.trustworthy, Some(true));
}
