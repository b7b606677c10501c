//! The parts of a window, one run of the generator each, and what they add up to.

use serde_json::Value;
use wasmbench_model::wire::document::{
    InstanceTime, Meter, NodeCpu, NodeServices, Outside, Pause, Pressure, Processes, Switches,
    TimedWindow,
};

use crate::generator::result::{Run, distribution};

/// What is kept of a further run: the rest comes from the first run.
const COUNTS: [&str; 8] = [
    "StartTime",
    "ActualDuration",
    "NumThreads",
    "RetCodes",
    "DurationHistogram",
    "ErrorsDurationHistogram",
    "Seen",
    "Parts",
];

/// A run of the generator with the readings at its edges, or several consecutive runs.
pub struct Part {
    run: Run,
    timed: TimedWindow,
}

impl Part {
    /// Returns a single run; `timed` does not yet hold the generator's output.
    pub fn new(run: Run, timed: TimedWindow) -> Self {
        Self { run, timed }
    }

    /// Returns this part and the `next` one together. Counts are added up; final values are those
    /// of the last.
    #[must_use]
    pub fn then(self, next: Self) -> Self {
        let Self { mut run, mut timed } = self;
        run.duration += next.run.duration;
        run.requests += next.run.requests;
        run.expected += next.run.expected;
        timed.further.push(counts_of(next.run.json));
        let all = std::iter::once(&run.json).chain(&timed.further);
        run.distribution = distribution(all.map(|json| &json["DurationHistogram"]));
        let after = next.timed;
        timed.duration_nanoseconds += after.duration_nanoseconds;
        timed.subject = both(timed.subject.as_ref(), after.subject.as_ref(), subject);
        timed.instances = both(
            timed.instances.as_ref(),
            after.instances.as_ref(),
            instances,
        );
        timed.node = both(timed.node.as_ref(), after.node.as_ref(), node);
        timed.upstream_cpu_nanoseconds = sum(
            timed.upstream_cpu_nanoseconds,
            after.upstream_cpu_nanoseconds,
        );
        for (name, used) in &mut timed.containers {
            *used += after.containers.get(name).copied().unwrap_or_default();
        }
        timed.companions_cpu_nanoseconds = sum(
            timed.companions_cpu_nanoseconds,
            after.companions_cpu_nanoseconds,
        );
        timed.generator_cpu_nanoseconds = sum(
            timed.generator_cpu_nanoseconds,
            after.generator_cpu_nanoseconds,
        );
        timed.probe_cpu_nanoseconds = sum(timed.probe_cpu_nanoseconds, after.probe_cpu_nanoseconds);
        Self { run, timed }
    }

    /// Returns the whole window.
    pub fn window(self) -> (Run, TimedWindow) {
        (self.run, self.timed)
    }
}

/// What is kept of a further run's output.
fn counts_of(mut json: Value) -> Value {
    if let Some(fields) = json.as_object_mut() {
        fields.retain(|name, _| COUNTS.contains(&name.as_str()));
    }
    json
}

fn both<T>(one: Option<&T>, next: Option<&T>, add: fn(&T, &T) -> T) -> Option<T> {
    Some(add(one?, next?))
}

fn sum(one: Option<u64>, next: Option<u64>) -> Option<u64> {
    one?.checked_add(next?)
}

fn subject(one: &Meter, next: &Meter) -> Meter {
    Meter {
        cpu_nanoseconds: one.cpu_nanoseconds + next.cpu_nanoseconds,
        cpu_user_nanoseconds: sum(one.cpu_user_nanoseconds, next.cpu_user_nanoseconds),
        cpu_system_nanoseconds: sum(one.cpu_system_nanoseconds, next.cpu_system_nanoseconds),
        memory_working_set_start_bytes: one.memory_working_set_start_bytes,
        throttled_periods: sum(one.throttled_periods, next.throttled_periods),
        throttled_nanoseconds: sum(one.throttled_nanoseconds, next.throttled_nanoseconds),
        limit_periods: sum(one.limit_periods, next.limit_periods),
        memory_limit_hits: sum(one.memory_limit_hits, next.memory_limit_hits),
        oom_kills: sum(one.oom_kills, next.oom_kills),
        page_faults: sum(one.page_faults, next.page_faults),
        pause: both(one.pause.as_ref(), next.pause.as_ref(), pause),
        processes: both(one.processes.as_ref(), next.processes.as_ref(), processes),
        pressure: both(one.pressure.as_ref(), next.pressure.as_ref(), pressure),
        outside: both(one.outside.as_ref(), next.outside.as_ref(), outside),
        services: both(one.services.as_ref(), next.services.as_ref(), services),
        ..next.clone()
    }
}

fn instances(one: &InstanceTime, next: &InstanceTime) -> InstanceTime {
    InstanceTime {
        calls: one.calls + next.calls,
        nanoseconds: one.nanoseconds + next.nanoseconds,
        processes: both(one.processes.as_ref(), next.processes.as_ref(), switches),
    }
}

fn pause(one: &Pause, next: &Pause) -> Pause {
    Pause {
        cpu_nanoseconds: one.cpu_nanoseconds + next.cpu_nanoseconds,
        ..*next
    }
}

fn switches(one: &Switches, next: &Switches) -> Switches {
    one.plus(*next)
}

fn processes(one: &Processes, next: &Processes) -> Processes {
    Processes {
        switches: both(one.switches.as_ref(), next.switches.as_ref(), switches),
        ..*next
    }
}

fn pressure(one: &Pressure, next: &Pressure) -> Pressure {
    Pressure {
        cpu_nanoseconds: sum(one.cpu_nanoseconds, next.cpu_nanoseconds),
        memory_nanoseconds: sum(one.memory_nanoseconds, next.memory_nanoseconds),
        io_nanoseconds: sum(one.io_nanoseconds, next.io_nanoseconds),
    }
}

fn outside(one: &Outside, next: &Outside) -> Outside {
    Outside {
        cpu_nanoseconds: one.cpu_nanoseconds + next.cpu_nanoseconds,
        ..*next
    }
}

fn services(one: &NodeServices, next: &NodeServices) -> NodeServices {
    NodeServices {
        cpu_nanoseconds: one.cpu_nanoseconds + next.cpu_nanoseconds,
        ..*next
    }
}

fn node(one: &NodeCpu, next: &NodeCpu) -> NodeCpu {
    NodeCpu {
        busy_nanoseconds: one.busy_nanoseconds + next.busy_nanoseconds,
        interrupts_nanoseconds: sum(one.interrupts_nanoseconds, next.interrupts_nanoseconds),
        steal_nanoseconds: one.steal_nanoseconds + next.steal_nanoseconds,
        pressure_nanoseconds: sum(one.pressure_nanoseconds, next.pressure_nanoseconds),
        memory_pressure_nanoseconds: sum(
            one.memory_pressure_nanoseconds,
            next.memory_pressure_nanoseconds,
        ),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;

    fn part(requests: u64, cpu_nanoseconds: u64) -> Part {
        let json = json!({"RetCodes": {"200": requests}, "Sizes": {"Count": requests}});
        let run = Run {
            version: String::new(),
            start_unix_nanoseconds: 0,
            duration: Duration::from_secs(1),
            requests,
            expected: requests,
            distribution: None,
            json,
        };
        let timed = TimedWindow {
            duration_nanoseconds: 1_000_000_000,
            subject: Some(Meter {
                cpu_nanoseconds,
                memory_bytes: cpu_nanoseconds,
                memory_working_set_start_bytes: Some(requests),
                cpu_user_nanoseconds: Some(1),
                page_faults: Some(requests),
                ..Meter::default()
            }),
            instances: Some(InstanceTime {
                calls: requests,
                nanoseconds: 7,
                processes: Some(Switches {
                    voluntary: 2,
                    involuntary: 3,
                    cpu_nanoseconds: 100,
                }),
            }),
            generator_cpu_nanoseconds: Some(5),
            node: Some(NodeCpu {
                busy_nanoseconds: cpu_nanoseconds,
                steal_nanoseconds: 1,
                ..NodeCpu::default()
            }),
            ..TimedWindow::default()
        };
        Part::new(run, timed)
    }

    #[test]
    fn counters_are_added_up_and_gauges_are_those_of_the_last_part() {
        let (run, timed) = part(10, 3).then(part(20, 4)).window();
        assert_eq!((run.requests, run.duration), (30, Duration::from_secs(2)));
        assert_eq!(timed.duration_nanoseconds, 2_000_000_000);
        assert_eq!(timed.generator_cpu_nanoseconds, Some(10));
        assert_eq!(timed.upstream_cpu_nanoseconds, None, "in neither");
        let node = timed.node.unwrap();
        assert_eq!((node.busy_nanoseconds, node.steal_nanoseconds), (7, 2));
        let subject = timed.subject.unwrap();
        assert_eq!((subject.cpu_nanoseconds, subject.memory_bytes), (7, 4));
        assert_eq!(subject.memory_working_set_start_bytes, Some(10));
        assert_eq!(subject.cpu_user_nanoseconds, Some(2));
        assert_eq!(subject.page_faults, Some(30));
        let instances = timed.instances.unwrap();
        assert_eq!((instances.calls, instances.nanoseconds), (30, 14));
        let processes = instances.processes.unwrap();
        assert_eq!((processes.voluntary, processes.involuntary), (4, 6));
        assert_eq!(processes.cpu_nanoseconds, 200);
        assert_eq!(timed.further, [json!({"RetCodes": {"200": 20}})]);
    }

    /// The first part of a window is slow; the others are faster than the end of the first bucket.
    #[test]
    fn buckets_are_judged_by_the_latencies_of_all_parts() {
        let of = |data: Value| {
            let mut part = part(1, 1);
            part.run.json = json!({"DurationHistogram": {"Data": data}});
            part
        };
        let slow = of(json!([{"Start": 42e-6, "End": 43e-6, "Count": 2},
            {"Start": 100e-6, "End": 104e-6, "Count": 2298}]));
        let fast = of(json!([{"Start": 24e-6, "End": 43e-6, "Count": 6147},
            {"Start": 100e-6, "End": 104e-6, "Count": 600}]));
        let (run, _) = slow.then(fast).then(part(5, 1)).window();
        let distribution = run.distribution.unwrap();
        assert!(
            (24e-6..43e-6).contains(&distribution.p50),
            "{distribution:?}"
        );
        assert!(
            (100e-6..104e-6).contains(&distribution.p99),
            "{distribution:?}"
        );
    }
}
