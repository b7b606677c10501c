//! What a probe printed.

use std::time::Duration;

use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::LogParams;
use wasmbench_core::observed::PodState;
use wasmbench_model::containers;
use wasmbench_model::store::MAX_DOCUMENT_BYTES;
use wasmbench_model::wire::evidence::Evidence;
use wasmbench_model::wire::record::Outcome;

use crate::error::Error;
use crate::remove::failed;

/// Pauses before the log of a successful probe is read again for its result.
const LOG_PAUSES: [Duration; 3] = [
    Duration::from_millis(100),
    Duration::from_millis(500),
    Duration::from_secs(2),
];

/// The probe's output, as parsed by `read`.
pub(super) async fn result(
    probes: &Api<Pod>,
    name: &str,
    state: &PodState,
    read: impl Fn(&str, &PodState) -> (Option<Evidence>, Outcome),
) -> Result<(Option<Evidence>, Outcome), Error> {
    let params = LogParams {
        container: Some(containers::PROBE.to_owned()),
        limit_bytes: Some(i64::from(MAX_DOCUMENT_BYTES)),
        ..LogParams::default()
    };
    let succeeded = matches!(
        state,
        PodState::Ended {
            exit_code: Some(0),
            ..
        }
    );
    let mut pauses = LOG_PAUSES.into_iter();
    loop {
        let log = probes.logs(name, &params).await;
        let log = log.map_err(failed(format!("read the log of {name}")))?;
        let (evidence, outcome) = read(&log, state);
        match pauses.next() {
            // The last lines of a log may arrive after its container has ended.
            Some(pause) if evidence.is_none() && succeeded => tokio::time::sleep(pause).await,
            _ => return Ok((evidence, outcome)),
        }
    }
}
