//! `init`: it writes a run that `plan` accepts, whatever the cluster answered.

use std::collections::BTreeMap;
use std::process::Command;

use kubectl_wasmbench::args::InitArgs;
use kubectl_wasmbench::args::init::{header, variable};
use kubectl_wasmbench::check::observed::{ObservedNode, ObservedRuntimeClass};
use kubectl_wasmbench::init::manifest::{ClusterView, Draft, manifest, run_of};
use kubectl_wasmbench::plan;
use wasmbench_api::BenchmarkRun;
use wasmbench_api::run::Method;

fn arguments() -> InitArgs {
    InitArgs {
        image: Some("registry.example.com/team/My_Server:1.0".into()),
        wasm: Some("registry.example.com/team/server-wasm:1.0".into()),
        path: "/".into(),
        ..InitArgs::default()
    }
}

fn labels(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    let pairs = pairs.iter();
    pairs
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect()
}

fn node(name: &str, architecture: &str, handlers: &[&str]) -> ObservedNode {
    ObservedNode {
        name: name.into(),
        labels: labels(&[("kubernetes.io/arch", architecture), ("shim", "yes")]),
        handlers: Some(handlers.iter().map(|one| (*one).to_owned()).collect()),
        cpus: None,
    }
}

/// A cluster with gVisor, and a Wasm shim that only some of its nodes have.
fn cluster_view() -> ClusterView {
    let class = |handler: &str, selector: &[(&str, &str)]| ObservedRuntimeClass {
        handler: handler.into(),
        node_selector: labels(selector),
    };
    ClusterView {
        classes: Ok([
            ("gvisor".to_owned(), class("runsc", &[])),
            (
                "wasmtime-v1".to_owned(),
                class("wasmtime", &[("shim", "yes")]),
            ),
        ]
        .into()),
        nodes: Ok(vec![
            node("node-1", "amd64", &["runc", "wasmtime"]),
            node("node-2", "arm64", &["runc"]),
        ]),
    }
}

fn written(args: &InitArgs, view: ClusterView) -> (String, BenchmarkRun) {
    let text = manifest(&Draft::new(args, view));
    let run = run_of(&text).unwrap_or_else(|error| panic!("{error}:\n{text}"));
    plan::describe(&run, true, &[]).unwrap_or_else(|error| panic!("{error}:\n{text}"));
    (text, run)
}

#[test]
fn the_file_describes_the_cluster_and_selects_nodes_with_the_shim() {
    let (text, run) = written(&arguments(), cluster_view());
    insta::assert_snapshot!(text);
    assert_eq!(run.metadata.name.as_deref(), Some("my-server"));
    let placement = run.spec.placement.unwrap();
    assert_eq!(placement.node_selector, labels(&[("shim", "yes")]));
    let open = run.spec.sweeps.open_loop.unwrap();
    assert!(
        open.target.is_some() && open.needs_peak(),
        "no run has shown any rate yet"
    );
}

#[test]
fn a_cluster_that_was_not_read_is_named_in_the_file_and_among_the_open_points() {
    let args = arguments();
    let unread = || ClusterView::unavailable("no cluster is configured");
    let open = Draft::new(&args, unread()).open().join("\n");
    let (text, run) = written(&args, unread());
    assert!(
        text.contains("# RuntimeClasses: not read: no cluster is configured"),
        "{text}"
    );
    assert_eq!(run.spec.placement, None);
    assert!(open.contains("were not read"), "{open}");
}

#[test]
fn without_wasm_there_is_no_wasm_variant_and_a_second_one_is_asked_for() {
    let mut args = arguments();
    args.wasm = None;
    let open = Draft::new(&args, cluster_view()).open().join("\n");
    let (text, run) = written(&args, cluster_view());
    assert_eq!(run.spec.variants.len(), 1, "{text}");
    assert_eq!(run.spec.placement, None);
    assert!(
        !text.contains("RuntimeClass") && !text.contains("CHANGE-ME"),
        "{text}"
    );
    assert!(
        open.contains("--against, --against-args, --against-command or --wasm"),
        "{open}"
    );
}

#[test]
fn two_versions_or_two_settings_are_compared() {
    let mut args = arguments();
    args.wasm = None;
    args.against = Some("registry.example.com/team/server:1.1".into());
    let container = |args: &InitArgs| {
        let (text, run) = written(args, cluster_view());
        assert!(text.contains("kubectl wasmbench start -f FILE"), "{text}");
        assert_eq!(run.spec.baseline.as_deref(), Some("container"));
        let other = run.spec.variants[1].clone();
        assert_eq!(other.name, "other");
        other.container.unwrap()
    };
    let other = container(&args);
    assert_eq!(other.image, "registry.example.com/team/server:1.1");
    assert!(other.args.is_empty());
    args.against = None;
    args.against_args = Some("--workers 4 --name=\"a\"".into());
    let other = container(&args);
    assert_eq!(Some(other.image), args.image);
    assert_eq!(other.args, ["--workers", "4", "--name=\"a\""]);
    assert!(Draft::new(&args, cluster_view()).open().is_empty());
}

#[test]
fn one_image_runs_two_commands_with_the_same_environment() {
    let printed = Command::new(env!("CARGO_BIN_EXE_kubectl-wasmbench"))
        .args(["init", "registry.example.com/team/server:1.0"])
        .args(["--command", "gunicorn --workers 2 app:app"])
        .args(["--against-command", "uvicorn app:app"])
        .args(["--env", "OPTIONS=a=b c", "--env", "EMPTY="])
        .args(["--status", "201"])
        .env("KUBECONFIG", "/nonexistent")
        .env_remove("KUBERNETES_SERVICE_HOST")
        .output()
        .unwrap();
    let errors = String::from_utf8(printed.stderr).unwrap();
    assert_eq!(printed.status.code(), Some(0), "{errors}");
    let text = String::from_utf8(printed.stdout).unwrap();
    let run = run_of(&text).unwrap_or_else(|error| panic!("{error}:\n{text}"));
    assert_eq!(run.spec.workloads[0].expect.status, 201);
    let containers: Vec<_> = run
        .spec
        .variants
        .into_iter()
        .filter_map(|one| one.container)
        .collect();
    let [first, other] = containers.as_slice() else {
        panic!("{text}")
    };
    assert_eq!(first.command, ["gunicorn", "--workers", "2", "app:app"]);
    assert_eq!(other.command, ["uvicorn", "app:app"]);
    assert_eq!(first.image, other.image);
    let env = [
        variable("OPTIONS=a=b c").unwrap(),
        variable("EMPTY=").unwrap(),
    ];
    assert_eq!(first.env, env);
    assert_eq!(other.env, env);
}

#[test]
fn another_setting_has_the_command_of_the_first() {
    let mut args = arguments();
    args.command = Some("/app/server serve".into());
    args.against_args = Some("--workers 4".into());
    args.env = vec![variable("A=1").unwrap()];
    let (text, run) = written(&args, cluster_view());
    assert!(!text.contains("# command:"), "{text}");
    let other = run.spec.variants[1].container.clone().unwrap();
    assert_eq!(other.command, ["/app/server", "serve"]);
    assert_eq!(other.args, ["--workers", "4"]);
    let wasm = run.spec.variants[2].container.clone().unwrap();
    assert!(wasm.command.is_empty(), "{text}");
    assert_eq!(wasm.env, args.env);
}

#[test]
fn a_custom_class_is_used_and_a_missing_one_reported() {
    let mut args = arguments();
    args.runtime_class = Some("my-shim".into());
    let (_, run) = written(&args, cluster_view());
    let wasm = run.spec.variants[1].container.clone().unwrap();
    assert_eq!(wasm.runtime_class_name.as_deref(), Some("my-shim"));
    let open = Draft::new(&args, cluster_view()).open();
    assert!(open[0].contains("no RuntimeClass 'my-shim'"), "{open:?}");
}

#[test]
fn a_wasm_image_alone_gets_a_placeholder_for_the_container() {
    let mut args = arguments();
    args.image = None;
    let (text, run) = written(&args, cluster_view());
    assert_eq!(run.metadata.name.as_deref(), Some("server-wasm"));
    assert_eq!(run.spec.baseline.as_deref(), Some("container"));
    assert_eq!(text.matches("CHANGE-ME/service").count(), 1, "{text}");
}

#[test]
fn a_post_has_its_headers_and_body_and_a_hint_at_what_it_changes() {
    let mut args = arguments();
    args.headers = vec![header("Host: shop.example.com").unwrap()];
    args.body = Some("{\"items\": [1, \"#\"]}\n".into());
    let (text, run) = written(&args, cluster_view());
    let workload = &run.spec.workloads[0];
    assert_eq!(
        (workload.method, &workload.body),
        (Method::Post, &args.body)
    );
    assert_eq!(workload.headers, args.headers);
    assert!(text.contains("container.ready"), "{text}");
    args.method = Some(Method::Put);
    assert_eq!(
        written(&args, cluster_view()).1.spec.workloads[0].method,
        Method::Put
    );
}

#[test]
fn quoted_values_are_read_back_unchanged() {
    let mut args = arguments();
    args.path = "/a?b=\"c\"&d=#x'{}:%20".into();
    args.name = Some("true".into());
    args.port = Some(1);
    let (_, run) = written(&args, cluster_view());
    assert_eq!(run.spec.workloads[0].path, args.path);
    assert_eq!(run.metadata.name.as_deref(), Some("true"));
    let odd = "registry.example.com/9:5";
    args.image = Some(odd.into());
    args.name = None;
    let (_, run) = written(&args, cluster_view());
    assert_eq!(run.metadata.name.as_deref(), Some("9"));
    assert_eq!(run.spec.variants[0].container.as_ref().unwrap().image, odd);
}

#[test]
fn without_a_cluster_standard_output_is_only_the_file() {
    let printed = Command::new(env!("CARGO_BIN_EXE_kubectl-wasmbench"))
        .args(["init", "registry.example.com/team/server:1.0"])
        .env("KUBECONFIG", "/nonexistent")
        .env_remove("KUBERNETES_SERVICE_HOST")
        .output()
        .unwrap();
    assert_eq!(printed.status.code(), Some(0));
    let text = String::from_utf8(printed.stdout).unwrap();
    assert_eq!(
        run_of(&text).unwrap().metadata.name.as_deref(),
        Some("server")
    );
    let notes = String::from_utf8(printed.stderr).unwrap();
    assert!(notes.contains("note: one variant alone"), "{notes}");
}
