//! The CPU limit of the probe's own container. The operator sets none, but a LimitRange of the
//! namespace may; a throttled load generator would measure its own limit.

use std::fs;
use std::path::Path;

/// Number of CPUs that the container may use; `None` without a limit, or if it cannot be read.
/// `cgroup` is the container's own `/sys/fs/cgroup`.
pub fn cpus(cgroup: &Path) -> Option<f64> {
    let read = |path: &str| fs::read_to_string(cgroup.join(path)).ok();
    if let Some(text) = read("cpu.max") {
        let (quota, period) = text.trim().split_once(' ')?;
        return ratio(quota, period);
    }
    ["cpu", "cpu,cpuacct", "cpuacct,cpu"]
        .into_iter()
        .find_map(|tree| {
            let quota = read(&format!("{tree}/cpu.cfs_quota_us"))?;
            ratio(&quota, &read(&format!("{tree}/cpu.cfs_period_us"))?)
        })
}

/// No limit is the quota `max` under cgroup v2 and -1 under v1.
fn ratio(quota: &str, period: &str) -> Option<f64> {
    let quota: u32 = quota.trim().parse().ok()?;
    let period: u32 = period.trim().parse().ok()?;
    (period > 0).then(|| f64::from(quota) / f64::from(period))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(files: &[(&str, &str)]) -> Option<f64> {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        cpus(root.path())
    }

    #[test]
    fn a_limit_is_read_under_both_versions() {
        assert_eq!(limit(&[("cpu.max", "10000 100000\n")]), Some(0.1));
        let v1 = [
            ("cpu/cpu.cfs_quota_us", "150000\n"),
            ("cpu/cpu.cfs_period_us", "100000\n"),
        ];
        assert_eq!(limit(&v1), Some(1.5));
    }

    #[test]
    fn no_limit_is_none() {
        assert_eq!(limit(&[("cpu.max", "max 100000\n")]), None);
        let v1 = [
            ("cpu/cpu.cfs_quota_us", "-1\n"),
            ("cpu/cpu.cfs_period_us", "100000\n"),
        ];
        assert_eq!(limit(&v1), None);
        assert_eq!(limit(&[]), None);
        assert_eq!(limit(&[("cpu.max", "nonsense")]), None);
    }
}
