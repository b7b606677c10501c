//! What a schedule does at its times.

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use serde_json::{Value, json};
use wasmbench_api::BenchmarkScheduleSpec;
use wasmbench_core::schedule::{
    Cron, LeftOut, ObservedSchedule, RunOutcome, ScheduledRun, Step, run_name, step,
};

pub fn spec(more: &Value) -> BenchmarkScheduleSpec {
    let mut spec = json!({
        "schedule": "0 3 * * *",
        "template": {"spec": {
            "variants": [{"name": "native", "preset": "native"}],
            "workloads": [{"name": "hello"}],
            "sweeps": {"warmLatency": {}},
        }},
    });
    for (field, value) in more.as_object().unwrap() {
        spec[field] = value.clone();
    }
    serde_json::from_value(spec).unwrap()
}

pub fn at(time: &str) -> Timestamp {
    time.parse().unwrap()
}

pub fn run(name: &str, due: &str, ended: Option<RunOutcome>) -> ScheduledRun {
    ScheduledRun {
        name: name.into(),
        uid: format!("uid-of-{name}"),
        due: at(due),
        started: at(due),
        ended,
        completed: ended.map(|_| at(due) + SignedDuration::from_mins(20)),
    }
}

/// What a schedule that was created on the first of March does at `now`.
pub fn step_at(spec: &BenchmarkScheduleSpec, runs: &[ScheduledRun], now: &str) -> Step {
    let observed = ObservedSchedule {
        created: at("2026-03-01T00:00:00Z"),
        last: None,
        runs,
    };
    step(spec, &Cron::from_spec(spec).unwrap(), observed, at(now))
}

#[test]
fn a_run_starts_when_it_is_due_and_once() {
    let spec = spec(&json!({}));
    let before = step_at(&spec, &[], "2026-03-01T02:59:59Z");
    assert_eq!(
        (before.start, before.next),
        (None, Some(at("2026-03-01T03:00:00Z")))
    );
    let due = at("2026-03-01T03:00:00Z");
    let found = step_at(&spec, &[], "2026-03-01T03:00:00Z");
    assert_eq!(
        (found.start, found.next),
        (Some(due), Some(at("2026-03-02T03:00:00Z")))
    );
    let started = [run("one", "2026-03-01T03:00:00Z", None)];
    assert_eq!(step_at(&spec, &started, "2026-03-01T03:00:01Z").start, None);
}

#[test]
fn only_the_last_of_several_missed_times_starts_a_run() {
    let found = step_at(&spec(&json!({})), &[], "2026-03-09T04:00:00Z");
    assert_eq!(found.start, Some(at("2026-03-09T03:00:00Z")));
}

#[test]
fn times_past_the_starting_deadline_are_left_out() {
    let spec = spec(&json!({"startingDeadlineSeconds": 600}));
    let found = step_at(&spec, &[], "2026-03-01T03:10:01Z");
    let due = at("2026-03-01T03:00:00Z");
    assert_eq!(
        (found.start, found.left_out),
        (None, Some((due, LeftOut::TooLate)))
    );
    assert_eq!(step_at(&spec, &[], "2026-03-01T03:10:00Z").start, Some(due));
}

#[test]
fn hours_are_in_the_time_zone_in_summer_and_winter() {
    let spec = spec(&json!({"timeZone": "Europe/Berlin"}));
    let next = |now| step_at(&spec, &[], now).next;
    assert_eq!(
        next("2026-03-27T12:00:00Z"),
        Some(at("2026-03-28T02:00:00Z"))
    );
    assert_eq!(
        next("2026-03-30T12:00:00Z"),
        Some(at("2026-03-31T01:00:00Z"))
    );
}

#[test]
fn the_concurrency_policy_decides_what_an_active_run_means() {
    let active = [run("old", "2026-03-01T03:00:00Z", None)];
    let due = at("2026-03-02T03:00:00Z");
    for (policy, start, left_out, replaced) in [
        ("Allow", Some(due), None, vec![]),
        ("Forbid", None, Some((due, LeftOut::AlreadyActive)), vec![]),
        ("Replace", Some(due), None, vec!["old".to_owned()]),
    ] {
        let found = step_at(
            &spec(&json!({"concurrencyPolicy": policy})),
            &active,
            "2026-03-02T03:00:05Z",
        );
        assert_eq!(
            (found.start, found.left_out, found.replaced),
            (start, left_out, replaced)
        );
    }
}

#[test]
fn no_run_starts_while_another_is_active_by_default() {
    let active = [run("old", "2026-03-01T03:00:00Z", None)];
    let found = step_at(&spec(&json!({})), &active, "2026-03-02T03:00:05Z");
    let due = at("2026-03-02T03:00:00Z");
    assert_eq!(found.start, None);
    assert_eq!(found.left_out, Some((due, LeftOut::AlreadyActive)));
}

#[test]
fn at_most_ten_runs_are_active_even_where_the_policy_allows_more() {
    let spec = spec(&json!({"concurrencyPolicy": "Allow", "schedule": "* * * * *"}));
    let mut runs: Vec<ScheduledRun> = vec![];
    // A run that takes ten hours, every minute.
    for minute in 1..60 {
        let now = format!("2026-03-01T00:{minute:02}:00Z");
        if step_at(&spec, &runs, &now).start.is_some() {
            runs.push(run(&format!("at-{minute}"), &now, None));
        }
    }
    assert_eq!(runs.len(), 10);
    let found = step_at(&spec, &runs, "2026-03-01T01:00:00Z");
    let (_, why) = found.left_out.unwrap();
    assert_eq!(<&str>::from(why), "TooManyActive");
    runs[0].ended = Some(RunOutcome::Well);
    assert!(
        step_at(&spec, &runs, "2026-03-01T01:00:00Z")
            .start
            .is_some()
    );
}

#[test]
fn a_suspended_schedule_starts_nothing_and_still_tidies_up() {
    let runs: Vec<ScheduledRun> = (1..=5)
        .map(|day| {
            run(
                &format!("day-{day}"),
                &format!("2026-03-0{day}T03:00:00Z"),
                Some(RunOutcome::Well),
            )
        })
        .collect();
    let found = step_at(
        &spec(&json!({"suspend": true})),
        &runs,
        "2026-03-08T04:00:00Z",
    );
    assert_eq!((found.start, found.next), (None, None));
    assert_eq!(found.expired, ["day-1", "day-2"]);
}

#[test]
fn finished_runs_are_kept_by_how_they_ended() {
    let ended = [
        RunOutcome::Well,
        RunOutcome::Failed,
        RunOutcome::Untrustworthy,
    ];
    let runs: Vec<ScheduledRun> = (0..9)
        .map(|i| {
            let due = format!("2026-03-0{}T03:00:00Z", i + 1);
            run(&format!("{:?}-{i}", ended[i % 3]), &due, Some(ended[i % 3]))
        })
        .chain([run("active", "2026-02-01T03:00:00Z", None)])
        .collect();
    let limits = json!({
        "successfulRunsHistoryLimit": 2, "failedRunsHistoryLimit": 1, "untrustworthyRunsHistoryLimit": 0,
    });
    let found = step_at(&spec(&limits), &runs, "2026-03-09T02:00:00Z");
    assert_eq!(
        found.expired,
        [
            "Well-0",
            "Failed-1",
            "Untrustworthy-2",
            "Failed-4",
            "Untrustworthy-5",
            "Untrustworthy-8"
        ]
    );
}

#[test]
fn an_invalid_schedule_or_time_zone_is_refused_with_its_field() {
    for (wrong, field, expected) in [
        (
            json!({"schedule": "at three"}),
            "spec.schedule",
            "five fields",
        ),
        (
            json!({"schedule": "0 3 * * * Europe/Berlin"}),
            "spec.schedule",
            "five fields",
        ),
        (
            json!({"schedule": "0 3 30 2 *"}),
            "spec.schedule",
            "never occurs",
        ),
        (
            json!({"timeZone": "Berlin"}),
            "spec.timeZone",
            "Europe/Berlin",
        ),
    ] {
        let error = Cron::from_spec(&spec(&wrong)).unwrap_err();
        assert_eq!(error.field, field, "{wrong}");
        assert!(error.message.contains(expected), "{error}");
    }
}

#[test]
fn a_time_left_out_starts_late_once_the_earlier_run_has_ended() {
    let ended = [run("old", "2026-03-01T03:00:00Z", Some(RunOutcome::Well))];
    let due = at("2026-03-02T03:00:00Z");
    let start = |more: &Value| step_at(&spec(more), &ended, "2026-03-02T05:00:00Z").start;
    assert_eq!(start(&json!({"concurrencyPolicy": "Forbid"})), Some(due));
    let deadline = json!({"concurrencyPolicy": "Forbid", "startingDeadlineSeconds": 60});
    assert_eq!(start(&deadline), None);
}

#[test]
fn expressions_mean_what_they_mean_to_a_cron_job() {
    for (schedule, next) in [
        ("@hourly", "2026-03-04T11:00:00Z"),
        ("@daily", "2026-03-05T00:00:00Z"),
        ("@weekly", "2026-03-08T00:00:00Z"),
        ("@monthly", "2026-04-01T00:00:00Z"),
        ("@yearly", "2027-01-01T00:00:00Z"),
        ("*/20 * ? * *", "2026-03-04T10:40:00Z"),
        ("0 3 * * mon-fri", "2026-03-05T03:00:00Z"),
        // Either of the two days matches, as always in cron.
        ("0 3 13 * 5", "2026-03-06T03:00:00Z"),
        (" 0  3 29 2 * ", "2028-02-29T03:00:00Z"),
    ] {
        let cron = Cron::from_spec(&spec(&json!({"schedule": schedule}))).unwrap();
        assert_eq!(
            cron.after(at("2026-03-04T10:30:00Z")),
            Some(at(next)),
            "{schedule}"
        );
    }
}

#[test]
fn a_time_skipped_by_daylight_saving_starts_nothing_that_night() {
    let spec = spec(&json!({"schedule": "30 2 * * *", "timeZone": "Europe/Berlin"}));
    let cron = Cron::from_spec(&spec).unwrap();
    let last = at("2026-03-28T01:30:00Z");
    assert_eq!(cron.after(last), Some(at("2026-03-30T00:30:00Z")));
}

#[test]
fn every_scheduled_time_has_its_own_run_name() {
    let name = |time| run_name("nightly", at(time));
    assert_eq!(name("2026-03-01T03:00:00Z"), "nightly-29538900");
    assert_ne!(name("2026-03-01T03:00:00Z"), name("2026-03-01T03:01:00Z"));
}

proptest! {
    /// Whatever the minute of the hour, and however long ago the last check was.
    #[test]
    fn the_latest_time_is_the_last_one_that_has_passed(minute in 0..60_u32, hours in 0..20_000_i64) {
        let cron = Cron::from_spec(&spec(&json!({"schedule": format!("{minute} */5 * * *")}))).unwrap();
        let created = at("2026-03-01T00:00:00Z");
        let now = created + SignedDuration::from_hours(hours);
        match cron.latest(created, now) {
            None => prop_assert!(cron.after(created).unwrap() > now),
            Some(latest) => {
                prop_assert!(latest > created && latest <= now);
                prop_assert!(cron.after(latest).unwrap() > now);
            }
        }
    }
}
