//! Stops calls that take too long, in engines that another thread can interrupt. Its thread sleeps while nothing runs, because the CPU use of an
//! idle process is measured.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A signal that comes at an unlucky moment is lost, so it is sent again after this time.
const AGAIN: Duration = Duration::from_millis(100);

/// What stops a call. It may be called more than once, and also when the call has just ended.
type Interrupt = Box<dyn Fn() + Send>;

/// The running calls, by when they are to be stopped.
#[derive(Default)]
struct Running {
    calls: Mutex<Calls>,
    sooner: Condvar,
}

#[derive(Default)]
struct Calls {
    by_time: BTreeMap<Key, Interrupt>,
    begun: u64,
}

/// The deadline, and a unique number.
type Key = (Instant, u64);

/// A thread that stops calls.
pub struct Watchdog(Arc<Running>);

/// A call that is watched.
pub struct Watched<'a> {
    running: &'a Running,
    key: Key,
}

impl Watchdog {
    /// Starts the thread; it never ends.
    pub fn start() -> std::io::Result<Self> {
        let running = Arc::<Running>::default();
        let watching = Arc::clone(&running);
        let thread = std::thread::Builder::new().name("watchdog".to_owned());
        thread.spawn(move || watching.watch())?;
        Ok(Self(running))
    }

    /// Watches a call, which `interrupt` stops.
    pub fn watch(&self, deadline: Instant, interrupt: impl Fn() + Send + 'static) -> Watched<'_> {
        let mut calls = self.0.calls();
        calls.begun += 1;
        let key = (deadline, calls.begun);
        calls.by_time.insert(key, Box::new(interrupt));
        // The thread waits for the earliest deadline.
        if calls
            .by_time
            .first_key_value()
            .is_some_and(|(first, _)| *first == key)
        {
            self.0.sooner.notify_one();
        }
        Watched {
            running: &self.0,
            key,
        }
    }
}

impl Watched<'_> {
    /// Ends the watch. Returns whether the call was late.
    pub fn end(self) -> bool {
        Instant::now() >= self.key.0
    }
}

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        self.running.calls().by_time.remove(&self.key);
    }
}

impl Running {
    fn calls(&self) -> MutexGuard<'_, Calls> {
        // No foreign code runs while the lock is held.
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn watch(&self) -> ! {
        let mut calls = self.calls();
        loop {
            let now = Instant::now();
            for (_, late) in calls.by_time.range(..=(now, u64::MAX)) {
                late();
            }
            let next = calls.by_time.range((now, u64::MAX)..).next();
            let next = next.map(|((at, _), _)| at.duration_since(now));
            let is_late = calls
                .by_time
                .first_key_value()
                .is_some_and(|((at, _), _)| *at <= now);
            calls = if let Some(rest) = next.into_iter().chain(is_late.then_some(AGAIN)).min() {
                let waited = self.sooner.wait_timeout(calls, rest);
                waited.unwrap_or_else(PoisonError::into_inner).0
            } else {
                let waited = self.sooner.wait(calls);
                waited.unwrap_or_else(PoisonError::into_inner)
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{RecvTimeoutError, channel};

    use super::*;

    #[test]
    fn a_late_call_is_interrupted_until_it_ends_and_no_other_is() {
        let watchdog = Watchdog::start().unwrap();
        let (interrupted, interrupts) = channel();
        let an_hour = Instant::now() + Duration::from_hours(1);
        let never = interrupted.clone();
        let other = watchdog.watch(an_hour, move || never.send("other").unwrap());
        let late = watchdog.watch(Instant::now(), move || interrupted.send("late").unwrap());
        assert_eq!(interrupts.recv(), Ok("late"));
        assert_eq!(interrupts.recv(), Ok("late"));
        assert!(late.end());
        // One may have been sent before the end.
        let rest: Vec<_> = interrupts.try_iter().collect();
        assert!(rest.iter().all(|name| *name == "late"));
        assert_eq!(
            interrupts.recv_timeout(2 * AGAIN),
            Err(RecvTimeoutError::Timeout)
        );
        assert!(!other.end());
    }
}
