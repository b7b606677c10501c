//! `wasmbench-studies`: see [`wasmbench_studies`]. Reads and writes files; needs no cluster.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use wasmbench_report::json::pretty;
use wasmbench_results::summary::Summary;
use wasmbench_studies::measured::{self, Length};
use wasmbench_studies::published::{Published, Study};
use wasmbench_studies::{Error, Ours, read, terminal};

/// Published figures of studies compared with measured ones.
#[derive(Parser, Debug)]
#[command(name = "wasmbench-studies")]
struct Cli {
    /// The published figures; the manifests of the studies are in the same directory
    #[arg(
        long,
        global = true,
        default_value = "manifests/studies/published.yaml"
    )]
    published: PathBuf,
    /// Directory with a STUDY.json for each study that was measured
    #[arg(long, global = true, default_value = "operator/studies/measured")]
    measured: PathBuf,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Print the names of all studies
    List,
    /// Add what runs of a study's manifest found, from their summary.json, to what was measured of others
    Collect {
        /// Name of the study
        study: String,
        /// Which manifest: short or full
        length: Length,
        /// Files that `kubectl wasmbench report RUN -o json` wrote
        #[arg(required = true)]
        summaries: Vec<PathBuf>,
    },
    /// Print the tables of studies; without names, of all
    Table {
        /// Names of studies
        studies: Vec<String>,
    },
}

fn main() -> ExitCode {
    match run(&Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of a pipe went away: nothing is wrong.
        Err(Error::Output(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(cli: &Cli) -> Result<(), Error> {
    let published = wasmbench_studies::published(&cli.published)?;
    match &cli.command {
        Command::List => print(&names(&published).join("\n")),
        Command::Collect {
            study,
            length,
            summaries,
        } => {
            let study = find(&published, study)?;
            collect(&cli.measured, study, *length, summaries)
        }
        Command::Table { studies } => {
            let chosen: Vec<&Study> = if studies.is_empty() {
                published.studies.iter().collect()
            } else {
                let found = studies.iter().map(|name| find(&published, name));
                found.collect::<Result<_, _>>()?
            };
            print_tables(cli, &chosen)
        }
    }
}

fn print_tables(cli: &Cli, studies: &[&Study]) -> Result<(), Error> {
    let directory = cli.published.parent().unwrap_or(Path::new(""));
    let mut tables = vec![];
    for study in studies {
        let measured = wasmbench_studies::measured(&cli.measured, &study.name)?;
        let manifest = wasmbench_studies::manifest(directory, &study.name)?;
        let ours = Ours {
            measured: measured.as_ref(),
            manifest: &manifest,
        };
        tables.push(terminal::text(study, ours));
    }
    print(&tables.join("\n"))
}

fn names(published: &Published) -> Vec<String> {
    let studies = published.studies.iter();
    studies.map(|study| study.name.clone()).collect()
}

fn find<'a>(published: &'a Published, name: &str) -> Result<&'a Study, Error> {
    let found = published.studies.iter().find(|study| study.name == name);
    found.ok_or_else(|| Error::UnknownStudy {
        name: name.to_owned(),
        known: names(published).join(", "),
    })
}

fn collect(
    directory: &Path,
    study: &Study,
    length: Length,
    paths: &[PathBuf],
) -> Result<(), Error> {
    let content = |path: &Path, message: String| Error::Content {
        path: path.to_owned(),
        message,
    };
    let mut summaries: Vec<Summary> = vec![];
    for path in paths {
        let summary = Summary::read(&read(path)?);
        summaries.push(summary.map_err(|error| content(path, error.to_string()))?);
    }
    let path = directory.join(format!("{}.json", study.name));
    let now = measured::from_summaries(length, &summaries);
    let found = match wasmbench_studies::measured(directory, &study.name)? {
        Some(before) => before.and(now),
        None => now,
    };
    let text = pretty(&found).map_err(|error| content(&path, error.to_string()))?;
    let failed = |source| Error::File {
        path: path.clone(),
        source,
    };
    std::fs::create_dir_all(directory).map_err(failed)?;
    std::fs::write(&path, text).map_err(failed)
}

fn print(text: &str) -> Result<(), Error> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}").map_err(Error::Output)
}
