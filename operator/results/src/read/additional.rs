//! The measures that a run compares only if its spec names them: a document in, numbers out.

use std::collections::BTreeMap;

use wasmbench_api::BenchmarkRunSpec;
use wasmbench_api::quantity::thousandths;
use wasmbench_model::noise;
use wasmbench_model::points::measured_at;
use wasmbench_model::rounding::{round_number, round_time};
use wasmbench_model::wire::document::{LoadDocument, TimedWindow};
use wasmbench_model::wire::record::Point;

use crate::read::pod_use;
use crate::vocabulary::measure::Metric;

/// Numbers of one timed window. One that could not be measured is missing, never zero.
pub type Additional = BTreeMap<Metric, f64>;

/// The numbers of a timed window with this many requests, those that were sent again included.
/// [`keep`] removes those that a run does not name.
pub fn numbers(document: &LoadDocument, window: &TimedWindow, requests: u64) -> Additional {
    let meter = window.subject.as_ref();
    let per_request = |count: u64| (requests > 0).then(|| count as f64 / requests as f64);
    let found = [
        (
            Metric::ContextSwitchesPerCpuSecond,
            switches_per_cpu_second(window).map(round_number),
        ),
        (
            Metric::PageFaultsPerRequest,
            meter
                .and_then(|meter| per_request(meter.page_faults?))
                .map(round_number),
        ),
        (
            Metric::SystemCpuPerRequest,
            meter
                .and_then(|meter| per_request(meter.cpu_system_nanoseconds?))
                .map(|nanoseconds| round_time(nanoseconds / 1e3)),
        ),
        (
            Metric::InstanceTimePerRequest,
            instance_time(window).map(round_time),
        ),
        (Metric::CpuUse, cpu_use(document, window).map(round_number)),
    ];
    let numbers = found.into_iter();
    numbers
        .filter_map(|(metric, number)| Some((metric, number?)))
        .collect()
}

/// Keeps what the run names and compares at this point. `of_limit` is the CPU time as a share of what
/// a CPU limit leaves the pod, which may be less than its list of CPUs does.
pub fn keep(
    numbers: &mut Additional,
    spec: &BenchmarkRunSpec,
    point: Point,
    of_limit: Option<f64>,
) {
    if let (Some(share), Some(of_limit)) = (numbers.get_mut(&Metric::CpuUse), of_limit) {
        *share = share.max(of_limit);
    }
    let compared = measured_at(point);
    numbers.retain(|metric, _| compared.contains(metric) && spec.names(*metric));
}

/// CPUs that a pod used as a share of its CPU limit.
pub fn share_of_limit(cpus: f64, limit: &str) -> Option<f64> {
    let limit = thousandths(limit).filter(|limit| *limit > 0)?;
    Some(round_number(cpus * 1e3 / limit as f64))
}

/// Context switches of the subject's threads per second of their CPU time.
fn switches_per_cpu_second(window: &TimedWindow) -> Option<f64> {
    let switches = pod_use::switches(window)?;
    let all = switches.voluntary.saturating_add(switches.involuntary);
    let seconds = switches.cpu_nanoseconds as f64 / 1e9;
    (seconds > 0.0).then(|| all as f64 / seconds)
}

/// Microseconds in which an instance is made and dropped.
fn instance_time(window: &TimedWindow) -> Option<f64> {
    let cost = window.instances?;
    (cost.calls > 0).then(|| cost.nanoseconds as f64 / 1e3 / cost.calls as f64)
}

/// CPU time as a share of that of the CPUs on which the subject may run.
fn cpu_use(document: &LoadDocument, window: &TimedWindow) -> Option<f64> {
    let own = document
        .cpus
        .as_ref()
        .and_then(|lists| lists.subject.as_deref());
    let all = document.environment.facts.get("cpus");
    let cpus = noise::cpus(own.or(all.map(String::as_str))?)?;
    (cpus > 0).then_some(pod_use::cpus(window)? / f64::from(cpus))
}

#[cfg(test)]
mod tests {
    use wasmbench_model::wire::document::{InstanceTime, Meter, Processes, Switches};
    use wasmbench_model::wire::instrument::CpuLists;

    use super::*;

    /// A window of two seconds in which the pod used one CPU of four.
    fn window() -> TimedWindow {
        TimedWindow {
            duration_nanoseconds: 2_000_000_000,
            subject: Some(Meter {
                cpu_nanoseconds: 2_000_000_000,
                cpu_system_nanoseconds: Some(500_000_000),
                page_faults: Some(300),
                processes: Some(Processes {
                    count: 1,
                    switches: Some(Switches {
                        voluntary: 90,
                        involuntary: 10,
                        cpu_nanoseconds: 2_000_000_000,
                    }),
                }),
                ..Meter::default()
            }),
            instances: Some(InstanceTime {
                calls: 20,
                nanoseconds: 1_000_000,
                processes: None,
            }),
            ..TimedWindow::default()
        }
    }

    fn document() -> LoadDocument {
        LoadDocument {
            cpus: Some(CpuLists {
                subject: Some("0-3".to_owned()),
                ..CpuLists::default()
            }),
            ..LoadDocument::default()
        }
    }

    fn found() -> Additional {
        numbers(&document(), &window(), 10)
    }

    fn spec(measures: &[Metric]) -> BenchmarkRunSpec {
        serde_json::from_value(serde_json::json!({
            "variants": [{"name": "native", "preset": "native"}],
            "workloads": [{"name": "hello", "path": "/"}],
            "sweeps": {"throughput": {"connections": [4]}},
            "additionalMeasures": measures,
        }))
        .unwrap()
    }

    #[test]
    fn each_number_is_per_what_its_name_says() {
        let expected = [
            (Metric::ContextSwitchesPerCpuSecond, 50.0),
            (Metric::PageFaultsPerRequest, 30.0),
            (Metric::SystemCpuPerRequest, 50_000.0),
            (Metric::InstanceTimePerRequest, 50.0),
            (Metric::CpuUse, 0.25),
        ];
        assert_eq!(found(), Additional::from(expected));
    }

    #[test]
    fn a_number_that_was_not_read_is_missing_and_not_zero() {
        let nothing = TimedWindow::default();
        assert_eq!(numbers(&document(), &nothing, 10), Additional::new());
        let mut ended = window();
        let meter = ended.subject.as_mut();
        let processes = meter.and_then(|meter| meter.processes.as_mut());
        let switches = processes.and_then(|processes| processes.switches.as_mut());
        switches.unwrap().cpu_nanoseconds /= 2;
        let found = numbers(&document(), &ended, 10);
        assert!(!found.contains_key(&Metric::ContextSwitchesPerCpuSecond));
    }

    #[test]
    fn native_code_makes_instances_in_no_time() {
        let mut native = window();
        native.instances = Some(InstanceTime {
            calls: 20,
            nanoseconds: 0,
            processes: None,
        });
        let found = numbers(&document(), &native, 10);
        let time = found.get(&Metric::InstanceTimePerRequest);
        assert_eq!(time, Some(&0.0));
    }

    #[test]
    fn a_run_keeps_only_what_it_names_and_its_point_measures() {
        let throughput = Point::Throughput { connections: 4 };
        let kept = |measures: &[Metric], point| {
            let mut found = found();
            keep(&mut found, &spec(measures), point, None);
            found.into_keys().collect::<Vec<_>>()
        };
        assert_eq!(kept(&[], throughput), []);
        let both = [Metric::PageFaultsPerRequest, Metric::CpuUse];
        assert_eq!(kept(&both, throughput), both);
        assert_eq!(kept(&both, Point::WarmLatency), both[..1]);
    }

    #[test]
    fn a_cpu_limit_is_what_the_pod_may_use() {
        let share = |limit: Option<&str>| {
            let mut found = found();
            let point = Point::Throughput { connections: 4 };
            let of_limit = limit.and_then(|limit| share_of_limit(1.0, limit));
            keep(&mut found, &spec(&[Metric::CpuUse]), point, of_limit);
            found.remove(&Metric::CpuUse)
        };
        assert_eq!(share(None), Some(0.25));
        assert_eq!(share(Some("2")), Some(0.5));
        assert_eq!(share(Some("500m")), Some(2.0));
        assert_eq!(share(Some("8")), Some(0.25), "the node has four");
    }
}
