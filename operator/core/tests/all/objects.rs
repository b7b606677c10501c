//! Every object that the operator creates, whole: the snapshots are the documentation of what
//! appears in a cluster.

use std::collections::BTreeMap;

use jiff::Timestamp;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use wasmbench_api::run::{BodyFrom, Method};
use wasmbench_core::build::cold_start_job::{Place, cold_start_job};
use wasmbench_core::build::density_job::density_job;
use wasmbench_core::build::probe_job::{Target, again, probe_job};
use wasmbench_core::build::scout_job::scout_job;
use wasmbench_core::build::subject_pod::{cold_subject, subject_pod};
use wasmbench_core::build::upstream_pod::upstream_pod;
use wasmbench_core::build::{bodies, config_map, lease, names};
use wasmbench_core::scale::{self, ScaleConfig, Scaled};
use wasmbench_core::validate::{ValidatedRun, validate};
use wasmbench_model::images::PROBE;
use wasmbench_model::wire::cold_start::ColdStartRequest;
use wasmbench_model::wire::record::{Cell, Point, TrialId};
use wasmbench_model::wire::request::LoadRequest;
use wasmbench_model::wire::scout::ScoutRequest;
use wasmbench_model::wire::sent::SentBody;

use crate::common;

const SUBJECT_UID: &str = "0a0a0a0a-0000-4000-8000-000000000002";

fn trial(variant: &str, workload: &str, point: Point) -> TrialId {
    let cell = Cell {
        variant: variant.into(),
        workload: workload.into(),
        point,
    };
    TrialId { cell, block: 2 }
}

fn subject_of(run: &ValidatedRun, trial: &TrialId, upstream: Option<&str>) -> Pod {
    subject_pod(run, run.variant(trial).unwrap(), trial, "bench-1", upstream)
}

#[test]
fn subjects_of_all_kinds() {
    let run = common::validated();
    let native = trial("tortoise", "greet", Point::WarmLatency);
    let embedded = trial("hare", "relay", Point::Throughput { connections: 50 });
    let own = trial("mine", "greet", Point::WarmLatency);
    insta::assert_yaml_snapshot!("subject-native", subject_of(&run, &native, None));
    let with_upstream = subject_of(&run, &embedded, Some("10.0.0.9:8080"));
    insta::assert_yaml_snapshot!("subject-embedded-with-upstream", with_upstream);
    insta::assert_yaml_snapshot!("subject-own-container", subject_of(&run, &own, None));
}

#[test]
fn a_users_container_has_the_command_and_user_from_the_spec() {
    let mut run = common::parse(common::RUN);
    let more = "{image: 'example.com/a:1', command: [server, '$(HOME)'], runAsUser: 1000, runAsGroup: 1001}";
    run.spec.variants[2].container = Some(serde_yaml::from_str(more).unwrap());
    let run = validate(&run, &common::config()).unwrap();
    let pod = subject_of(&run, &trial("mine", "greet", Point::WarmLatency), None);
    let container = &pod.spec.unwrap().containers[0];
    let command = container.command.clone().unwrap_or_default();
    assert_eq!(command, ["server", "$$(HOME)"]);
    let security = container.security_context.as_ref().unwrap();
    let user = (security.run_as_user, security.run_as_group);
    assert_eq!(user, (Some(1000), Some(1001)));
    assert_eq!(security.run_as_non_root, Some(true));
}

/// Every pod of a run: subjects, echo server, and those of the probes' Jobs.
fn all_pods() -> Vec<ObjectMeta> {
    let (run, config) = (common::validated(), common::config());
    let target = common::target("");
    let load = trial("hare", "greet", Point::WarmLatency);
    let cold = trial("mine", "relay", Point::ColdStart { concurrency: 4 });
    let (variant, workload) = (run.variant(&load).unwrap(), run.workload(&load).unwrap());
    let pods = [
        subject_of(&run, &load, None),
        cold_subject(&run, variant, &cold, "bench-1", None),
        upstream_pod(&run, &config.images, "bench-1", 0),
    ];
    let jobs = [
        probe_job(&run, variant, workload, &load, target, &config),
        scout_job(&run, variant, &load, target, &config),
        cold_start_job(
            &run,
            variant,
            workload,
            &cold,
            Place::on("bench-1"),
            &config,
        ),
        density_job(
            &run,
            variant,
            workload,
            &cold,
            Place::on("bench-1"),
            &config,
        ),
    ];
    let templates = jobs.map(|job| job.spec.unwrap().template.metadata.unwrap());
    pods.map(|pod| pod.metadata)
        .into_iter()
        .chain(templates)
        .collect()
}

#[test]
fn no_autoscaler_considers_the_node_of_a_run_idle() {
    for pod in all_pods() {
        let annotations = pod.annotations.unwrap();
        for (key, value) in [
            ("cluster-autoscaler.kubernetes.io/safe-to-evict", "false"),
            ("karpenter.sh/do-not-disrupt", "true"),
            ("descheduler.alpha.kubernetes.io/prefer-no-eviction", "true"),
        ] {
            let found = annotations.get(key).map(String::as_str);
            assert_eq!(found, Some(value), "{key} of {:?}", pod.name);
        }
    }
}

#[test]
fn probes_of_both_sweeps() {
    let run = common::validated();
    let job = |trial: &TrialId| common::probe(&run, trial, SUBJECT_UID);
    let warm = trial("hare", "greet", Point::WarmLatency);
    let loaded = trial("tortoise", "greet", Point::Throughput { connections: 50 });
    insta::assert_yaml_snapshot!("probe-warm", job(&warm));
    insta::assert_yaml_snapshot!("probe-throughput", job(&loaded));
}

#[test]
fn a_subject_may_use_up_its_ready_timeout_and_the_load_still_has_its_time() {
    let warm = trial("hare", "greet", Point::WarmLatency);
    let deadline = |ready_seconds: u32| {
        let mut run = common::validated();
        run.spec.subject_ready_timeout_seconds = ready_seconds;
        let job = common::probe(&run, &warm, SUBJECT_UID);
        job.spec.unwrap().active_deadline_seconds.unwrap()
    };
    assert_eq!(deadline(600) - deadline(1), 599);
}

#[test]
fn a_scout_is_pointed_at_one_pod_and_asks_for_all_workloads() {
    let (run, config) = (common::validated(), common::config());
    let target = Target {
        upstream_uid: Some("0a0a0a0a-0000-4000-8000-000000000003"),
        ..common::target(SUBJECT_UID)
    };
    let mut scouts = run.order.iter().filter(|trial| trial.is_scout());
    let scout = scouts.find(|trial| trial.cell.variant == "hare").unwrap();
    let job = scout_job(&run, run.variant(scout).unwrap(), scout, target, &config);
    insta::assert_yaml_snapshot!("probe-scout", job);
}

#[test]
fn the_request_of_a_scout_fits_into_an_environment_variable() {
    let mut run = common::validated();
    let workload = run.spec.workloads[0].clone();
    run.spec.workloads = (0..16)
        .map(|number| {
            let mut workload = workload.clone();
            workload.name = format!("w{number}");
            workload.expect.body = Some("\"".repeat(4096));
            workload
        })
        .collect();
    let scout = run.order[0].clone();
    let target = common::target("");
    let variant = run.variant(&scout).unwrap();
    let job = scout_job(&run, variant, &scout, target, &common::config());
    let spec = job.spec.unwrap().template.spec.unwrap();
    let text = spec.containers[0].env.as_ref().unwrap()[0].value.clone();
    let text = text.unwrap();
    assert!(text.len() < 128 * 1024, "{} bytes", text.len());
    let request: ScoutRequest = serde_json::from_str(&text).unwrap();
    assert_eq!(request.workloads.len(), 11);
}

#[test]
fn a_stored_body_is_mounted_read_only_and_goes_with_the_job() {
    let mut run = common::validated();
    run.spec.workloads[0].method = Method::Post;
    run.spec.workloads[0].body_from = Some(BodyFrom {
        config_map: "orders".into(),
        key: "small.json".into(),
    });
    let job = |workload: &str| {
        let trial = trial("hare", workload, Point::WarmLatency);
        (common::probe(&run, &trial, "uid"), trial)
    };
    let mount = |job: &Job| {
        let pod = job.spec.as_ref().unwrap().template.spec.as_ref().unwrap();
        let mut volumes = pod.volumes.iter().flatten();
        let source = volumes.find_map(|volume| volume.config_map.clone())?;
        let mounts = pod.containers[0].volume_mounts.iter().flatten();
        let mount = mounts.last().cloned()?;
        Some((source.name, mount.mount_path, mount.read_only))
    };
    let (sending, trial) = job("greet");
    let name = sending.metadata.name.clone().unwrap();
    let expected = |name| Some((name, "/bodies".to_owned(), Some(true)));
    assert_eq!(mount(&sending), expected(name));
    assert_eq!(mount(&job("relay").0), None, "it sends none");
    let second = again(sending, &run, &trial);
    assert_eq!(
        mount(&second),
        expected(second.metadata.name.clone().unwrap())
    );
    let mut meta = second.metadata;
    meta.uid = Some("b0d1".into());
    let map = bodies::config_map(&meta, [("greet".to_owned(), vec![0, 255])].into());
    let owner = &map.metadata.owner_references.unwrap()[0];
    assert_eq!((owner.kind.as_str(), owner.uid.as_str()), ("Job", "b0d1"));
    assert_eq!(map.metadata.name, meta.name);
}

/// Control characters take six bytes each in JSON, and there may be as many as texts may have
/// characters.
#[test]
fn the_largest_request_of_a_load_fits_into_an_environment_variable() {
    let mut run = common::validated();
    let workload = &mut run.spec.workloads[0];
    workload.method = Method::Post;
    workload.body = Some("\u{1}".repeat(12_288));
    workload.path = format!("/{}", "$".repeat(1023));
    workload.expect.body = Some("\u{1}".repeat(4096));
    let warm = trial("hare", "greet", Point::WarmLatency);
    let workload = run.workload(&warm).unwrap();
    let job = common::probe(&run, &warm, SUBJECT_UID);
    let spec = job.spec.unwrap().template.spec.unwrap();
    let variable = &spec.containers[0].env.as_ref().unwrap()[0];
    let value = variable.value.as_ref().unwrap();
    let bytes = variable.name.len() + 1 + value.len() + 1;
    assert!(bytes <= 128 * 1024, "{bytes} bytes");
    let request: LoadRequest = serde_json::from_str(&value.replace("$$", "$")).unwrap();
    let body = workload.body.clone().map(SentBody::Text);
    assert_eq!(
        (request.sent.method, request.sent.body),
        (Method::Post, body)
    );
}

#[test]
fn a_cold_start_probe_and_the_pod_it_creates() {
    let (run, config) = (common::validated_cold(), common::config());
    let trial = trial("mine", "relay", Point::ColdStart { concurrency: 4 });
    let (variant, workload) = (run.variant(&trial).unwrap(), run.workload(&trial).unwrap());
    let place = Place {
        upstream: Some("10.0.0.9:8080"),
        ..Place::on("bench-1")
    };
    let mut job = cold_start_job(&run, variant, workload, &trial, place, &config);
    let spec = job.spec.as_mut().unwrap().template.spec.as_mut().unwrap();
    let env = spec.containers[0].env.as_mut().unwrap();
    let text = env[0]
        .value
        .replace("(see cold-start-request)".into())
        .unwrap();
    // As the kubelet passes it on.
    let request: ColdStartRequest = serde_json::from_str(&text.replace("$$", "$")).unwrap();
    let container = &request.pod.spec.as_ref().unwrap().containers[0];
    assert_eq!(container.args.as_ref().unwrap()[1], "$$(HOSTNAME)");
    insta::assert_yaml_snapshot!("probe-cold-start", job);
    insta::assert_yaml_snapshot!("cold-start-request", request);
}

#[test]
fn a_cold_start_probe_gets_containerds_socket_where_allowed() {
    let (run, mut config) = (common::validated_cold(), common::config());
    config.containerd_socket = Some("/run/containerd/containerd.sock".into());
    let trial = trial("mine", "relay", Point::ColdStart { concurrency: 4 });
    let (variant, workload) = (run.variant(&trial).unwrap(), run.workload(&trial).unwrap());
    let place = Place {
        upstream: Some("10.0.0.9:8080"),
        ..Place::on("bench-1")
    };
    let job = cold_start_job(&run, variant, workload, &trial, place, &config);
    let pod = job.spec.unwrap().template.spec.unwrap();
    let volumes = pod.volumes.unwrap();
    let socket = volumes[0].host_path.as_ref().unwrap();
    assert_eq!(
        (socket.path.as_str(), socket.type_.as_deref(), volumes.len()),
        ("/run/containerd/containerd.sock", Some("Socket"), 1)
    );
    let mounts = pod.containers[0].volume_mounts.as_ref().unwrap();
    assert_eq!((mounts.len(), mounts[0].read_only), (1, Some(true)));
    let security = pod.security_context.unwrap();
    assert_eq!(security.supplemental_groups, Some(vec![0]));
    assert_eq!(security.run_as_non_root, Some(true));
    let request = pod.containers[0].env.as_ref().unwrap()[0].value.clone();
    let request = request.unwrap().replace("$$", "$");
    let request: ColdStartRequest = serde_json::from_str(&request).unwrap();
    assert!(request.containerd);
    // The subject itself gets no access to it.
    assert_eq!(request.pod.spec.unwrap().volumes, None);
}

#[test]
fn a_probe_that_scales_an_object_finds_pods_by_the_kinds_that_the_operator_knows() {
    let (run, mut config) = (common::validated_cold(), common::config());
    config.scale = ScaleConfig::assumed();
    let trial = trial("mine", "relay", Point::ColdStart { concurrency: 4 });
    let (variant, workload) = (run.variant(&trial).unwrap(), run.workload(&trial).unwrap());
    let scaled = Scaled {
        target: scale::Target {
            group: "apps".into(),
            version: "v1".into(),
            resource: "deployments".into(),
            kind: "Deployment".into(),
            name: "shop".into(),
        },
        uid: "1".into(),
        selector: "app=shop".into(),
        trial: trial.clone(),
        most: 4,
        generation: Some(4),
        since: Timestamp::UNIX_EPOCH,
    };
    let place = Place {
        scaled: Some(&scaled),
        ..Place::on("bench-1")
    };
    let job = cold_start_job(&run, variant, workload, &trial, place, &config);
    let spec = job.spec.unwrap().template.spec.unwrap();
    let text = spec.containers[0].env.as_ref().unwrap()[0].value.clone();
    let request: ColdStartRequest = serde_json::from_str(&text.unwrap()).unwrap();
    let between = request.scaled.unwrap().between;
    assert_eq!(between.len(), config.scale.resources.len());
    let set = ["apps", "StatefulSet", "statefulsets"].map(str::to_owned);
    assert!(between.contains(&set), "{between:?}");
}

#[test]
fn the_harness_floor_is_in_the_baselines_first_workload_only() {
    let (run, config) = (common::validated_cold(), common::config());
    let first = run.spec.workloads[0].name.clone();
    let mut floors = 0;
    for trial in &run.order {
        let Point::ColdStart { concurrency } = trial.cell.point else {
            continue;
        };
        let (variant, workload) = (run.variant(trial).unwrap(), run.workload(trial).unwrap());
        let job = cold_start_job(
            &run,
            variant,
            workload,
            trial,
            Place::on("bench-1"),
            &config,
        );
        let spec = job.spec.unwrap().template.spec.unwrap();
        let text = spec.containers[0].env.as_ref().unwrap()[0].value.clone();
        let text = text.unwrap().replace("$$", "$");
        let request: ColdStartRequest = serde_json::from_str(&text).unwrap();
        let cell = &trial.cell;
        let has_floor = cell.variant == run.baseline && cell.workload == first;
        assert_eq!(request.floor.is_some(), has_floor, "{trial}");
        let Some(floor) = request.floor else { continue };
        floors += 1;
        assert_eq!(floor.concurrency, concurrency);
        assert_eq!(floor.selector, request.selector);
        let (pod, measured) = (&floor.pod, &request.pod);
        assert_ne!(pod.metadata.name, measured.metadata.name);
        assert_eq!(pod.metadata.labels, measured.metadata.labels);
        let container = &pod.spec.as_ref().unwrap().containers[0];
        let probe = config.images.reference(PROBE);
        assert_eq!(container.image.as_deref(), Some(probe));
        assert_eq!(container.args, Some(vec!["listen".to_owned()]));
    }
    assert!(floors > 0, "no trial has a floor");
}

#[test]
fn the_echo_server() {
    let (run, config) = (common::validated(), common::config());
    insta::assert_yaml_snapshot!("upstream", upstream_pod(&run, &config.images, "bench-1", 0));
}

#[test]
fn records_report_and_claim() {
    let run = common::validated();
    let cell = trial("tortoise", "greet", Point::WarmLatency).cell;
    insta::assert_yaml_snapshot!("records", config_map::records(&run, &cell, 0, "bench-1"));
    let files = BTreeMap::from([("report.md".to_owned(), "# gatekeeper\n".to_owned())]);
    insta::assert_yaml_snapshot!(
        "report",
        config_map::report(&run, files, Some("3f2a91c05d7e"))
    );
    let now = jiff::Timestamp::UNIX_EPOCH;
    let claim = lease::claim(&run, "bench-1", None, "wasmbench-system", now);
    insta::assert_yaml_snapshot!("claim", claim);
}

#[test]
fn the_names_of_a_run() {
    let run = common::validated();
    let subjects = run.order.iter().map(|trial| names::subject(&run, trial));
    let probes = run.order.iter().map(|trial| names::probe(&run, trial));
    let mut all: Vec<String> = subjects.chain(probes).collect();
    all.push(names::upstream(&run, 0));
    all.push(wasmbench_model::names::report(&run.name));
    all.sort();
    let mut once = all.clone();
    once.dedup();
    assert_eq!(once, all, "two objects share a name");
    insta::assert_yaml_snapshot!("names", all);
}

#[test]
fn a_second_run_of_the_same_name_shares_no_pod_name_with_the_first() {
    let first = common::validated();
    let mut second = first.clone();
    second.uid = "6f0c0e6e-0000-4000-8000-00000000000f".into();
    for trial in &first.order {
        assert_ne!(
            names::subject(&first, trial),
            names::subject(&second, trial)
        );
        assert_ne!(names::probe(&first, trial), names::probe(&second, trial));
    }
}
