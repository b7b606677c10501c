//! What each measure against noise gains on this machine, by pairs of equals on the loopback: how
//! far apart the rates of two of them are, with and without the measure. Prints figures for
//! docs/methodology/self-test.md; run only by `make selftest`. A quiet machine has little to gain,
//! so only what must hold everywhere is asserted.

use wasmbench_e2e::others::{Gateway, Task};
use wasmbench_e2e::selftest;

/// Pairs per setting. All settings take turns in each round, so that a slow minute affects all of
/// them.
const ROUNDS: usize = 12;

/// One way to measure.
struct Setting {
    name: &'static str,
    seconds: u32,
    warmup_seconds: u32,
    apart: bool,
}

const SETTINGS: [Setting; 4] = [
    Setting {
        name: "windows of 1 s, no warm-up",
        seconds: 1,
        warmup_seconds: 0,
        apart: false,
    },
    Setting {
        name: "and a warm-up of 1 s",
        seconds: 1,
        warmup_seconds: 1,
        apart: false,
    },
    Setting {
        name: "and windows of 4 s",
        seconds: 4,
        warmup_seconds: 1,
        apart: false,
    },
    Setting {
        name: "and CPUs apart",
        seconds: 4,
        warmup_seconds: 1,
        apart: true,
    },
];

impl Setting {
    /// Requests per second of a fresh subject.
    fn rate(&self) -> f64 {
        let gateway = Gateway::start_on(self.apart.then_some(1));
        let task = Task {
            path: "/",
            connections: 8,
            seconds: self.seconds,
            warmup_seconds: self.warmup_seconds,
            generator_cpu: self.apart.then_some(0),
        };
        let load = task.by_probe(&gateway);
        load.succeeded as f64 / load.seconds
    }
}

/// Standard deviation of logarithms of ratios whose true mean is 0.
fn spread(logarithms: &[f64]) -> f64 {
    let squares: f64 = logarithms.iter().map(|log| log * log).sum();
    (squares / logarithms.len() as f64).sqrt()
}

/// The typical distance of a ratio from 1: half of the ratios are farther away.
fn typical(logarithms: &[f64]) -> f64 {
    let mut sizes: Vec<f64> = logarithms.iter().map(|log| log.abs()).collect();
    sizes.sort_by(f64::total_cmp);
    sizes[sizes.len() / 2]
}

#[test]
#[ignore = "needs a quiet machine of two CPUs or more: make selftest"]
fn the_gain_of_each_step_is_shown() {
    let mut logarithms = vec![Vec::with_capacity(ROUNDS); SETTINGS.len()];
    for _ in 0..ROUNDS {
        for (setting, of_setting) in SETTINGS.iter().zip(&mut logarithms) {
            of_setting.push((setting.rate() / setting.rate()).ln());
        }
    }
    for (setting, of_setting) in SETTINGS.iter().zip(&logarithms) {
        let percent = spread(of_setting) * 100.0;
        selftest::found(
            &format!("rates of two equals, {}", setting.name),
            &format!(
                "{:.1} % apart (median), {percent:.1} % (standard deviation), {ROUNDS} pairs",
                typical(of_setting) * 100.0
            ),
            "shown, not judged",
        );
        assert!(percent.is_finite() && percent < 50.0, "{of_setting:?}");
    }
}
