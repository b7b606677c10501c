//! The command line.

mod check;
mod compare;
mod completion;
pub mod cost;
mod dashboard;
mod file;
pub mod init;
mod shown;
mod start;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

use crate::VERSION;

pub use check::CheckArgs;
pub use compare::CompareArgs;
pub use completion::{CompleteArgs, Completer, CompletionArgs};
pub use cost::CostArgs;
pub use dashboard::DashboardArgs;
pub use file::FileArgs;
pub use init::InitArgs;
pub use shown::{GetOutput, Shown};
pub use start::{StartArgs, What};

/// Write, plan, start and read BenchmarkRuns, which measure ways to run a service on one node and say whether they differ.
#[derive(Parser, Debug)]
#[command(name = "kubectl-wasmbench", version = VERSION.as_str())]
pub struct Cli {
    /// Which cluster.
    #[command(flatten)]
    pub cluster: ClusterArgs,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Which cluster and namespace, as for kubectl.
#[derive(Args, Clone, Debug, Default)]
pub struct ClusterArgs {
    /// Namespace of the run. Default: that of the context
    #[arg(short, long, global = true)]
    pub namespace: Option<String>,
    /// Context of the kubeconfig
    #[arg(long, global = true)]
    pub context: Option<String>,
    /// Path of the kubeconfig
    #[arg(long, global = true)]
    pub kubeconfig: Option<PathBuf>,
}

/// What to do.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Show runs, or the results of one
    Get(GetArgs),
    /// Compute a run's report again from its records
    Report(ReportArgs),
    /// Compare a run with an earlier one, cell by cell
    Compare(CompareArgs),
    /// Show what a run would do, and which differences it can find
    Plan(PlanArgs),
    /// Create a run under a fresh name, follow it, and exit with its code
    Start(StartArgs),
    /// Show the runs of a schedule, and since when they are different
    History(HistoryArgs),
    /// Show what the variants of a run cost on a node of this price
    Cost(CostArgs),
    /// Write a first run of your own service, for this cluster
    Init(Box<InitArgs>),
    /// Check whether the installation works, and what presets lack on which nodes
    Check(CheckArgs),
    /// Follow, start and compare runs in the browser
    Dashboard(DashboardArgs),
    /// Print a completion script, for a shell or for kubectl
    Completion(CompletionArgs),
    /// Print what may stand next on a command line
    #[command(name = "__complete", hide = true)]
    Complete(CompleteArgs),
}

/// Arguments of `get`.
#[derive(Args, Debug)]
#[command(after_help = "\
Exit code with --watch: 0 the run succeeded, its numbers are trustworthy and its expectations, if \
any, are met; 1 it failed or something went wrong; 3 it succeeded but its numbers are not \
trustworthy; 4 they are, but an expectation is not met or undecided; 130 interrupted.\n\n\
With -o json and -o yaml, standard output holds one document and nothing else: \
wasmbench.dev/run/v1, and without a name wasmbench.dev/runs/v1. With --watch it comes at the end, and \
progress goes to standard error.")]
pub struct GetArgs {
    /// Name of the run. Without it: a list of runs
    pub name: Option<String>,
    /// Follow the run until it is finished
    #[arg(short, long, requires = "name")]
    pub watch: bool,
    /// List the runs of all namespaces
    #[arg(short = 'A', long, conflicts_with = "name")]
    pub all_namespaces: bool,
    /// How to print it
    #[arg(short, long, value_enum, default_value_t = GetOutput::Table)]
    pub output: GetOutput,
}

/// Arguments of `report`.
#[derive(Args, Debug)]
#[command(after_help = "\
Everything is computed from the run and its records; the stored report is read for --check only. \
Records can be kept without a cluster:\n  \
mkdir -p saved; kubectl get brun,configmap -n NAMESPACE -o json > saved/run.json\n  \
kubectl wasmbench report NAME --records-from saved")]
pub struct ReportArgs {
    /// Name of the run
    pub name: String,
    /// Read run and records from the .json and .yaml files of this directory, not from a cluster
    #[arg(long, value_name = "DIR")]
    pub records_from: Option<PathBuf>,
    /// Which file of the report to print, or in which format of other programs
    #[arg(short, long, value_enum, default_value_t = Output::Md)]
    pub output: Output,
    /// Compare with the stored report byte for byte, and print no file
    #[arg(long, conflicts_with_all = ["output", "partial"])]
    pub check: bool,
    /// Report on a run that is not finished
    #[arg(long)]
    pub partial: bool,
    /// Compare with this variant instead of the run's baseline, such as one that was measured where the
    /// baseline failed. Expectations and the noise floor are of the run's baseline, and left out
    #[arg(long, value_name = "VARIANT", conflicts_with = "check")]
    pub baseline: Option<String>,
}

/// A file of the report, or its numbers in the format of another program.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// report.md, for people
    Md,
    /// report.html, plots in which every trial is a point
    Html,
    /// summary.json
    Json,
    /// summary.csv, one row per point
    Csv,
    /// comparisons.csv, one row per ratio to the baseline
    Comparisons,
    /// environment.json
    Environment,
    /// JUnit XML: trust, expectations and primary comparisons as test cases
    Junit,
    /// Short Markdown for a job summary or a comment on a pull request
    Github,
}

/// Arguments of `history`.
#[derive(Args, Debug)]
#[command(after_help = "\
The history outlives the runs. Ratios are to the baseline of the same run; a change is a lasting one, looked for \
among runs on the same node with the same baseline image and workloads.")]
pub struct HistoryArgs {
    /// Name of the BenchmarkSchedule
    pub name: String,
    /// How to print it
    #[arg(short, long, value_enum, default_value_t = HistoryOutput::Table)]
    pub output: HistoryOutput,
}

/// An output format of a history.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistoryOutput {
    /// Aligned tables, for people
    Table,
    /// One row per run and measure
    Csv,
    /// The whole history, as it is stored
    Json,
    /// A page with a plot of every run
    Html,
}

/// Arguments of `plan`.
#[derive(Args, Debug)]
#[command(after_help = "\
The file is checked first, by the schema and the rules of this build and without a cluster. With one, the plan also says what will \
never run there, and what your rights do not show.\n\n\
Which differences the run can find depends on how far trials scatter: as in the earlier runs of the namespace on nodes with \
the same fingerprint or, without one or without a cluster, by 3, 5 and 8 %.")]
pub struct PlanArgs {
    /// Which file.
    #[command(flatten)]
    pub file: FileArgs,
    /// Show every trial in the order in which it will be measured
    #[arg(long)]
    pub order: bool,
    /// Read nothing from the cluster: neither earlier runs nor what is missing there
    #[arg(long)]
    pub offline: bool,
}

/// Parses the arguments. The error may also be a request for help.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let mut command = Cli::command();
    if arguments
        .first()
        .is_some_and(|name| is_plugin(Path::new(name)))
    {
        // As people type it through kubectl: with a space, not a dash.
        command = command.bin_name("kubectl wasmbench");
    }
    Cli::from_arg_matches(&command.try_get_matches_from(arguments)?)
}

fn is_plugin(program: &Path) -> bool {
    program
        .file_name()
        .is_some_and(|name| name.to_string_lossy().starts_with("kubectl-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Cli, clap::Error> {
        super::parse(line.split(' ').map(OsString::from))
    }

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn usage_reads_as_it_is_typed_through_kubectl() {
        let usage = |program| {
            parse(&format!("{program} get --help"))
                .unwrap_err()
                .to_string()
        };
        assert!(usage("/usr/bin/kubectl-wasmbench").contains("Usage: kubectl wasmbench get"));
        assert!(usage("wasmbench").contains("Usage: wasmbench get"));
    }

    #[test]
    fn a_namespace_may_stand_behind_the_command() {
        let cli = parse("kubectl-wasmbench get fast -n bench").unwrap();
        assert_eq!(cli.cluster.namespace.as_deref(), Some("bench"));
    }

    #[test]
    fn a_file_is_given_with_and_without_an_option_but_once() {
        for line in ["plan run.yaml", "plan -f run.yaml"] {
            let Command::Plan(args) = parse(&format!("kubectl-wasmbench {line}")).unwrap().command
            else {
                panic!("{line}");
            };
            assert_eq!(args.file.path(), Path::new("run.yaml"));
        }
        for line in ["plan", "plan a.yaml -f b.yaml"] {
            assert!(
                parse(&format!("kubectl-wasmbench {line}")).is_err(),
                "{line}"
            );
        }
    }

    #[test]
    fn a_file_or_a_schedule_is_started() {
        for line in [
            "start run.yaml",
            "start -f run.yaml",
            "start --schedule nightly",
        ] {
            assert!(
                parse(&format!("kubectl-wasmbench {line}")).is_ok(),
                "{line}"
            );
        }
        for line in ["start", "start -f run.yaml --schedule nightly"] {
            assert!(
                parse(&format!("kubectl-wasmbench {line}")).is_err(),
                "{line}"
            );
        }
    }

    #[test]
    fn only_one_run_can_be_followed() {
        let error = parse("kubectl-wasmbench get -w").unwrap_err().to_string();
        assert!(error.contains("<NAME>"), "{error}");
    }

    #[test]
    fn a_check_prints_no_file() {
        assert!(parse("kubectl-wasmbench report fast --check -o json").is_err());
        assert!(parse("kubectl-wasmbench report fast --check").is_ok());
    }
}
