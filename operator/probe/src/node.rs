//! CPU time of the whole node while something is measured: what neither the subject nor the
//! generator used, something else did, and a busy neighbour slows the subject down.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Instant;

use wasmbench_model::wire::cold_start::NodeSpan;
use wasmbench_model::wire::document::NodeCpu;

use crate::meter::{USER_HZ_NANOSECONDS, stalled};

/// A function that a kernel has if it accounts for interrupts separately
/// (`CONFIG_IRQ_TIME_ACCOUNTING`). Then no task is charged for them; otherwise, the interrupted
/// task is.
const TIMES_INTERRUPTS: &str = "irqtime_account_irq";

/// Whether this kernel does so, from its list of symbols, which is long and therefore read once.
static INTERRUPTS_ARE_APART: LazyLock<bool> = LazyLock::new(|| {
    let symbols = fs::File::open("/proc/kallsyms").map(BufReader::new);
    symbols.is_ok_and(times_interrupts)
});

/// Finds out once how this kernel counts, which takes some 70 ms that no measurement may contain.
pub fn prepare() {
    LazyLock::force(&INTERRUPTS_ARE_APART);
}

fn times_interrupts(symbols: impl BufRead) -> bool {
    let mut lines = symbols.lines().map_while(Result::ok);
    lines.any(|line| line.split_ascii_whitespace().nth(2) == Some(TIMES_INTERRUPTS))
}

/// The node's CPU time so far; `None` if there is no readable `stat` in `proc`.
pub fn cpu(proc: &Path) -> Option<NodeCpu> {
    let times = times(proc)?;
    let waited = |file: &str| {
        let pressure = fs::read_to_string(proc.join(file)).ok()?;
        stalled(&pressure)
    };
    Some(NodeCpu {
        pressure_nanoseconds: waited("pressure/cpu"),
        memory_pressure_nanoseconds: waited("pressure/memory"),
        ..times
    })
}

/// The same from only one file, without pressure.
fn times(proc: &Path) -> Option<NodeCpu> {
    let stat = fs::read_to_string(proc.join("stat")).ok()?;
    parse(&stat, *INTERRUPTS_ARE_APART)
}

/// The node's CPU time since a moment.
#[derive(Debug)]
pub struct Span {
    proc: PathBuf,
    start: NodeCpu,
    began: Instant,
}

impl Span {
    /// Begins now; `None` if the node's CPU time cannot be read.
    pub fn begin(proc: &Path) -> Option<Self> {
        let start = times(proc)?;
        Some(Self {
            proc: proc.to_owned(),
            start,
            began: Instant::now(),
        })
    }

    /// Ends now.
    pub fn end(self) -> Option<NodeSpan> {
        let cpu = used(self.start, times(&self.proc)?);
        let duration_nanoseconds = u64::try_from(self.began.elapsed().as_nanos()).ok()?;
        Some(NodeSpan {
            duration_nanoseconds,
            cpu,
        })
    }
}

/// What was used between two moments.
pub fn used(start: NodeCpu, end: NodeCpu) -> NodeCpu {
    NodeCpu {
        busy_nanoseconds: end.busy_nanoseconds.saturating_sub(start.busy_nanoseconds),
        interrupts_nanoseconds: since(start.interrupts_nanoseconds, end.interrupts_nanoseconds),
        steal_nanoseconds: end
            .steal_nanoseconds
            .saturating_sub(start.steal_nanoseconds),
        pressure_nanoseconds: since(start.pressure_nanoseconds, end.pressure_nanoseconds),
        memory_pressure_nanoseconds: since(
            start.memory_pressure_nanoseconds,
            end.memory_pressure_nanoseconds,
        ),
    }
}

fn since(start: Option<u64>, end: Option<u64>) -> Option<u64> {
    Some(end?.saturating_sub(start?))
}

/// The first line of `/proc/stat`: `cpu user nice system idle iowait irq softirq steal ...`. The
/// time of guests is part of `user`.
fn parse(stat: &str, interrupts_are_apart: bool) -> Option<NodeCpu> {
    let mut fields = stat.lines().next()?.split_ascii_whitespace();
    if fields.next()? != "cpu" {
        return None;
    }
    let ticks: Vec<u64> = fields.map_while(|field| field.parse().ok()).collect();
    let [user, nice, system, _idle, _iowait, irq, softirq, steal, ..] = ticks[..] else {
        return None;
    };
    let nanoseconds = |ticks: &[u64]| {
        let ticks = ticks.iter().copied().fold(0, u64::saturating_add);
        ticks.saturating_mul(USER_HZ_NANOSECONDS)
    };
    Some(NodeCpu {
        busy_nanoseconds: nanoseconds(&[user, nice, system, irq, softirq]),
        interrupts_nanoseconds: interrupts_are_apart.then(|| nanoseconds(&[irq, softirq])),
        steal_nanoseconds: nanoseconds(&[steal]),
        pressure_nanoseconds: None,
        memory_pressure_nanoseconds: None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn idle_and_waiting_time_is_not_busy_and_stolen_time_is_separate() {
        let text = "cpu  1 2 4 100 200 8 16 32 1 0\ncpu0 9 9 9 9 9 9 9 9 9 9\n";
        let read = parse(text, false).unwrap();
        assert_eq!(read.busy_nanoseconds, 31 * 10_000_000);
        assert_eq!(read.steal_nanoseconds, 32 * 10_000_000);
        assert_eq!(read.interrupts_nanoseconds, None);
        let apart = parse(text, true).unwrap();
        assert_eq!(apart.busy_nanoseconds, read.busy_nanoseconds);
        assert_eq!(apart.interrupts_nanoseconds, Some(24 * 10_000_000));
    }

    #[test]
    fn kernel_symbols_show_whether_interrupts_are_timed() {
        let symbol =
            |name: &str| format!("0000000000000000 T _text\n0000000000000000 T {name}\t[sched]\n");
        assert!(times_interrupts(symbol("irqtime_account_irq").as_bytes()));
        assert!(!times_interrupts(symbol("irqtime_account_irqs").as_bytes()));
        assert!(!times_interrupts(&b""[..]));
    }

    #[test]
    fn a_span_has_the_cpu_time_used_in_it_and_reads_no_pressure() {
        let proc = tempfile::tempdir().unwrap();
        let write = |text: &str| fs::write(proc.path().join("stat"), text).unwrap();
        assert!(Span::begin(proc.path()).is_none(), "nothing to read");
        write("cpu  1 2 4 100 200 8 16 32 1 0\n");
        let span = Span::begin(proc.path()).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(2));
        write("cpu  6 2 4 900 900 8 16 35 1 0\n");
        let span = span.end().unwrap();
        let cpu = NodeCpu {
            busy_nanoseconds: 50_000_000,
            steal_nanoseconds: 30_000_000,
            interrupts_nanoseconds: INTERRUPTS_ARE_APART.then_some(0),
            ..NodeCpu::default()
        };
        assert_eq!(span.cpu, cpu);
        assert!(span.duration_nanoseconds >= 2_000_000, "{span:?}");
    }

    #[test]
    fn waiting_for_cpus_and_for_memory_is_read_where_the_kernel_counts_it() {
        let proc = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| fs::write(proc.path().join(file), text).unwrap();
        write("stat", "cpu  1 2 4 100 200 8 16 32 1 0\n");
        let waited = || {
            let read = cpu(proc.path()).unwrap();
            (read.pressure_nanoseconds, read.memory_pressure_nanoseconds)
        };
        assert_eq!(waited(), (None, None));
        fs::create_dir(proc.path().join("pressure")).unwrap();
        write("pressure/cpu", "some avg10=0.00 total=3\n");
        write(
            "pressure/memory",
            "some avg10=0.00 total=5\nfull avg10=0 total=1\n",
        );
        assert_eq!(waited(), (Some(3000), Some(5000)));
    }

    #[test]
    fn a_counter_that_went_back_counts_as_none() {
        let at = |busy_nanoseconds| NodeCpu {
            busy_nanoseconds,
            ..NodeCpu::default()
        };
        assert_eq!(used(at(5), at(3)).busy_nanoseconds, 0);
    }

    #[test]
    fn waiting_is_what_came_between_two_moments() {
        let at = |pressure_nanoseconds| NodeCpu {
            pressure_nanoseconds,
            ..NodeCpu::default()
        };
        let over = |start, end| used(at(start), at(end)).pressure_nanoseconds;
        assert_eq!(over(Some(3), Some(10)), Some(7));
        assert_eq!(over(None, Some(10)), None);
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "(cpu)?( -?[0-9]{0,20}){0,12}\n?.{0,20}") {
            let _ = parse(&text, true);
        }
    }
}
