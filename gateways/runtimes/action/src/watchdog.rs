//! Stops calls that take too long. Its thread sleeps while nothing runs, because the CPU use of an
//! idle process is measured.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use wasmer::Interrupter;

/// A signal that comes at an unlucky moment is lost, so it is sent again after this time.
const AGAIN: Duration = Duration::from_millis(100);

/// The running calls, by when they are to be stopped.
#[derive(Default)]
struct Running {
    calls: Mutex<Calls>,
    sooner: Condvar,
}

#[derive(Default)]
struct Calls {
    by_time: BTreeMap<Key, Interrupter>,
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

    /// Watches a call; `interrupter` is that of its store.
    pub fn watch(&self, deadline: Instant, interrupter: Interrupter) -> Watched<'_> {
        let mut calls = self.0.calls();
        calls.begun += 1;
        let key = (deadline, calls.begun);
        calls.by_time.insert(key, interrupter);
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
                late.interrupt();
            }
            let next = calls.by_time.range((now, u64::MAX)..).next();
            let next = next.map(|((at, _), _)| at.duration_since(now));
            let is_late = calls
                .by_time
                .first_key_value()
                .is_some_and(|((at, _), _)| *at <= now);
            calls = match next.into_iter().chain(is_late.then_some(AGAIN)).min() {
                Some(rest) => {
                    let waited = self.sooner.wait_timeout(calls, rest);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None => {
                    let waited = self.sooner.wait(calls);
                    waited.unwrap_or_else(PoisonError::into_inner)
                }
            };
        }
    }
}
