//! What a pod and its runtime shim used over one timed window, apart from the numbers by which
//! variants are compared.

use wasmbench_model::units;
use wasmbench_model::wire::document::{Meter, Switches, TimedWindow};

/// Smallest share of the pod's CPU time for which context switches must be known. The rest is that of
/// threads that ended, and of moments between readings.
const LEAST_COUNTED: f64 = 0.95;

/// What the shim used over one timed window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShimUse {
    /// CPU time per second of the window, in microseconds.
    pub cpu_microseconds_per_second: f64,
    /// Resident memory at the end of the window, in bytes.
    pub resident_bytes: u64,
    /// The part of it without file pages, in bytes.
    pub anonymous_bytes: u64,
}

/// What the shim used in a timed window; `None` if it was not read.
pub fn shim_use(window: &TimedWindow) -> Option<ShimUse> {
    let outside = window.subject.as_ref()?.outside?;
    let seconds = window.duration_nanoseconds as f64 / 1e9;
    (seconds > 0.0).then(|| ShimUse {
        cpu_microseconds_per_second: outside.cpu_nanoseconds as f64 / 1e3 / seconds,
        resident_bytes: outside.resident_bytes,
        anonymous_bytes: outside.anonymous_bytes,
    })
}

/// What the pod used over one timed window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SandboxUse {
    /// Largest memory since the pod began, in bytes.
    pub peak_bytes: Option<f64>,
    /// Memory of the pause container, in bytes.
    pub pause_bytes: Option<f64>,
    /// Share (0 to 1) of the CPU time spent in the kernel.
    pub system_share: Option<f64>,
    /// Voluntary context switches per request: a thread waited for something.
    pub voluntary_switches: Option<f64>,
    /// Involuntary context switches per request: a thread lost its CPU to another.
    pub involuntary_switches: Option<f64>,
    /// Share (0 to 1) of the window in which a thread waited for a CPU.
    pub cpu_pressure_share: Option<f64>,
}

/// What the pod used in a timed window with this many requests; `None` if nothing was read.
pub fn sandbox_use(window: &TimedWindow, requests: u64) -> Option<SandboxUse> {
    let meter = window.subject.as_ref()?;
    let switches = switches(window);
    let per_request = |count: u64| (requests > 0).then(|| count as f64 / requests as f64);
    let nanoseconds = window.duration_nanoseconds;
    let waited = meter.pressure.and_then(|pressure| pressure.cpu_nanoseconds);
    Some(SandboxUse {
        peak_bytes: meter.memory_peak_bytes.map(|bytes| bytes as f64),
        pause_bytes: meter.pause.map(|pause| pause.memory_bytes as f64),
        system_share: system_share(meter),
        voluntary_switches: switches.and_then(|switches| per_request(switches.voluntary)),
        involuntary_switches: switches.and_then(|switches| per_request(switches.involuntary)),
        cpu_pressure_share: waited
            .filter(|_| nanoseconds > 0)
            .map(|waited| waited as f64 / nanoseconds as f64),
    })
}

/// Context switches of all threads of the pod, and their CPU time; `None` if they were not read, or if
/// threads that ended used much of the CPU time: their switches are lost, and the rest would be too few.
pub fn switches(window: &TimedWindow) -> Option<Switches> {
    let meter = window.subject.as_ref()?;
    let instances = window.instances.and_then(|found| found.processes);
    let known = meter.processes?.switches?;
    let known = known.plus(instances.unwrap_or_default());
    let least = LEAST_COUNTED * meter.cpu_nanoseconds as f64;
    (known.cpu_nanoseconds as f64 >= least).then_some(known)
}

/// The CPUs that the pod used: its CPU time per time of the window; `None` if it was not read.
pub fn cpus(window: &TimedWindow) -> Option<f64> {
    of_length(window, window.subject.as_ref()?.cpu_nanoseconds)
}

/// The time for which a CPU limit stopped the pod, added up over CPUs, as a share of the window's
/// length; `None` if it was not read.
pub fn throttled_share(window: &TimedWindow) -> Option<f64> {
    let stopped = window.subject.as_ref()?.throttled_nanoseconds?;
    of_length(window, stopped)
}

/// CPU time, or a time that is added up over CPUs, per time of the window.
fn of_length(window: &TimedWindow, nanoseconds: u64) -> Option<f64> {
    let length = window.duration_nanoseconds as f64;
    (length > 0.0).then(|| nanoseconds as f64 / length)
}

/// The share of the sum of user and system time, because under cgroup v1 they need not add up to
/// the total.
fn system_share(meter: &Meter) -> Option<f64> {
    let system = meter.cpu_system_nanoseconds?;
    let both = meter.cpu_user_nanoseconds?.saturating_add(system);
    (both > 0).then(|| system as f64 / both as f64)
}

/// How often and how long a CPU limit stopped a pod: `15 periods, for 31 % of the window`.
pub fn throttled_text(periods: u64, share: Option<f64>) -> String {
    let long = share.map(|share| format!(", for {} of the window", units::percent(share)));
    format!("{periods} periods{}", long.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use wasmbench_model::wire::document::{InstanceTime, Processes};

    fn window(subject: Option<Meter>) -> TimedWindow {
        TimedWindow {
            duration_nanoseconds: 1000,
            subject,
            ..TimedWindow::default()
        }
    }

    #[test]
    fn a_value_that_was_not_read_is_absent_not_zero() {
        assert_eq!(sandbox_use(&window(None), 5), None);
        let nothing = sandbox_use(&window(Some(Meter::default())), 5).unwrap();
        assert_eq!(nothing, SandboxUse::default());
    }

    #[test]
    fn switches_are_shared_by_all_requests() {
        let switches = Switches {
            voluntary: 30,
            involuntary: 5,
            cpu_nanoseconds: 39,
        };
        let meter = Meter {
            cpu_nanoseconds: 40,
            cpu_user_nanoseconds: Some(30),
            cpu_system_nanoseconds: Some(10),
            processes: Some(Processes {
                count: 1,
                switches: Some(switches),
            }),
            ..Meter::default()
        };
        let used = sandbox_use(&window(Some(meter.clone())), 10).unwrap();
        assert_eq!(used.voluntary_switches, Some(3.0));
        assert_eq!(used.involuntary_switches, Some(0.5));
        assert_eq!(used.system_share, Some(0.25));
        let none = sandbox_use(&window(Some(meter.clone())), 0).unwrap();
        assert_eq!(none.voluntary_switches, None);
    }

    #[test]
    fn switches_are_unknown_if_threads_that_ended_did_much_of_the_work_unless_the_server_reports_them()
     {
        let known = Switches {
            voluntary: 30,
            involuntary: 5,
            cpu_nanoseconds: 37,
        };
        let mut window = window(Some(Meter {
            cpu_nanoseconds: 40,
            processes: Some(Processes {
                count: 1,
                switches: Some(known),
            }),
            ..Meter::default()
        }));
        assert_eq!(switches(&window), None);
        let used = sandbox_use(&window, 10).unwrap();
        assert_eq!(used.voluntary_switches, None);
        let ended = Switches {
            voluntary: 1,
            involuntary: 2,
            cpu_nanoseconds: 3,
        };
        window.instances = Some(InstanceTime {
            processes: Some(ended),
            ..InstanceTime::default()
        });
        assert_eq!(switches(&window), Some(known.plus(ended)));
    }
}
