//! On the node's network the first answer is seen when it is there.

use wasmbench_core::wire::cold_start::{ColdPod, ColdStep};
use wasmbench_e2e::evidence::left_of;
use wasmbench_e2e::namespace::with_namespace_of;
use wasmbench_e2e::runs;

/// A service that is asked every millisecond has answered this soon after it listens, on a busy node too.
const SOON: i64 = 50_000_000;

const ON_HOST: &str = "
blocks: 1
variants: [{name: native, preset: native}]
workloads: [{name: hello, expect: {body: hello}}]
placement: {network: Host}
sweeps: {coldStart: {samples: 4}, warmLatency: {requests: 100}}
";

/// How much earlier than it was seen the first answer may have been there, in nanoseconds.
fn gap(pod: &ColdPod) -> u64 {
    let answer = pod.steps[&ColdStep::FirstCorrectAnswer];
    answer.uncertainty_nanoseconds.expect("a gap")
}

/// How far the first answer and the line that says that the service listens are from each other, in nanoseconds.
/// None where containerd stamped that line so late that it is not believed.
fn distance(pod: &ColdPod) -> Option<i64> {
    let listening = pod.steps.get(&ColdStep::Listening)?.nanoseconds;
    let answer = pod.steps[&ColdStep::FirstCorrectAnswer].nanoseconds;
    Some((answer - listening).abs())
}

#[tokio::test]
async fn on_the_nodes_network_the_first_answer_is_exact() {
    with_namespace_of("privileged", "coldhost", |client, namespace| async move {
        runs::create(&client, &namespace, "bare", ON_HOST).await;
        let run = runs::finished(&client, &namespace, "bare", 240).await;
        let records = runs::records(&client, &run).await;
        let outcomes = runs::outcomes(&records);
        assert!(outcomes.values().all(|o| o == "Measured"), "{outcomes:#?}");
        assert_eq!(outcomes.len(), 2, "{outcomes:#?}");
        let cold = records.iter().find(|record| record.cold_start().is_some());
        let cold = cold.and_then(|record| record.cold_start());
        let counted = cold.expect("a document").samples.iter();
        let counted = counted.filter(|sample| sample.counts());
        let pods: Vec<&ColdPod> = counted.flat_map(|sample| &sample.pods).collect();
        assert_eq!(pods.len(), 4);
        assert!(pods.iter().all(|pod| pod.attempts > 20), "{pods:#?}");
        // A hypervisor that withholds the CPUs for a moment spoils one of them.
        let exact = pods.iter().filter(|pod| gap(pod) < 20_000_000);
        assert!(exact.count() >= 3, "{pods:#?}");
        let distances: Vec<i64> = pods.iter().filter_map(|pod| distance(pod)).collect();
        let far = distances.iter().filter(|distance| **distance >= SOON);
        assert!(distances.len() >= 2 && far.count() <= 1, "{pods:#?}");
        let uid = run.metadata.uid.as_deref().expect("a uid");
        assert_eq!(left_of(&client, uid).await, Vec::<String>::new());
    })
    .await;
}
