//! How long a finished run is kept.

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use wasmbench_core::config::Limits;
use wasmbench_core::lifetime::expires_at;

use crate::common;

/// Seconds after its end at which a run expires.
fn kept(author: Option<u32>, administrator: Option<u32>) -> Option<i64> {
    let mut run = common::parse(common::RUN);
    run.spec.ttl_seconds_after_finished = author;
    let status = run.status.get_or_insert_default();
    status.completion_time = Some(Time(Timestamp::UNIX_EPOCH));
    let limits = Limits {
        ttl_seconds_after_finished: administrator,
        ..Limits::default()
    };
    expires_at(&run, &limits).map(Timestamp::as_second)
}

#[test]
fn a_run_is_kept_unless_its_author_or_the_administrator_sets_a_limit() {
    assert_eq!(kept(None, None), None);
    assert_eq!(kept(Some(60), None), Some(60));
    assert_eq!(kept(None, Some(3600)), Some(3600));
}

#[test]
fn the_shorter_retention_time_wins() {
    assert_eq!(kept(Some(60), Some(3600)), Some(60));
    assert_eq!(kept(Some(7200), Some(3600)), Some(3600));
}
