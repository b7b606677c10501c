//! The file of a command, with `-f` as for kubectl, or without.

use std::path::{Path, PathBuf};

use clap::Args;

/// Which file.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
pub struct FileArgs {
    /// File with BenchmarkRuns and BenchmarkSchedules; - reads standard input
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// The same, as for kubectl
    #[arg(short, long, value_name = "FILE")]
    filename: Option<PathBuf>,
}

impl FileArgs {
    /// The path of the file.
    pub fn path(&self) -> &Path {
        let given = self.file.as_deref().or(self.filename.as_deref());
        given.unwrap_or(Path::new("-"))
    }
}
