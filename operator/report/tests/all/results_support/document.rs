//! What the probe prints of a load.

use serde_json::Value;
use wasmbench_model::wire::document::{
    Answer, Environment, LOAD_SCHEMA, LoadDocument, Meter, NodeCpu, Outside, Pause, Processes,
    Readiness, Switches, TimedWindow,
};
use wasmbench_model::wire::instrument::CpuLists;
use wasmbench_model::wire::record::{Cell, Point};

use super::facts;

/// The document of a load with this output, whose timed window began at `began_at` nanoseconds
/// since 1970.
pub fn document(cell: &Cell, fortio: Value, began_at: i64) -> LoadDocument {
    let nanoseconds = fortio["ActualDuration"].as_u64().expect("a duration");
    let answer = Answer {
        status: 200,
        body_bytes: 5,
        body_sha256: format!(
            "{:0<64}",
            if cell.workload == "hello" { "ab" } else { "cd" }
        ),
        json_sha256: None,
        excerpt: cell.workload.clone(),
    };
    let memory = if ["native", "baseline-twin"].contains(&cell.variant.as_str()) {
        4_321_280
    } else {
        21_823_488
    };
    LoadDocument {
        schema: LOAD_SCHEMA.into(),
        probe_version: "0.1.0".into(),
        fortio_version: "1.68.2".into(),
        readiness: Readiness {
            waited_microseconds: 81_234,
            attempts: 3,
        },
        answer_before: Some(answer.clone()),
        answer_after: Some(answer),
        timed: Some(TimedWindow {
            start_unix_nanoseconds: began_at,
            duration_nanoseconds: nanoseconds,
            resolution_seconds: 0.000_01,
            subject: Some(Meter {
                cgroup_version: 2,
                cpu_nanoseconds: nanoseconds / 10 * 9,
                memory_bytes: memory + 4096 * u64::from(cell.point != Point::WarmLatency),
                memory_peak_bytes: Some(9 * memory),
                throttled_periods: Some(0),
                cpu_user_nanoseconds: Some(nanoseconds / 10 * 6),
                cpu_system_nanoseconds: Some(nanoseconds / 10 * 3),
                pause: Some(Pause {
                    cpu_nanoseconds: 0,
                    memory_bytes: 200 << 10,
                }),
                processes: Some(Processes {
                    count: 1,
                    switches: Some(Switches {
                        voluntary: nanoseconds / 100_000,
                        involuntary: nanoseconds / 10_000_000,
                        cpu_nanoseconds: nanoseconds,
                    }),
                }),
                outside: Some(Outside {
                    processes: 1,
                    cpu_nanoseconds: nanoseconds / 1000,
                    resident_bytes: 12 << 20,
                    anonymous_bytes: 4 << 20,
                }),
                ..Meter::default()
            }),
            generator_cpu_nanoseconds: Some(nanoseconds / 10 * 7),
            node: Some(NodeCpu {
                busy_nanoseconds: nanoseconds / 10 * 17,
                ..NodeCpu::default()
            }),
            fortio,
            ..TimedWindow::default()
        }),
        cpus: Some(CpuLists {
            subject: Some("0-1".into()),
            generator: Some("0-1".into()),
            cpus_disjoint: Some(false),
        }),
        environment: Environment {
            facts: facts(&[
                ("kernel", "6.12.41"),
                ("cpuModel", "Example CPU @ 3.00GHz"),
                ("cpus", "0-1"),
                ("governor", "performance"),
                ("cgroupVersion", "2"),
                ("virtualization", "KVM"),
            ]),
            ..Environment::default()
        },
        ..LoadDocument::default()
    }
}
