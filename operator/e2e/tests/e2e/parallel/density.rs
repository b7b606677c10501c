//! Density: a ladder is climbed and measured, a ladder that the node has no room for ends properly,
//! and nothing is left behind.

use wasmbench_e2e::evidence::left_of;
use wasmbench_e2e::kubectl::kubectl;
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::operator::image;
use wasmbench_e2e::runs;
use wasmbench_model::wire::density::{DensityDocument, DensityStopReason};
use wasmbench_model::wire::record::Record;

/// The planted difference: the additional memory of each instance of the second variant.
const BALLAST_MIB: f64 = 20.0;

/// Small requests, so that the first ladder fits any node.
fn ladders(image: &str) -> String {
    format!(
        r"
blocks: 1
seed: 1
noiseFloor: false
resources: {{requests: {{cpu: 10m, memory: 16Mi}}, limits: {{memory: 128Mi}}}}
variants:
- {{name: light, container: {{image: '{image}'}}}}
- {{name: heavy, container: {{image: '{image}', args: ['--ballast-mib=20']}}}}
workloads: [{{name: hello, expect: {{body: hello}}}}]
sweeps: {{density: {{instances: [1, 2, 4], requests: 50}}}}
"
    )
}

/// Two instances fit on a small node, fifty do not. The timeout is how long the instances that fit
/// have to come up, and how long the others wait in vain.
const TOO_MUCH: &str = r"
blocks: 1
resources: {requests: {cpu: 600m, memory: 16Mi}, limits: {memory: 64Mi}}
variants: [{name: native, preset: native}]
workloads: [{name: hello, expect: {body: hello}}]
sweeps: {density: {instances: [1, 2, 50], requests: 50, stop: {timeoutSeconds: 40}}}
";

fn document(record: &Record) -> &DensityDocument {
    let document = record.density();
    document.unwrap_or_else(|| panic!("{}: no document", record.trial))
}

#[tokio::test]
async fn more_memory_per_instance_is_found_as_the_slope_of_the_ladder() {
    with_namespace("density", |client, namespace| async move {
        let image = image(&client, "native").await;
        let (run, records) =
            runs::measured(&client, &namespace, ("ladders", &ladders(&image)), 420, 2).await;
        for record in &records {
            let document = document(record);
            println!("{}: {document:?}", record.trial);
            assert_eq!(document.stopped, None);
            let steps: Vec<[u32; 2]> = document
                .steps
                .iter()
                .map(|step| [step.instances, step.added])
                .collect();
            assert_eq!(steps, [[1, 1], [2, 1], [4, 2]]);
            for step in &document.steps {
                let memory = step.memory.expect("memory is read");
                assert!(memory.outside_anonymous_bytes.is_some(), "{memory:?}");
                assert!(step.all_answered_nanoseconds > 10_000_000, "{step:?}");
            }
        }
        let rows = &run.status.as_ref().expect("a status").summary;
        let slope = |variant: &str| {
            let mut rows = rows.iter().filter(|row| row.variant == variant);
            let density = rows.next().and_then(|row| row.density.clone());
            density.expect("a slope").bytes_per_instance.expect("bytes") / f64::from(1 << 20)
        };
        let planted = slope("heavy") - slope("light");
        println!(
            "per instance: {:.2} and {:.2} MiB, {planted:.2} planted",
            slope("light"),
            slope("heavy")
        );
        assert!((planted - BALLAST_MIB).abs() < 1.0, "{planted} MiB");
        let path = r"jsonpath={.data.report\.md}";
        let arguments = [
            "get",
            "configmap",
            "ladders-report",
            "-n",
            &namespace,
            "-o",
            path,
        ];
        let report = kubectl(&arguments).await.stdout;
        println!("{report}");
        assert!(report.contains("## Density"), "{report}");
        let uid = run.metadata.uid.as_deref().expect("a uid");
        assert_eq!(left_of(&client, uid).await, Vec::<String>::new());
    })
    .await;
}

#[tokio::test]
async fn a_ladder_stops_where_the_node_is_full_and_reports_it() {
    with_namespace("full", |client, namespace| async move {
        let (run, records) = runs::measured(&client, &namespace, ("full", TOO_MUCH), 240, 1).await;
        let document = document(&records[0]);
        assert_eq!(document.steps.len(), 2, "{document:?}");
        let stopped = document.stopped.as_ref().expect("the node is full");
        println!("{stopped:?}");
        assert_eq!(stopped.at, 50);
        assert_eq!(stopped.reason, DensityStopReason::NoRoom, "{stopped:?}");
        let rows = &run.status.as_ref().expect("a status").summary;
        let density = rows[0].density.as_ref().expect("density");
        assert_eq!((density.instances, density.stopped_trials), (2, 1));
        let uid = run.metadata.uid.as_deref().expect("a uid");
        assert_eq!(left_of(&client, uid).await, Vec::<String>::new());
    })
    .await;
}
