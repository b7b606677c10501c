//! What a preset cannot do by definition. Such a cell is never planned: it is not a failure, and it
//! has no number. Pure: only the spec decides.

use std::collections::BTreeMap;

use wasmbench_api::BenchmarkRunSpec;
use wasmbench_api::run::{Method, TWIN, Variant, Workload};
use wasmbench_api::status::NotApplicable;

use crate::points::points_of;
use crate::units::truncate;
use crate::variants::catalogue::definition_of;
use crate::variants::presets::{Cannot, Definition, Serves};
use crate::wire::record::Point;

/// Longest list of workloads or points in a message, in characters.
const MAX_WHAT_CHARS: usize = 256;
/// The path of kernels.
const KERNEL: &str = "/kernel";

/// Why `variant` cannot do `workload` at `point`; `None` when it can.
pub fn reason(variant: &Variant, workload: &Workload, point: Point) -> Option<&'static str> {
    workload_obstacle(variant, workload).or_else(|| point_obstacle(variant, point))
}

/// Why `variant` cannot do one of the requests of `workload`.
fn workload_obstacle(variant: &Variant, workload: &Workload) -> Option<&'static str> {
    let parts = workload.parts();
    parts
        .iter()
        .find_map(|part| request_obstacle(variant, part))
}

fn request_obstacle(variant: &Variant, workload: &Workload) -> Option<&'static str> {
    let preset = definition_of(variant);
    let speaks_actions = preset.is_some_and(|preset| preset.actions.is_some());
    let by_protocol = match (speaks_actions, workload.action.is_some()) {
        (true, true) | (false, false) => None,
        (true, false) => {
            Some("it is called by the action protocol only: give the workload an action")
        }
        (false, true) => {
            Some("it does not speak the action protocol, by which the workload is called")
        }
    };
    let cannot = preset.map_or(&[][..], |preset| &preset.cannot).iter();
    let by_service = cannot.filter_map(|cannot| service_obstacle(*cannot, workload));
    let by_path = preset.and_then(|preset| path_obstacle(preset.serves, workload));
    let by_method = preset.and_then(|preset| method_obstacle(preset.serves, workload.method));
    let by_scale = (variant.scale.is_some() && workload.upstream).then_some(
        "its pod is made by its own controller, which does not give it the address of the echo server",
    );
    let by_protocol = by_protocol.into_iter().chain(by_scale);
    let before = by_protocol.chain(by_path).chain(by_method);
    before.chain(by_service).next()
}

/// Presets alone are asked: any path may be one of the user's own service.
fn path_obstacle(serves: Serves, workload: &Workload) -> Option<&'static str> {
    let path = path_of(workload);
    match serves {
        Serves::Gateway => (path == KERNEL)
            .then_some("it has no kernels: those are answered by the presets kernel-..."),
        Serves::Kernels => (![KERNEL, "/health", "/engine"].contains(&path)).then_some(
            "it answers kernels only: give the workload a path such as /kernel?name=gemm",
        ),
    }
}

/// The methods that presets answer; with any other they answer status 405.
fn method_obstacle(serves: Serves, method: Method) -> Option<&'static str> {
    match (serves, method) {
        (Serves::Gateway, Method::Get | Method::Head | Method::Post)
        | (Serves::Kernels, Method::Get) => None,
        (Serves::Gateway, _) => Some("it answers GET, HEAD and POST only"),
        (Serves::Kernels, _) => Some("it answers GET only"),
    }
}

/// The workload's path without its query.
fn path_of(workload: &Workload) -> &str {
    workload.path.split('?').next().unwrap_or_default()
}

fn service_obstacle(cannot: Cannot, workload: &Workload) -> Option<&'static str> {
    match cannot {
        Cannot::KeepState => (path_of(workload) == "/state").then_some(
            "an instance answers one request only, so that no state is kept from one to the next",
        ),
        Cannot::AskUpstream => workload
            .upstream
            .then_some("a component that is linked only to the HTTP server has no upstream to ask"),
    }
}

/// What a preset cannot do at a point: one without an echo has no payload, and all pods of one trial on
/// the node's network would listen on the same port.
fn point_obstacle(variant: &Variant, point: Point) -> Option<&'static str> {
    if point == Point::Payload {
        return echo_obstacle(definition_of(variant)?);
    }
    let has_many_pods = match point {
        Point::WarmLatency
        | Point::Throughput { .. }
        | Point::OpenLoop { .. }
        | Point::Capacity
        | Point::Payload
        | Point::Scout
        | Point::ColdStart { concurrency: 0..=1 } => false,
        Point::ColdStart { .. } | Point::Density => true,
    };
    (has_many_pods && definition_of(variant)?.host_network).then_some(
        "pods on the node's network share its ports, so that only one of them can listen at a time",
    )
}

/// Why a preset does not send a body back.
fn echo_obstacle(preset: &Definition) -> Option<&'static str> {
    if preset.serves == Serves::Kernels {
        return Some("it answers kernels only, which take no body");
    }
    let is_called = preset.actions.is_some();
    is_called.then_some("it is called by the action protocol only, which has no echo")
}

/// Everything that the run's variants cannot do, by variant and reason, in the order of the spec.
pub fn list(spec: &BenchmarkRunSpec) -> Vec<NotApplicable> {
    let points = points_of(spec);
    let mut found = vec![];
    for variant in spec.variants.iter().filter(|variant| variant.name != TWIN) {
        let workloads = spec.workloads.iter().map(|w| {
            (
                format!("workload {}", w.name),
                workload_obstacle(variant, w),
            )
        });
        let points = points
            .iter()
            .map(|point| (point.to_string(), point_obstacle(variant, *point)));
        let mut by_reason: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for (what, reason) in workloads.chain(points) {
            if let Some(reason) = reason {
                by_reason.entry(reason).or_default().push(what);
            }
        }
        found.extend(by_reason.into_iter().map(|(reason, what)| NotApplicable {
            variant: variant.name.clone(),
            what: truncate(&what.join(", "), MAX_WHAT_CHARS),
            reason: reason.to_owned(),
        }));
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use wasmbench_api::run::Preset;

    use super::*;
    use crate::variants::catalogue::catalogue;

    fn spec() -> BenchmarkRunSpec {
        serde_json::from_value(json!({
            "variants": [{"name": "one", "preset": "native"}, {"name": "bare", "preset": "native-host-network"}],
            "workloads": [{"name": "hello"}, {"name": "other"}],
            "sweeps": {
                "coldStart": {"concurrency": [1, 4]},
                "density": {"instances": [1, 8]},
                "warmLatency": {},
            },
        }))
        .unwrap()
    }

    #[test]
    fn only_one_pod_at_a_time_is_on_the_nodes_network() {
        let list = list(&spec());
        assert_eq!(list.len(), 1, "{list:?}");
        assert_eq!(
            (&*list[0].variant, &*list[0].what),
            ("bare", "cold-c4, density")
        );
        assert!(list[0].reason.contains("port"), "{list:?}");
    }

    #[test]
    fn a_handler_with_a_fresh_instance_per_request_keeps_no_state() {
        for preset in [Preset::WasmtimeShimHttp, Preset::WasmtimeServe] {
            let mut spec = spec();
            spec.variants[1].preset = Some(preset);
            spec.workloads[1].path = "/state".into();
            let list = list(&spec);
            assert_eq!(list.len(), 1, "{list:?}");
            assert_eq!(list[0].what, "workload other");
            assert!(list[0].reason.contains("instance"), "{list:?}");
        }
    }

    #[test]
    fn functions_and_services_each_need_their_own_protocol() {
        let mut spec = spec();
        spec.variants[1].preset = Some(Preset::ActionWasmtime);
        spec.workloads[1].action = Some(wasmbench_api::run::Action::default());
        let reason_of = |variant: usize, workload: usize| {
            let (variant, workload) = (&spec.variants[variant], &spec.workloads[workload]);
            reason(variant, workload, Point::WarmLatency)
        };
        assert_eq!(reason_of(0, 0), None);
        assert_eq!(reason_of(1, 1), None);
        assert!(reason_of(0, 1).unwrap().contains("does not speak"));
        assert!(
            reason_of(1, 0)
                .unwrap()
                .contains("give the workload an action")
        );
    }

    #[test]
    fn kernel_servers_answer_kernels_and_no_other_preset_does() {
        let mut spec = spec();
        spec.variants[1].preset = Some(Preset::KernelWasmtime);
        spec.workloads[1].path = "/kernel?name=gemm".into();
        let reason_of = |variant: usize, workload: usize| {
            let (variant, workload) = (&spec.variants[variant], &spec.workloads[workload]);
            reason(variant, workload, Point::WarmLatency)
        };
        assert_eq!(reason_of(0, 0), None);
        assert_eq!(reason_of(1, 1), None);
        assert!(reason_of(0, 1).unwrap().contains("no kernels"));
        assert!(reason_of(1, 0).unwrap().contains("/kernel?name="));
    }

    #[test]
    fn every_preset_echoes_unless_it_serves_kernels_or_actions() {
        for definition in &catalogue().unwrap().presets {
            let mut spec = spec();
            spec.variants[0].preset = Some(definition.name);
            let found = point_obstacle(&spec.variants[0], Point::Payload);
            let is_other = definition.actions.is_some() || definition.serves == Serves::Kernels;
            assert_eq!(found.is_some(), is_other, "{:?}", definition.name);
        }
    }

    #[test]
    fn presets_answer_few_methods_and_a_users_own_service_any() {
        let mut spec = spec();
        let own = json!({"name": "own", "container": {"image": "example.com/a:1"}});
        spec.variants[1] = serde_json::from_value(own).unwrap();
        for (method, takes) in [
            (Method::Head, true),
            (Method::Post, true),
            (Method::Delete, false),
        ] {
            spec.workloads[0].method = method;
            let found = |variant: usize| {
                reason(
                    &spec.variants[variant],
                    &spec.workloads[0],
                    Point::WarmLatency,
                )
            };
            assert_eq!(found(0).is_none(), takes, "{method}");
            assert_eq!(found(1), None, "{method}");
        }
    }

    #[test]
    fn a_users_own_service_may_have_a_path_that_is_called_kernel() {
        let mut spec = spec();
        let own = json!({"name": "own", "container": {"image": "example.com/a:1"}});
        spec.variants[0] = serde_json::from_value(own).unwrap();
        spec.workloads[0].path = "/kernel".into();
        let found = reason(&spec.variants[0], &spec.workloads[0], Point::WarmLatency);
        assert_eq!(found, None);
    }

    #[test]
    fn every_point_applies_to_an_unrestricted_variant() {
        let spec = spec();
        let points = points_of(&spec);
        assert_eq!(points.len(), 4);
        for point in points {
            assert_eq!(reason(&spec.variants[0], &spec.workloads[0], point), None);
        }
        let bare = &spec.variants[1];
        assert_eq!(reason(bare, &spec.workloads[0], Point::WarmLatency), None);
        assert!(reason(bare, &spec.workloads[0], Point::Density).is_some());
    }
}
