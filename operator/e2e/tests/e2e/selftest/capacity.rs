//! A service whose capacity is known: one worker, the same CPU time for every request, requests at even
//! intervals. What is planted must be found at two targets, and with half of the CPU half of it.

use kube::Client;
use wasmbench_api::BenchmarkRun;
use wasmbench_api::status::CapacityStatus;
use wasmbench_e2e::kubectl::kubectl;
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::operator::test_image;
use wasmbench_e2e::runs;
use wasmbench_e2e::selftest::found;

/// CPU time of a request, in microseconds.
const WORK_MICROSECONDS: f64 = 10_000.0;
/// The limit, as Kubernetes writes it, and in CPUs: so much that it alone decides. A worker that may use a whole CPU
/// gets less as soon as the hypervisor or the node's own services take some of it. Each stop costs 1 to 2 ms of a
/// period's quota, which weighs more the smaller the limit.
const WHOLE: (&str, f64) = ("600m", 0.6);
const HALF: (&str, f64) = ("300m", 0.3);
/// The rungs around what the whole limit allows, with two above both targets.
const RUNGS: [f64; 5] = [54.0, 60.0, 66.0, 72.0, 78.0];
/// One request waits while another is served: with a single connection, the way from an answer to the next request would
/// be part of each.
const CONNECTIONS: u32 = 2;

/// What a run of the service measures.
struct Measured<'a> {
    image: &'a str,
    blocks: u32,
    variants: &'a [&'a str],
    /// The CPU limit.
    cpus: &'a str,
    /// CPU time of a request, in microseconds.
    work: f64,
    /// The target, in milliseconds.
    target: u32,
    rungs: Vec<f64>,
    /// The length of a window.
    seconds: u32,
    /// The rest of the spec.
    more: String,
}

impl Measured<'_> {
    fn spec(&self) -> String {
        let image = self.image;
        let variants = self
            .variants
            .iter()
            .map(|name| format!("- {{name: {name}, container: {{image: '{image}'}}}}\n"));
        let variants: String = variants.collect();
        let rates: Vec<String> = self.rungs.iter().map(|rate| format!("{rate:.0}")).collect();
        format!(
            r"
blocks: {}
noiseFloor: false
resources: {{requests: {{cpu: 100m}}, limits: {{cpu: '{}', memory: 64Mi}}}}
variants:
{variants}
workloads: [{{name: busy, path: '/busy?cpu_microseconds={:.0}', expect: {{body: hello}}}}]
sweeps:
  openLoop:
    target: {{p99: {}ms}}
    rates: [{}]
    connections: {CONNECTIONS}
    durationSeconds: {}
    warmupSeconds: 2
{}",
            self.blocks,
            self.cpus,
            self.work,
            self.target,
            rates.join(", "),
            self.seconds,
            self.more
        )
    }
}

/// The rate at which p99 reaches the target: above what `cpus` can do, the queue grows for as long as the
/// window lasts, and 99 of 100 requests are due before its last hundredth.
fn planted(cpus: f64, target_milliseconds: u32) -> f64 {
    let most = cpus * 1e6 / WORK_MICROSECONDS;
    let window = (1001.0 / most).max(10.0);
    let queue = f64::from(target_milliseconds) / 1e3 - WORK_MICROSECONDS / 1e6;
    most / (1.0 - queue / (0.99 * window))
}

fn capacity<'a>(run: &'a BenchmarkRun, variant: &str) -> &'a CapacityStatus {
    let status = run.status.as_ref().expect("a status");
    let row = status.summary.iter().find(|row| row.variant == variant);
    let row = row.unwrap_or_else(|| panic!("{variant} has no row: {status:#?}"));
    row.capacity.as_ref().expect("a capacity")
}

/// Measures the capacity under a limit and prints it next to what is planted.
async fn measured(client: &Client, namespace: &str, cpus: (&str, f64), target: u32) -> (f64, f64) {
    let image = test_image(client, "misbehave").await;
    let name = format!("capacity-{}-{target}", cpus.0);
    let run = Measured {
        image: &image,
        blocks: 3,
        variants: &["one"],
        cpus: cpus.0,
        work: WORK_MICROSECONDS,
        target,
        rungs: RUNGS.map(|rate| rate * cpus.1 / WHOLE.1).to_vec(),
        seconds: 10,
        more: String::new(),
    };
    let run = runs::finished_on_quiet_node(client, namespace, &name, &run.spec(), 1500).await;
    let status = capacity(&run, "one");
    let rps = status.rps.unwrap_or_else(|| panic!("{status:#?}"));
    let truth = planted(cpus.1, target);
    let limited = status.limited.clone().unwrap_or_default();
    found(
        &format!("capacity with {} CPUs at p99 <= {target} ms", cpus.0),
        &format!("{rps:.1}/s; {limited}"),
        &format!("{truth:.1}/s"),
    );
    (rps, truth)
}

#[tokio::test]
#[ignore = "needs a quiet node: make selftest"]
async fn a_planted_capacity_is_found_at_two_targets_and_with_half_of_the_cpu() {
    with_namespace("planted-capacity", |client, namespace| async move {
        let mut wholes = vec![];
        for target in [300, 2000] {
            let (rps, truth) = measured(&client, &namespace, WHOLE, target).await;
            assert!((rps / truth - 1.0).abs() < 0.05, "{rps} {truth}");
            wholes.push(rps);
        }
        let (half, _) = measured(&client, &namespace, HALF, 300).await;
        let share = half / wholes[0];
        found(
            "capacity with half of the CPU",
            &format!("{share:.2}x"),
            "about 0.50x",
        );
        assert!((0.45..0.55).contains(&share), "{share}");
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a quiet node: make selftest"]
async fn a_gate_on_capacity_passes_with_0_and_fails_with_4() {
    with_namespace("capacity-gate", |client, namespace| async move {
        let image = test_image(&client, "misbehave").await;
        for (name, least, code) in [("passes", "0.8", 0), ("fails", "1.5", 4)] {
            let run = Measured {
                image: &image,
                blocks: 5,
                variants: &["one", "equal"],
                cpus: "500m",
                // Short requests, so that a rung has its thousand in seconds.
                work: 1_000.0,
                target: 300,
                rungs: vec![400.0, 480.0, 560.0, 640.0, 720.0],
                seconds: 4,
                more: format!(
                    "expectations: [{{name: capacity, metric: capacity, variant: equal, workload: busy, \
                     atLeast: '{least}'}}]\n"
                ),
            };
            let run = runs::finished_on_quiet_node(&client, &namespace, name, &run.spec(), 1500).await;
            let name = run.metadata.name.as_deref().expect("a name");
            let gate = kubectl(&["wasmbench", "get", name, "-n", &namespace, "--watch"]).await;
            found(
                &format!("exit code of a gate that {name}"),
                &format!("{:?}", gate.code),
                &code.to_string(),
            );
            assert_eq!(gate.code, Some(code), "{gate:?}");
        }
    })
    .await;
}
