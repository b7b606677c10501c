//! On the node's network the service is requested before it exists. `make selftest` measures how
//! exact the first response is then.

use wasmbench_e2e::evidence::left_of;
use wasmbench_e2e::namespace::with_namespace_of;
use wasmbench_e2e::runs;
use wasmbench_model::wire::cold_start::{ColdPod, ColdStep};

const ON_HOST: &str = "
blocks: 1
variants: [{name: native, preset: native}]
workloads: [{name: hello, expect: {body: hello}}]
placement: {network: Host}
sweeps: {coldStart: {samples: 2, timeoutSeconds: 120}, warmLatency: {requests: 100}}
";

/// Asserts that the service refused connections before it listened, and listened before it
/// answered: both moments are bounded from both sides.
fn check(pod: &ColdPod) {
    assert!(pod.attempts > 1, "{pod:#?}");
    let [listening, answer] = [ColdStep::Listening, ColdStep::FirstCorrectAnswer].map(|step| {
        let moment = pod.steps.get(&step);
        moment.unwrap_or_else(|| panic!("no {step:?}: {pod:#?}"))
    });
    assert!(listening.nanoseconds <= answer.nanoseconds, "{pod:#?}");
    for moment in [listening, answer] {
        assert!(moment.uncertainty_nanoseconds.is_some(), "{pod:#?}");
    }
}

#[tokio::test]
async fn requests_on_the_nodes_network_begin_before_the_service_listens() {
    with_namespace_of("privileged", "coldhost", |client, namespace| async move {
        let (run, records) = runs::measured(&client, &namespace, ("bare", ON_HOST), 240, 2).await;
        let cold = records
            .iter()
            .find(|record| record.cold_start().is_some())
            .and_then(|record| record.cold_start())
            .expect("a document");
        let pods: Vec<&ColdPod> = cold
            .samples
            .iter()
            .filter(|sample| sample.counts())
            .flat_map(|sample| &sample.pods)
            .collect();
        assert_eq!(pods.len(), 2);
        pods.into_iter().for_each(check);
        let uid = run.metadata.uid.as_deref().expect("a uid");
        assert_eq!(left_of(&client, uid).await, Vec::<String>::new());
    })
    .await;
}
