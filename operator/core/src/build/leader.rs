//! The Lease of the operator that leads: one in its namespace. Its number of transitions is the epoch,
//! which grows with every process that takes it.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use wasmbench_api::labels;

use crate::build::owned_map;

/// Name of the Lease. The chart's admission policies read it.
pub const NAME: &str = "wasmbench-leader";

/// Of how many epochs the Lease has the begin. A probe ends long before so many others have led.
const NOTED: usize = 8;

/// The Lease as the process in pod `holder` takes it from whoever had it: the next epoch begins.
pub fn taken(
    existing: Option<Lease>,
    namespace: &str,
    holder: &str,
    counts: Duration,
    now: Timestamp,
) -> Lease {
    let mut lease = existing.unwrap_or_else(|| unheld(namespace));
    let mut begins = begins(&lease);
    let spec = lease.spec.get_or_insert_default();
    let epoch = spec.lease_transitions.unwrap_or_default().saturating_add(1);
    spec.holder_identity = Some(holder.to_owned());
    spec.acquire_time = Some(MicroTime(now));
    spec.lease_transitions = Some(epoch);
    begins.insert(epoch, now);
    while begins.len() > NOTED {
        begins.pop_first();
    }
    let text = serde_json::to_string(&begins).unwrap_or_default();
    let annotations = lease.metadata.annotations.get_or_insert_default();
    annotations.insert(labels::EPOCHS.to_owned(), text);
    renewed(lease, counts, now)
}

/// When the last epochs began, the present one included.
pub fn begins(lease: &Lease) -> BTreeMap<i32, Timestamp> {
    let annotations = lease.metadata.annotations.as_ref();
    let text = annotations.and_then(|all| all.get(labels::EPOCHS));
    text.and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_default()
}

/// The Lease, which counts for so long from `now`.
pub fn renewed(mut lease: Lease, counts: Duration, now: Timestamp) -> Lease {
    let spec = lease.spec.get_or_insert_default();
    spec.renew_time = Some(MicroTime(now));
    spec.lease_duration_seconds = Some(i32::try_from(counts.as_secs()).unwrap_or(i32::MAX));
    lease
}

/// The Lease without a holder. The epoch stays, and so no later holder repeats it.
pub fn released(mut lease: Lease) -> Lease {
    if let Some(spec) = &mut lease.spec {
        spec.holder_identity = None;
        spec.acquire_time = None;
        spec.renew_time = None;
    }
    lease
}

/// Who holds a Lease: this one's the pod of a process, a node's the uid of a run.
pub fn holder(lease: &Lease) -> Option<&str> {
    let holder = lease.spec.as_ref()?.holder_identity.as_deref();
    holder.filter(|holder| !holder.is_empty())
}

/// Whether two versions of the Lease have the same holder in the same epoch.
pub fn is_same_holder(one: &Lease, other: &Lease) -> bool {
    let epoch = |lease: &Lease| lease.spec.as_ref()?.lease_transitions;
    one.metadata.uid == other.metadata.uid
        && holder(one) == holder(other)
        && epoch(one) == epoch(other)
}

/// How long the Lease counts after a renewal.
pub fn counts_for(lease: &Lease) -> Duration {
    let seconds = lease.spec.as_ref().and_then(|s| s.lease_duration_seconds);
    Duration::from_secs(seconds.unwrap_or_default().try_into().unwrap_or_default())
}

/// Whether somebody holds the Lease, and has renewed it lately by the API server's clock.
pub fn is_live(lease: &Lease, now: Timestamp) -> bool {
    let renewed = lease.spec.as_ref().and_then(|s| s.renew_time.as_ref());
    let counts = SignedDuration::try_from(counts_for(lease)).unwrap_or(SignedDuration::MAX);
    let until = renewed.and_then(|time| time.0.checked_add(counts).ok());
    holder(lease).is_some() && until.is_some_and(|until| now < until)
}

fn unheld(namespace: &str) -> Lease {
    let labels = [
        (labels::NAME, labels::APP.to_owned()),
        (labels::COMPONENT, labels::COMPONENT_LEADER.to_owned()),
        (labels::PART_OF, labels::APP.to_owned()),
        (labels::MANAGED_BY, labels::OPERATOR.to_owned()),
    ];
    Lease {
        metadata: ObjectMeta {
            name: Some(NAME.into()),
            namespace: Some(namespace.to_owned()),
            labels: Some(owned_map(labels)),
            ..ObjectMeta::default()
        },
        spec: Some(LeaseSpec::default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNTS: Duration = Duration::from_secs(20);

    fn after(seconds: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + SignedDuration::from_secs(seconds)
    }

    fn epoch(lease: &Lease) -> Option<i32> {
        lease.spec.as_ref()?.lease_transitions
    }

    #[test]
    fn every_process_that_takes_the_lease_begins_an_epoch_of_its_own() {
        let first = taken(None, "ops", "a", COUNTS, after(0));
        assert_eq!((epoch(&first), holder(&first)), (Some(1), Some("a")));
        let renewed = renewed(first.clone(), COUNTS, after(5));
        assert!(is_same_holder(&first, &renewed));
        let left = released(renewed);
        assert_eq!((epoch(&left), holder(&left)), (Some(1), None));
        let again = taken(Some(left), "ops", "a", COUNTS, after(9));
        assert_eq!(epoch(&again), Some(2), "the same pod, but a new process");
        assert!(!is_same_holder(&first, &again));
    }

    #[test]
    fn the_lease_has_the_begins_of_the_last_epochs() {
        let take = |lease: Option<Lease>, seconds: i64| {
            let lease = lease.map(released);
            Some(taken(lease, "ops", "a", COUNTS, after(seconds)))
        };
        let lease = (0..10).fold(None, take).unwrap();
        let expected: BTreeMap<i32, Timestamp> = (3..=10).zip((2..10).map(after)).collect();
        assert_eq!(begins(&lease), expected);
    }

    #[test]
    fn a_lease_is_live_until_its_holder_releases_it_or_renews_it_no_more() {
        let lease = taken(None, "ops", "a", COUNTS, after(0));
        assert!(is_live(&lease, after(19)));
        assert!(!is_live(&lease, after(20)));
        assert!(!is_live(&released(lease), after(1)));
        assert!(!is_live(&unheld("ops"), after(0)));
    }
}
