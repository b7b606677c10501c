//! How close the load generator came to its own limit, for any load: a window in, shares of CPU
//! time out.

use wasmbench_model::noise;
use wasmbench_model::wire::document::TimedWindow;
use wasmbench_model::wire::instrument::CpuLists;

/// CPU time of the generator as a share of the CPU time available to it. `cpus` is the number of
/// CPUs of the node.
pub fn cpu_share(window: &TimedWindow, lists: Option<&CpuLists>, cpus: u32) -> Option<f64> {
    let used = window.generator_cpu_nanoseconds? as f64;
    let available = window.duration_nanoseconds as f64 * may_use(window, lists, cpus);
    (available > 0.0).then(|| used / available)
}

/// How many of the node's CPUs the generator may use: a limit and CPUs reserved for the subject
/// leave it fewer.
fn may_use(window: &TimedWindow, lists: Option<&CpuLists>, cpus: u32) -> f64 {
    let allowed = lists.and_then(|lists| noise::cpus(lists.generator.as_deref()?));
    [allowed.map(f64::from), window.generator_cpu_limit]
        .into_iter()
        .flatten()
        .filter(|few| *few > 0.0)
        .fold(f64::from(cpus), f64::min)
}

/// CPU time of the generator as a share of what generator and subject used together; absent if each
/// has its own CPUs.
pub fn work_share(window: &TimedWindow, lists: Option<&CpuLists>) -> Option<f64> {
    if lists.and_then(|lists| lists.cpus_disjoint) == Some(true) {
        return None;
    }
    let generator = window.generator_cpu_nanoseconds? as f64;
    let subject = window.subject.as_ref()?.cpu_nanoseconds as f64;
    (generator + subject > 0.0).then(|| generator / (generator + subject))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generators_share_is_relative_to_the_cpus_that_it_may_use() {
        let mut window = TimedWindow {
            duration_nanoseconds: 1000,
            generator_cpu_nanoseconds: Some(90),
            ..TimedWindow::default()
        };
        assert_eq!(cpu_share(&window, None, 2), Some(0.045));
        let lists = CpuLists {
            generator: Some("1".to_owned()),
            ..CpuLists::default()
        };
        assert_eq!(cpu_share(&window, Some(&lists), 2), Some(0.09));
        window.generator_cpu_limit = Some(0.1);
        assert_eq!(cpu_share(&window, Some(&lists), 2), Some(0.9));
    }
}
