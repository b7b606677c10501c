//! The runs of a schedule, and what it reports about itself.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use wasmbench_api::{BenchmarkRun, BenchmarkSchedule, conditions, labels};
use wasmbench_core::schedule::{
    Cron, RunOutcome, ScheduledRun, Step, behind, check, observed, run_name, run_of, status,
};

use crate::common::config;
use crate::schedule::{at, run, spec, step_at};

/// A user's schedule, as the API server returns it.
fn schedule(more: &Value) -> BenchmarkSchedule {
    let mut schedule = BenchmarkSchedule::new("nightly", spec(more));
    schedule.metadata.namespace = Some("team-a".into());
    schedule.metadata.uid = Some("0a0a".into());
    schedule.metadata.generation = Some(3);
    schedule
}

fn ended_as(mut run: BenchmarkRun, succeeded: &str, trustworthy: &str) -> BenchmarkRun {
    let condition = |type_: &str, status: &str| {
        json!({
            "type": type_, "status": status, "reason": "Because", "message": "",
            "lastTransitionTime": "2026-03-01T04:00:00Z",
        })
    };
    let status = json!({
        "completionTime": "2026-03-01T03:30:00Z",
        "conditions": [
            condition(conditions::FINISHED, "True"), condition(conditions::SUCCEEDED, succeeded),
            condition(conditions::TRUSTWORTHY, trustworthy),
        ],
    });
    run.status = Some(serde_json::from_value(status).unwrap());
    run
}

#[test]
fn a_run_is_owned_by_its_schedule_and_carries_its_scheduled_time() {
    let more = json!({"metadata": {"labels": {"team": "a"}, "annotations": {"note": "b"}}});
    let mut nightly = schedule(&json!({}));
    nightly.spec.template.metadata = serde_json::from_value(more["metadata"].clone()).unwrap();
    let due = at("2026-03-01T03:00:00Z");
    let run = run_of(&nightly, due);
    let metadata = serde_json::to_value(&run.metadata).unwrap();
    let wanted = json!({
        "name": "nightly-29538900", "namespace": "team-a",
        "labels": {"team": "a", (labels::SCHEDULE): "nightly"},
        "annotations": {"note": "b", (labels::SCHEDULED_TIME): "2026-03-01T03:00:00Z"},
        "ownerReferences": [{
            "apiVersion": "wasmbench.dev/v1alpha1", "kind": "BenchmarkSchedule", "name": "nightly",
            "uid": "0a0a", "controller": true,
        }],
    });
    assert_eq!(metadata, wanted);
    assert_eq!(run.spec, nightly.spec.template.spec);
    let found = observed(&run, "0a0a").unwrap();
    assert_eq!((found.due, found.ended), (due, None));
    assert_eq!(observed(&run, "another"), None);
}

#[test]
fn a_run_ended_well_if_it_succeeded_and_is_trustworthy() {
    for (succeeded, trustworthy, wanted) in [
        ("True", "True", RunOutcome::Well),
        ("True", "False", RunOutcome::Untrustworthy),
        ("False", "Unknown", RunOutcome::Failed),
    ] {
        let run = run_of(&schedule(&json!({})), at("2026-03-01T03:00:00Z"));
        let found = observed(&ended_as(run, succeeded, trustworthy), "0a0a").unwrap();
        assert_eq!(found.ended, Some(wanted));
        assert_eq!(found.completed, Some(at("2026-03-01T03:30:00Z")));
    }
}

#[test]
fn a_schedule_with_an_invalid_template_is_refused() {
    let mut config = config();
    assert!(check(&schedule(&json!({})), &config).is_ok());
    config.limits.trials = 1;
    let error = check(&schedule(&json!({})), &config).unwrap_err();
    assert_eq!(error.field, "spec.template.spec.blocks");
}

#[test]
fn the_status_has_the_last_the_active_and_the_next_run() {
    let nightly = schedule(&json!({"concurrencyPolicy": "Allow"}));
    let (due, now) = (at("2026-03-02T03:00:00Z"), at("2026-03-02T03:00:01Z"));
    let runs = [
        run("well", "2026-02-28T03:00:00Z", Some(RunOutcome::Well)),
        run("old", "2026-03-01T03:00:00Z", None),
    ];
    let step = step_at(&nightly.spec, &runs, "2026-03-02T03:00:01Z");
    let found = status::status_of(&nightly, &runs, &step, status::accepted(), now);
    assert_eq!(found.active, [run_name("nightly", due), "old".to_owned()]);
    assert_eq!(found.active_runs, 2);
    assert_eq!(found.last_schedule_time.unwrap().0, due);
    assert_eq!(
        found.next_schedule_time.unwrap().0,
        at("2026-03-03T03:00:00Z")
    );
    assert_eq!(
        found.last_successful_time.unwrap().0,
        at("2026-02-28T03:20:00Z")
    );
    assert!(conditions::is_true(&found.conditions, conditions::ACCEPTED));
}

#[test]
fn a_time_left_out_stays_in_the_status_until_a_run_starts() {
    let mut nightly = schedule(&json!({"concurrencyPolicy": "Forbid"}));
    let mut runs = [run("old", "2026-03-01T03:00:00Z", None)];
    for (now, ended, wanted) in [
        ("2026-03-02T03:00:01Z", None, Some("AlreadyActive")),
        ("2026-03-02T04:00:00Z", None, Some("AlreadyActive")),
        ("2026-03-02T05:00:00Z", Some(RunOutcome::Failed), None),
    ] {
        runs[0].ended = ended;
        let step = step_at(&nightly.spec, &runs, now);
        let found = status::status_of(&nightly, &runs, &step, status::accepted(), at(now));
        let reason = found
            .left_out
            .as_ref()
            .map(|left_out| left_out.reason.clone());
        assert_eq!(reason.as_deref(), wanted, "{now}");
        // The same step again changes nothing, so that nothing is written.
        nightly.status = Some(found.clone());
        let again = status::status_of(&nightly, &runs, &step, status::accepted(), at(now));
        assert_eq!(again, found);
    }
}

/// Looks at a schedule with these runs, writes its status, and returns the step and what the
/// condition `Behind` reports.
fn look(
    schedule: &mut BenchmarkSchedule,
    runs: &[ScheduledRun],
    now: Timestamp,
) -> (Step, Option<(String, String)>) {
    let step = step_at(&schedule.spec, runs, &now.to_string());
    let known = schedule.status.clone().unwrap_or_default().conditions;
    let cron = Cron::from_spec(&schedule.spec).unwrap();
    let mut drafts = status::accepted();
    drafts.extend(behind(&cron, runs, &known, now));
    let found = status::status_of(schedule, runs, &step, drafts, now);
    let mut conditions = found.conditions.iter();
    let behind = conditions.find(|condition| condition.type_ == conditions::BEHIND);
    let behind = behind.map(|found| (found.status.clone(), found.message.clone()));
    schedule.status = Some(found);
    (step, behind)
}

/// A run every minute that takes ten, over half an hour, looked at every ten seconds.
#[test]
fn a_schedule_that_cannot_keep_up_is_reported_without_flapping() {
    for policy in ["Allow", "Forbid", "Replace"] {
        let mut often = schedule(&json!({"concurrencyPolicy": policy, "schedule": "* * * * *"}));
        let mut runs: Vec<ScheduledRun> = vec![];
        let mut reported = vec![];
        for second in (60..1800).step_by(10) {
            let now = at("2026-03-01T00:00:00Z") + SignedDuration::from_secs(second);
            for run in &mut runs {
                if run.ended.is_none() && now >= run.started + SignedDuration::from_mins(10) {
                    run.ended = Some(RunOutcome::Well);
                    run.completed = Some(now);
                }
            }
            let (step, found) = look(&mut often, &runs, now);
            runs.retain(|run| !step.replaced.contains(&run.name));
            if let Some(due) = step.start {
                runs.push(run(&run_name("nightly", due), &due.to_string(), None));
            }
            reported.push((second, found));
        }
        let first = reported
            .iter()
            .position(|(_, found)| found.is_some())
            .unwrap();
        assert!(reported[first].0 <= 130, "{policy}: {:?}", reported[first]);
        for (second, found) in &reported[first..] {
            let (status, message) = found.as_ref().unwrap();
            assert_eq!(status, "True", "{policy} after {second} s: {message}");
            assert!(message.contains("spec.schedule"), "{message}");
        }
    }
}

#[test]
fn a_schedule_is_no_longer_behind_once_its_runs_end_in_time() {
    let mut hourly = schedule(&json!({"schedule": "@hourly"}));
    let mut behind_at = |runs: &[&ScheduledRun], now: &str| {
        let runs: Vec<ScheduledRun> = runs.iter().map(|run| (*run).clone()).collect();
        let (_, behind) = look(&mut hourly, &runs, at(now));
        behind.map(|(status, _)| status)
    };
    let mut slow = run("slow", "2026-03-01T03:00:00Z", None);
    assert_eq!(behind_at(&[&slow], "2026-03-01T03:10:00Z"), None);
    let late = behind_at(&[&slow], "2026-03-01T04:00:01Z");
    assert_eq!(late.as_deref(), Some("True"));
    slow.ended = Some(RunOutcome::Well);
    slow.completed = Some(at("2026-03-01T04:30:00Z"));
    let mut next = run("next", "2026-03-01T04:00:00Z", None);
    next.started = at("2026-03-01T04:30:01Z");
    let still = behind_at(&[&slow, &next], "2026-03-01T04:40:00Z");
    assert_eq!(still.as_deref(), Some("True"));
    next.ended = Some(RunOutcome::Well);
    next.completed = Some(at("2026-03-01T04:50:00Z"));
    let over = behind_at(&[&slow, &next], "2026-03-01T04:50:01Z");
    assert_eq!(over.as_deref(), Some("False"));
}
