//! The process's own account of its CPU time, against which a meter can be checked.

use std::io::Write as _;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;

/// Shortest time between two lines: often enough to interpolate between them.
const EVERY: Duration = Duration::from_millis(10);

/// When the last line was printed.
#[derive(Debug, Default)]
pub struct Account {
    printed: Option<Instant>,
}

impl Account {
    /// Prints `account <unix time> <CPU time> <CPU time of ended children>`, in nanoseconds, unless
    /// the last line is too recent.
    pub fn print(&mut self) {
        if self
            .printed
            .is_some_and(|printed| printed.elapsed() < EVERY)
        {
            return;
        }
        self.printed = Some(Instant::now());
        if let Some(line) = line() {
            // A closed standard output is no reason not to serve.
            let _ = std::io::stdout().lock().write_all(line.as_bytes());
        }
    }
}

fn line() -> Option<String> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    let used = |who| {
        let usage = getrusage(who).ok()?;
        let time = usage.user_time() + usage.system_time();
        Some(time.num_microseconds() * 1000)
    };
    let (own, children) = (
        used(UsageWho::RUSAGE_SELF)?,
        used(UsageWho::RUSAGE_CHILDREN)?,
    );
    Some(format!("account {} {own} {children}\n", now.as_nanos()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_account_has_three_numbers_and_grows() {
        let numbers = |line: String| -> Vec<u128> {
            let numbers = line.split_whitespace().skip(1);
            numbers.map(|number| number.parse().unwrap()).collect()
        };
        let before = numbers(line().unwrap());
        std::hint::black_box(gateway_http::sha256_chain(200_000));
        let after = numbers(line().unwrap());
        assert_eq!(before.len(), 3);
        assert!(
            before[0] < after[0] && before[1] < after[1],
            "{before:?} {after:?}"
        );
    }
}
