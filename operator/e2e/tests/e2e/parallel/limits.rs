//! The steps of docs/size-my-pod.md, with a service that holds 96 MiB: which memory limits kill it,
//! and how much it serves under one CPU and under less. Only how trials end and what people see is
//! asserted: the numbers are the machine's.

use kube::Client;
use wasmbench_api::BenchmarkRun;
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::operator::test_image;
use wasmbench_e2e::page::{Page, with};
use wasmbench_e2e::runs;

/// The page that describes these steps.
const PAGE: &str = "docs/size-my-pod.md";
const SERVICE: &str = "image: registry.example.com/team/shop:1.0";

/// The manifest of a step, with a single block, two low rates, and without these variants, which
/// would only take time.
fn short(page: &Page, heading: &str, service: &str, without: &[&str]) -> String {
    let [yaml] = &page.blocks(heading, "yaml")[..] else {
        panic!("one manifest is expected");
    };
    let is_kept = |line: &&str| !without.iter().any(|name| line.contains(name));
    let kept: Vec<&str> = yaml.lines().filter(is_kept).collect();
    let changes = [
        ("blocks: 6\n", "blocks: 1\n"),
        (SERVICE, service),
        (
            "target: {p99: 150ms}",
            "target: {p99: 150ms}, rates: [500, 1000], connections: 8, durationSeconds: 2, warmupSeconds: 1",
        ),
    ];
    with(&(kept.join("\n") + "\n"), &changes)
}

/// Carries out the commands below a heading, and returns the run that they started and what they
/// printed. The last command may need the name of that run.
async fn step(
    client: &Client,
    (page, namespace): (&Page, &str),
    heading: &str,
    name: &str,
) -> (BenchmarkRun, String) {
    let [commands] = &page.blocks(heading, "sh")[..] else {
        panic!("one block is expected");
    };
    let (with_name, others): (Vec<&str>, Vec<&str>) =
        commands.lines().partition(|line| line.contains(" NAME "));
    let others = others.join("\n");
    let output = page.carry_out(&others).await;
    // Other tests may make the numbers untrustworthy (3), or leave none of the baseline (1).
    let has_ended = matches!(output.code, Some(0 | 1 | 3));
    assert!(has_ended, "{others}\n{output:?}");
    let run = runs::of_base(client, namespace, name).await;
    let started = run.metadata.name.as_deref().expect("a name");
    for command in with_name {
        let command = with(command, &[(" NAME ", &format!(" {started} "))]);
        let output = page.carry_out(&command).await;
        assert!(output.ok, "{command}\n{output:?}");
    }
    (run, output.stdout)
}

#[tokio::test]
async fn a_pod_is_sized_in_the_two_runs_of_the_page() {
    with_namespace("limits", |client, namespace| async move {
        let page = Page::open(PAGE, &namespace).await;
        let image = test_image(&client, "misbehave").await;
        let service = format!("image: '{image}', args: [--hold=96]");

        let memory = short(&page, "1. Memory", &service, &["memory-256"]);
        page.save("size-memory.yaml", &memory);
        let here = (&page, namespace.as_str());
        let (run, printed) = step(&client, here, "1. Memory", "size-memory").await;
        println!("{printed}");
        let outcomes = runs::outcomes(&runs::records(&client, &run).await);
        for (trial, outcome) in &outcomes {
            let is_killed = trial.starts_with("memory-64/");
            assert_eq!(outcome != "Measured", is_killed, "{outcomes:#?}");
        }
        assert_eq!(outcomes.len(), 3, "{outcomes:#?}");
        for expected in [
            "memory-512 1 CPU, 512Mi",
            "Not measured: memory-64",
            "OOMKilled",
        ] {
            assert!(printed.contains(expected), "{expected}: {printed}");
        }

        let cpu = short(&page, "2. CPU", &service, &["cpu-500m", "cpu-125m"]);
        page.save("size-cpu.yaml", &cpu);
        let (run, printed) = step(&client, here, "2. CPU", "size-cpu").await;
        println!("{printed}");
        runs::assert_measured(&runs::records(&client, &run).await, 2);
        assert!(printed.contains("cpu-250m 250m CPU, 128Mi"), "{printed}");
        let plot = page.saved("size-cpu.html");
        assert!(plot.contains("class=\"target\""), "the page has the plot");
    })
    .await;
}
