//! What all connections share: the count of a load's requests, and threads that may work.

use std::borrow::Cow;
use std::hint::black_box;
use std::io::{self, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use crate::behaviour::{Behaviour, Kind};
use crate::script::Moment;

/// The state of the process.
#[derive(Debug)]
pub struct Server {
    further: Vec<(String, Behaviour)>,
    started: Instant,
    of_load: AtomicU64,
    working: Mutex<u32>,
    rests: Condvar,
}

impl Server {
    /// A server that also has these paths.
    pub fn new(further: Vec<(String, Behaviour)>) -> Self {
        Self {
            further,
            started: Instant::now(),
            of_load: AtomicU64::new(0),
            working: Mutex::new(0),
            rests: Condvar::new(),
        }
    }

    /// The behaviour of a target.
    pub fn behaviour(&self, target: &str) -> Result<Cow<'_, Behaviour>, String> {
        let mut further = self.further.iter();
        match further.find(|(path, _)| path == target) {
            Some((_, behaviour)) => Ok(Cow::Borrowed(behaviour)),
            None => Behaviour::parse(target).map(Cow::Owned),
        }
    }

    /// Counts a request, unless it is a probe's own, and returns the moment at which it came.
    pub fn moment(&self, is_of_load: bool, of_connection: u64, is_kept: bool) -> Moment {
        Moment {
            of_load: is_of_load.then(|| self.of_load.fetch_add(1, Ordering::Relaxed) + 1),
            of_connection,
            is_kept,
            uptime: self.started.elapsed(),
            difference: None,
        }
    }

    /// Does what comes before the answer.
    pub fn prepare(&self, kind: Kind, target: &str) -> io::Result<()> {
        if let Kind::Log = kind {
            return io::stdout().write_all(format!("GET {target}\n").as_bytes());
        }
        if let Kind::Work {
            iterations,
            threads,
        } = kind
        {
            self.take_turn(threads);
            work(iterations);
            self.leave();
        }
        if let Kind::Busy { time } = kind {
            self.take_turn(1);
            burn(time);
            self.leave();
        }
        Ok(())
    }

    /// Waits until fewer than `threads` threads work; 0 stands for any number.
    fn take_turn(&self, threads: u32) {
        let working = self.working.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = |working: &mut u32| threads > 0 && *working >= threads;
        let turn = self.rests.wait_while(working, is_full);
        *turn.unwrap_or_else(PoisonError::into_inner) += 1;
    }

    fn leave(&self) {
        *self.working.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.rests.notify_one();
    }
}

/// Uses CPU time: about a nanosecond for each iteration.
fn work(iterations: u64) {
    let mut state = 1_u64;
    for _ in 0..iterations {
        state = black_box(state ^ (state << 13));
    }
}

/// Iterations between two looks at the clock: some ten microseconds.
const BETWEEN_LOOKS: u64 = 10_000;

/// Uses this much CPU time of the thread, however long others keep it from a CPU.
fn burn(time: Duration) {
    let end = used() + time;
    while used() < end {
        work(BETWEEN_LOOKS);
    }
}

/// CPU time of the thread so far.
fn used() -> Duration {
    let used = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(used).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn a_request_takes_the_stated_cpu_time() {
        let time = Duration::from_millis(20);
        let before = used();
        burn(time);
        let taken = used().saturating_sub(before);
        // At most one look at the clock too much.
        assert!(taken >= time && taken < 2 * time, "{taken:?}");
    }

    #[test]
    fn no_more_threads_work_than_allowed() {
        let server = Server::new(vec![]);
        let (sender, receiver) = mpsc::channel();
        std::thread::scope(|scope| {
            server.take_turn(1);
            scope.spawn(|| {
                server.take_turn(1);
                sender.send(()).unwrap();
            });
            assert!(receiver.recv_timeout(Duration::from_millis(50)).is_err());
            server.leave();
            receiver.recv_timeout(Duration::from_mins(1)).unwrap();
        });
    }

    #[test]
    fn only_a_loads_requests_are_counted() {
        let server = Server::new(vec![]);
        let counts = [true, false, true].map(|is_of_load| server.moment(is_of_load, 1, true));
        assert_eq!(
            counts.map(|moment| moment.of_load),
            [Some(1), None, Some(2)]
        );
    }
}
