//! Advances the epoch while a call runs, which is how calls are stopped. Without calls it does not
//! wake up, because the CPU use of an idle process is measured.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The number of running calls.
#[derive(Default)]
struct Running {
    calls: Mutex<usize>,
    begun: Condvar,
}

/// A thread that ticks while a call runs.
pub struct Clock {
    running: Arc<Running>,
}

/// A call that runs until this is dropped.
pub struct Call<'a>(&'a Running);

impl Clock {
    /// Starts the thread; it never ends.
    pub fn start(every: Duration, tick: impl Fn() + Send + 'static) -> std::io::Result<Self> {
        let running = Arc::<Running>::default();
        let ticking = Arc::clone(&running);
        let work = move || {
            loop {
                ticking.wait_for_a_call();
                std::thread::sleep(every);
                tick();
            }
        };
        let thread = std::thread::Builder::new().name("epochs".to_owned());
        thread.spawn(work)?;
        Ok(Self { running })
    }

    /// Marks the beginning of a call.
    pub fn call(&self) -> Call<'_> {
        *self.running.calls() += 1;
        self.running.begun.notify_one();
        Call(&self.running)
    }
}

impl Running {
    fn calls(&self) -> MutexGuard<'_, usize> {
        // No foreign code runs while the lock is held.
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_for_a_call(&self) {
        let waited = self.begun.wait_while(self.calls(), |calls| *calls == 0);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        *self.0.calls() -= 1;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{RecvTimeoutError, channel};

    use super::*;

    #[test]
    fn it_ticks_only_while_a_call_runs() {
        let (ticked, ticks) = channel();
        let clock = Clock::start(Duration::from_millis(1), move || {
            let _ = ticked.send(());
        });
        let clock = clock.unwrap();
        let idle = Duration::from_millis(50);
        assert_eq!(ticks.recv_timeout(idle), Err(RecvTimeoutError::Timeout));
        let call = clock.call();
        for _ in 0..3 {
            ticks.recv().unwrap();
        }
        drop(call);
        // One tick may be in flight, and earlier ones may still be unread.
        while ticks.recv_timeout(Duration::from_secs(1)).is_ok() {}
    }
}
