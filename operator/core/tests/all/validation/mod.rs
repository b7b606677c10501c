//! What is refused, with which field and remedy, and what an accepted run means.

mod admission;
mod cold_start;
mod expectations;
mod measures;
mod names;
mod order;
mod requests;
mod scale;
mod sweeps;

use wasmbench_api::BenchmarkRun;
use wasmbench_core::config::OperatorConfig;
use wasmbench_core::validate::{Invalid, validate};

use crate::common;

fn refused(change: impl Fn(&mut BenchmarkRun)) -> Invalid {
    let mut run = common::parse(common::RUN);
    change(&mut run);
    validate(&run, &common::config()).expect_err("the run is wrong")
}

fn cold_refused(change: impl Fn(&mut BenchmarkRun, &mut OperatorConfig)) -> Invalid {
    let (mut run, mut config) = (common::cold(), common::config());
    change(&mut run, &mut config);
    validate(&run, &config).expect_err("the run is wrong")
}
