//! A process of the operator that leads and is paused for longer than any Lease counts.

use std::time::Duration;

use wasmbench_e2e::leader::{survives_a_pause, with_two_processes};
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::selftest::found;

const PAUSE: Duration = Duration::from_secs(90);

/// Fifteen seconds after the longest that the short trials may take, in which the Lease is not renewed, and a
/// few for the standby to look.
const TAKES_OVER: Duration = Duration::from_secs(45);

#[tokio::test]
#[ignore = "needs a quiet node: make selftest"]
async fn a_process_that_is_paused_for_90_seconds_costs_no_trial() {
    with_namespace("paused", |client, namespace| async move {
        let test = Box::pin(async {
            let took = survives_a_pause(&client, &namespace, PAUSE).await;
            found(
                "another process leads when the first one is paused",
                &format!("after {:.1} s", took.as_secs_f64()),
                "at most 45 s",
            );
            assert!(took < TAKES_OVER, "{took:?}");
        });
        with_two_processes(&client, test).await;
    })
    .await;
}
