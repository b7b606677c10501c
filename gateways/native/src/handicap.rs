//! What a self-test adds to this gateway, to check that a measurement finds exactly that again: CPU
//! time per request, its own and that of child processes, failures, and memory.

use gateway_http::{Failed, Invalid, PROFILE, Settings, Transform, sha256_chain};
use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::account::Account;
use crate::child;

/// The options, for `--help`.
pub const HELP: &str = "\
  --extra-iterations N       SHA-256 per answer in addition to the work: a self-test of CPU time (0)
  --extra-seconds N          the extra work ends so long after the first answer: a self-test of slow starts (0: never)
  --fail-one-in N            every Nth answer is a failure: a self-test of the share that succeeds (0: none)
  --ballast-mib N            additional memory that is held: a self-test of memory (0)
  --child-iterations N       SHA-256 per answer in a process of its own: a self-test of short lives (0)
  --account yes|no           print the CPU time used so far, up to a hundred times a second (no)
";

/// Most extra work: that of the largest `/compute`.
const MAX_ITERATIONS: u32 = 5_000_000;
/// Longest extra work, in seconds.
const MAX_SECONDS: u64 = 600;
/// Most ballast, in MiB.
const MAX_BALLAST: usize = 1024;

/// The extra weight; none by default.
#[derive(Debug, Default)]
pub struct Handicap {
    iterations: u32,
    /// How long there is extra work; `None`: forever.
    lasts: Option<Duration>,
    first: Option<Instant>,
    /// One in this many responses is a failure; 0: none.
    fail_one_in: u32,
    answers: u32,
    ballast: Vec<u8>,
    child_iterations: u32,
    account: Option<Account>,
}

impl Handicap {
    /// Takes its options out of `settings`.
    pub fn take(settings: &mut Settings) -> Result<Self, Invalid> {
        let number = |value: &str| value.parse().ok().filter(|n| *n <= MAX_ITERATIONS);
        let wanted = "a number from 0 to 5000000";
        let iterations = settings.take_parsed("extra-iterations", 0, wanted, number)?;
        let seconds =
            settings.take_parsed("extra-seconds", 0, "a number from 0 to 600", |value| {
                value.parse().ok().filter(|n| *n <= MAX_SECONDS)
            })?;
        let fail_one_in = settings.take_parsed("fail-one-in", 0, wanted, number)?;
        let child_iterations = settings.take_parsed("child-iterations", 0, wanted, number)?;
        let account = settings.take_parsed("account", None, "yes or no", |value| match value {
            "yes" => Some(Some(Account::default())),
            "no" => Some(None),
            _ => None,
        })?;
        let mebibytes =
            settings.take_parsed("ballast-mib", 0, "a number from 0 to 1024", |value| {
                value.parse().ok().filter(|n| *n <= MAX_BALLAST)
            })?;
        // Not zeroes, for which the kernel would not allocate memory yet.
        let ballast = vec![1; mebibytes << 20];
        Ok(Self {
            iterations,
            lasts: (seconds > 0).then(|| Duration::from_secs(seconds)),
            first: None,
            fail_one_in,
            answers: 0,
            ballast,
            child_iterations,
            account,
        })
    }
}

impl Transform for Handicap {
    fn apply(&mut self, _body: &mut Vec<u8>) -> Result<(), Failed> {
        let first = *self.first.get_or_insert_with(Instant::now);
        let is_over = self.lasts.is_some_and(|lasts| first.elapsed() > lasts);
        if self.iterations > 0 && !is_over {
            black_box(sha256_chain(black_box(self.iterations)));
        }
        if self.child_iterations > 0 {
            child::burn(self.child_iterations)?;
        }
        self.answers = self.answers.wrapping_add(1);
        if self.fail_one_in > 0 && self.answers.is_multiple_of(self.fail_one_in) {
            return Err(Failed("planted".to_owned()));
        }
        if let Some(account) = &mut self.account {
            account.print();
        }
        Ok(())
    }

    fn describe(&self) -> String {
        let Self {
            iterations,
            lasts: _,
            first: _,
            fail_one_in,
            answers: _,
            ballast,
            child_iterations,
            account: _,
        } = self;
        let ballast = ballast.len();
        format!(
            r#"{{"engine":"none","profile":"{PROFILE}","extraIterations":{iterations},"failOneIn":{fail_one_in},"ballastBytes":{ballast},"childIterations":{child_iterations}}}"#
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handicap(arguments: &[&str]) -> Result<Handicap, Invalid> {
        let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        Handicap::take(&mut Settings::new(arguments, std::iter::empty())?)
    }

    #[test]
    fn without_options_there_is_no_handicap_and_the_body_is_unchanged() {
        let mut none = handicap(&[]).unwrap();
        let mut body = b"hello".to_vec();
        assert!(none.apply(&mut body).is_ok());
        assert_eq!(body, b"hello");
        assert!(none.ballast.is_empty());
    }

    #[test]
    fn every_third_answer_fails_if_one_in_three_is_requested() {
        let mut heavy = handicap(&["--fail-one-in=3"]).unwrap();
        let failed = [(); 6].map(|()| heavy.apply(&mut vec![]).is_err());
        assert_eq!(failed, [false, false, true, false, false, true]);
    }

    #[test]
    fn ballast_is_counted_in_mebibytes_and_bounded() {
        let heavy = handicap(&["--ballast-mib=2", "--extra-iterations=3"]).unwrap();
        assert_eq!((heavy.ballast.len(), heavy.iterations), (2 << 20, 3));
        assert!(handicap(&["--ballast-mib=1025"]).is_err());
        assert!(handicap(&["--extra-iterations=5000001"]).is_err());
        assert!(handicap(&["--child-iterations=5000001"]).is_err());
        assert!(handicap(&["--account=maybe"]).is_err());
        assert!(handicap(&["--account=yes"]).unwrap().account.is_some());
    }
}
