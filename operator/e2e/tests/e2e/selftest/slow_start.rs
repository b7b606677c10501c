//! A subject that gets faster within the timed window.

use wasmbench_api::conditions::TRUSTWORTHY;
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::operator::image;
use wasmbench_e2e::runs;
use wasmbench_e2e::selftest::found;

/// The additional work outlasts the warm-up of one second by two seconds; during the warm-up the
/// rate is steady.
fn spec(image: &str) -> String {
    format!(
        r"
blocks: 5
noiseFloor: false
variants:
- {{name: plain, container: {{image: '{image}', args: []}}}}
- {{name: slow-start, container: {{image: '{image}', args: ['--extra-iterations=6000', '--extra-seconds=3']}}}}
workloads: [{{name: compute, path: '/compute?iters=20000', expect: {{sameAcrossVariants: true}}}}]
sweeps:
  throughput: {{connections: [4], durationSeconds: 4, warmupSeconds: 1}}
"
    )
}

#[tokio::test]
#[ignore = "needs a quiet node: make selftest"]
async fn a_start_that_is_slow_for_a_part_of_the_window_is_not_trusted() {
    with_namespace("slow-start", |client, namespace| async move {
        let image = image(&client, "native").await;
        runs::create(&client, &namespace, "slow", &spec(&image)).await;
        let run = runs::finished(&client, &namespace, "slow", 600).await;
        let trust = runs::condition(&run, TRUSTWORTHY).expect("set");
        let mut lines = trust.message.lines();
        let line = lines.find(|line| line.starts_with("NotSteady:"));
        found(
            "30 % more work in the first seconds",
            line.unwrap_or("not seen"),
            "NotSteady",
        );
        let line = line.unwrap_or_else(|| panic!("{trust:?}"));
        assert!(line.contains("slow-start on compute"), "{line}");
        assert!(!line.contains("plain on compute"), "{line}");
        assert_eq!(trust.status, "False", "{trust:?}");
    })
    .await;
}
