//! A node that loses as much CPU time as a test demands, whatever the test's machine does.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;
use wasmbench_model::noise;

use super::{Run, probe_with};

/// A `/proc` of a node that loses CPU time to other machines only when `steal` is called.
pub struct Proc {
    root: tempfile::TempDir,
    stolen_ticks: AtomicU64,
}

/// What is stolen at once, in hundredths of a second: five seconds of each CPU. The probe counts
/// the CPUs of its own machine and judges their share: this much makes a window noisy even if a
/// busy machine makes it several times as long.
pub fn ticks_stolen_at_once() -> u64 {
    let online = fs::read_to_string("/sys/devices/system/cpu/online").unwrap();
    500 * u64::from(noise::cpus(&online).unwrap())
}

impl Proc {
    pub fn quiet() -> Arc<Self> {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("cpuinfo"), "model name : test\n").unwrap();
        let proc = Self {
            root,
            stolen_ticks: AtomicU64::new(0),
        };
        proc.write(0);
        Arc::new(proc)
    }

    pub fn steal(&self) {
        let more = ticks_stolen_at_once();
        self.write(self.stolen_ticks.fetch_add(more, Ordering::SeqCst) + more);
    }

    /// Runs the probe on this node.
    pub fn probe(&self, request: &Value) -> Run {
        probe_with(request, &[("WASMBENCH_PROC_ROOT", self.root())])
    }

    /// Where the probe reads this node.
    pub fn root(&self) -> &str {
        self.root.path().to_str().unwrap()
    }

    fn write(&self, stolen: u64) {
        let line = format!("cpu  10 0 10 1000 0 0 0 {stolen} 0 0\n");
        let (new, stat) = (self.root.path().join("new"), self.root.path().join("stat"));
        fs::write(&new, line).unwrap();
        fs::rename(new, stat).unwrap();
    }
}
