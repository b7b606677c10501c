//! The arguments of `compare`.

use std::path::PathBuf;

use clap::Args;
use wasmbench_api::run::RunScatter;

use crate::args::shown::Shown;

/// Arguments of `compare`.
#[derive(Args, Debug)]
#[command(after_help = "\
Each number is compared as a ratio to the baseline of its own run (cold starts: as a difference), so what shifts a \
whole node cancels out. Two runs cannot show how much a variant varies from run to run: --run-scatter states it, \
unless the history of their schedule shows it. 5 EARLIER runs or more show it, too: then the baseline and runs \
without one get verdicts as well. Runs whose node, workloads, sweeps or resources differ \
are refused, with the differences; other images, engines and arguments are what is compared.\n\n\
Exit code: 0 nothing is known to be slower or larger; 1 refused, no number is valid in both runs, or \
something went wrong; 3 a run's numbers are not trustworthy; 4 something is slower or larger, or LATER has \
no valid number of a point any more.")]
pub struct CompareArgs {
    /// Names of earlier runs, the oldest first: one, or 5 and more
    #[arg(value_name = "EARLIER", required = true)]
    pub before: Vec<String>,
    /// Name of the later run
    #[arg(value_name = "LATER")]
    pub after: String,
    /// Read runs and records from the .json and .yaml files of this directory, not from a cluster. Given
    /// twice: the earlier runs from the first one, the later from the second
    #[arg(long, value_name = "DIR")]
    pub records_from: Vec<PathBuf>,
    /// How far a variant shifts on its own from run to run, from 0% to 50%: larger changes alone are found.
    /// Default: spec.runScatter of LATER, or 3.5%
    #[arg(long, value_name = "PERCENT", value_parser = run_scatter)]
    pub run_scatter: Option<RunScatter>,
    /// Compare runs that are not finished, too, by the records that they have
    #[arg(long)]
    pub partial: bool,
    /// Compare runs that are not comparable, and warn
    #[arg(long)]
    pub force: bool,
    /// How to print it
    #[arg(short, long, value_enum, default_value_t = Shown::Table)]
    pub output: Shown,
}

fn run_scatter(text: &str) -> Result<RunScatter, String> {
    RunScatter::parse(text).ok_or_else(|| {
        format!("'{text}' is not a percentage from 0% to 50%: write it like 2% or 3.5%")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scatter_is_a_percentage() {
        assert_eq!(run_scatter("0%"), Ok(RunScatter::NONE));
        for wrong in ["2", "0.02", "-1%", "60%", ""] {
            assert!(
                run_scatter(wrong).unwrap_err().contains("like 2%"),
                "{wrong}"
            );
        }
    }
}
