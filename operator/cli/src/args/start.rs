//! The arguments of `start`.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::args::shown::Shown;

/// Arguments of `start`.
#[derive(Args, Debug)]
#[command(after_help = "\
The run gets a fresh name: that of the file and five characters. The file is checked first, as by `plan`. A run of a schedule's \
template is created with your rights; it is none of the schedule's own, and not in its history.\n\n\
Exit code, as that of `get --watch`: 0 the run succeeded, its numbers are trustworthy and its expectations, if any, are met; \
1 it failed or something went wrong; 3 it succeeded but its numbers are not trustworthy; 4 they are, but an expectation is \
not met or undecided; 130 interrupted, and the run goes on.")]
pub struct StartArgs {
    /// What to start.
    #[command(flatten)]
    pub what: What,
    /// How to print the result
    #[arg(short, long, value_enum, default_value_t = Shown::Table)]
    pub output: Shown,
}

/// What to start.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
pub struct What {
    /// File with one BenchmarkRun; - reads standard input
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// The same, as for kubectl
    #[arg(short, long, value_name = "FILE")]
    filename: Option<PathBuf>,
    /// Name of a BenchmarkSchedule: start the run of its template now
    #[arg(long, value_name = "NAME")]
    pub schedule: Option<String>,
}

impl What {
    /// The path of the file, unless a schedule was named.
    pub fn path(&self) -> Option<&Path> {
        self.file.as_deref().or(self.filename.as_deref())
    }
}
