//! What a preset cannot do by definition. Such a cell is never planned: it is not a failure, and it
//! has no number. Pure: the spec alone decides.

use std::collections::BTreeMap;

use wasmbench_api::BenchmarkRunSpec;
use wasmbench_api::run::{Preset, TWIN, Variant, Workload};
use wasmbench_api::status::NotApplicable;

use crate::points::points_of;
use crate::variants::{action, native_host_network, wasmcloud, wasmtime_shim_http};
use crate::wire::record::Point;

/// Longest list of workloads or points in a message, in characters.
const MAX_WHAT_CHARS: usize = 256;

/// Why `variant` cannot do `workload` at `point`; `None` when it can.
pub fn reason(variant: &Variant, workload: &Workload, point: Point) -> Option<&'static str> {
    of_workload(variant, workload).or_else(|| of_point(variant, point))
}

fn of_workload(variant: &Variant, workload: &Workload) -> Option<&'static str> {
    action::cannot(speaks_actions(variant), workload).or_else(|| of_service(variant, workload))
}

fn speaks_actions(variant: &Variant) -> bool {
    matches!(
        variant.preset,
        Some(
            Preset::ActionNative
                | Preset::ActionWasmtime
                | Preset::ActionWasmi
                | Preset::ActionWasmer
        )
    )
}

fn of_service(variant: &Variant, workload: &Workload) -> Option<&'static str> {
    match variant.preset? {
        Preset::WasmtimeShimHttp | Preset::WasmtimeServe => wasmtime_shim_http::cannot(workload),
        Preset::Wasmcloud => wasmcloud::cannot(workload),
        Preset::ActionNative
        | Preset::ActionWasmtime
        | Preset::ActionWasmi
        | Preset::ActionWasmer
        | Preset::Native
        | Preset::NativeHostNetwork
        | Preset::WasmtimeEmbedded
        | Preset::WasmtimeCli
        | Preset::WasmedgeCli
        | Preset::WasmedgeShim
        | Preset::WasmedgeServer
        | Preset::WasmtimeShim
        | Preset::V8
        | Preset::WasmerCli => None,
    }
}

fn of_point(variant: &Variant, point: Point) -> Option<&'static str> {
    match variant.preset? {
        Preset::NativeHostNetwork => native_host_network::cannot(point),
        Preset::Native
        | Preset::WasmtimeEmbedded
        | Preset::WasmtimeCli
        | Preset::WasmedgeCli
        | Preset::WasmedgeShim
        | Preset::WasmedgeServer
        | Preset::WasmtimeShim
        | Preset::WasmtimeShimHttp
        | Preset::WasmtimeServe
        | Preset::V8
        | Preset::WasmerCli
        | Preset::Wasmcloud
        | Preset::ActionNative
        | Preset::ActionWasmtime
        | Preset::ActionWasmi
        | Preset::ActionWasmer => None,
    }
}

/// Everything that the run's variants cannot do, by variant and reason, in the order of the spec.
pub fn list(spec: &BenchmarkRunSpec) -> Vec<NotApplicable> {
    let points = points_of(spec);
    let mut found = vec![];
    for variant in spec.variants.iter().filter(|variant| variant.name != TWIN) {
        let workloads = spec.workloads.iter();
        let workloads =
            workloads.map(|w| (format!("workload {}", w.name), of_workload(variant, w)));
        let points = points.iter();
        let points = points.map(|point| (point.to_string(), of_point(variant, *point)));
        let mut by_reason: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for (what, reason) in workloads.chain(points) {
            if let Some(reason) = reason {
                by_reason.entry(reason).or_default().push(what);
            }
        }
        found.extend(by_reason.into_iter().map(|(reason, what)| NotApplicable {
            variant: variant.name.clone(),
            what: cut(&what.join(", ")),
            reason: reason.to_owned(),
        }));
    }
    found
}

fn cut(text: &str) -> String {
    text.chars().take(MAX_WHAT_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

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
    fn on_the_nodes_network_there_is_one_pod_at_a_time() {
        let list = list(&spec());
        assert_eq!(list.len(), 1, "{list:?}");
        assert_eq!(
            (&*list[0].variant, &*list[0].what),
            ("bare", "cold-c4, density")
        );
        assert!(list[0].reason.contains("port"), "{list:?}");
    }

    #[test]
    fn a_handler_with_a_fresh_instance_per_request_counts_nothing() {
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
    fn functions_are_called_by_their_protocol_and_services_are_not() {
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
    fn a_variant_without_a_reason_can_do_everything() {
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
