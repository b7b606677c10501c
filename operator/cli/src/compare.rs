//! `kubectl wasmbench compare`: a run as a multiple of earlier ones.

use std::path::Path;

use kube::ResourceExt;
use wasmbench_api::run::RunScatter;
use wasmbench_api::{BenchmarkRun, labels};
use wasmbench_report::across::InWords as _;
use wasmbench_results::runs::across::{Across, Schedule, Side, across};
use wasmbench_results::runs::history::History;
use wasmbench_results::statistics::FEWEST_RUNS;

use crate::args::{ClusterArgs, CompareArgs};
use crate::cluster::Cluster;
use crate::error::Error;
use crate::live::NOT_TRUSTWORTHY;
use crate::read::{Read, from_cluster, from_files};
use crate::{history, print, warn};

/// Exit code when something is slower or larger than before, or no longer has a valid number: a
/// gate must not open.
const WORSE: u8 = 4;

/// Compares the runs that the arguments name.
pub async fn run(cluster: &ClusterArgs, args: &CompareArgs) -> Result<u8, Error> {
    check_number(args.before.len())?;
    let (mut before, after, followed) = all(cluster, args).await?;
    let open = open(&before, &after);
    for name in &open {
        warn(&format!(
            "{name} is not finished: with more blocks, what is undecided may be decided"
        ));
    }
    before.reverse();
    let scatter = args
        .run_scatter
        .unwrap_or_else(|| after.0.spec.run_scatter());
    let found = compared(&before, &after, followed.as_ref(), scatter, args.force);
    print(&match args.output.format() {
        None => found.text(),
        Some(format) => format.text(&found)?,
    })?;
    if !args.force && found.obstacles().next().is_some() {
        return Err(Error::NotComparable);
    }
    let lost = found.lost_words();
    if found.ratios.is_empty() {
        return Err(nothing(found, lost, open.first()));
    }
    if let Some(lost) = lost {
        let after = &found.after.name;
        warn(&format!(
            "{lost}; see the failures in the report of {after}, remove their cause and run again, or \
             leave the variant out of its spec"
        ));
    }
    let mut runs = before.iter().chain([&after]);
    let are_trusted = runs.all(|run| run.1.trustworthy == Some(true));
    Ok(exit_code(&found, are_trusted))
}

/// The names of the runs that are not finished.
fn open(before: &[Read], after: &Read) -> Vec<String> {
    let runs = before.iter().chain([after]);
    let open = runs.filter(|run| !run.0.is_finished());
    open.map(|run| run.0.name_any()).collect()
}

/// Why there is no ratio. Of a run that is not finished, there may only be too little yet.
fn nothing(found: Across, lost: Option<String>, open: Option<&String>) -> Error {
    match (lost, open) {
        (None, Some(open)) => Error::NothingYet(open.clone()),
        (lost, _) => Error::NothingToCompare {
            lost: lost.map_or_else(String::new, |lost| format!(" ({lost})")),
            after: found.after.name,
        },
    }
}

/// Returns an error if there are too many earlier runs to compare two by two, but too few to estimate
/// how far runs scatter.
pub fn check_number(earlier: usize) -> Result<(), Error> {
    if (2..FEWEST_RUNS).contains(&earlier) {
        return Err(Error::FewEarlierRuns(earlier));
    }
    Ok(())
}

/// `after` as a multiple of the runs in `before`, newest first.
pub fn compared(
    before: &[Read],
    after: &Read,
    followed: Option<&(String, History)>,
    scatter: RunScatter,
    force: bool,
) -> Across {
    let earlier: Vec<Side<'_>> = before.iter().map(side).collect();
    let schedule = followed.map(|(name, history)| Schedule { name, history });
    let found = across(&earlier, side(after), schedule, scatter, force);
    if after.0.is_finished() {
        found
    } else {
        found.without_open_points(&after.1)
    }
}

fn side(run: &Read) -> Side<'_> {
    Side {
        spec: &run.0.spec,
        summary: &run.1,
    }
}

fn exit_code(found: &Across, are_trusted: bool) -> u8 {
    if !are_trusted {
        NOT_TRUSTWORTHY
    } else if found.worse() > 0 || !found.lost.is_empty() {
        WORSE
    } else {
        0
    }
}

/// The name of the later run's schedule, and its history.
pub type Followed = Option<(String, History)>;

/// The earlier runs in the order of the arguments, the later run, and the later run's schedule.
async fn all(
    cluster: &ClusterArgs,
    args: &CompareArgs,
) -> Result<(Vec<Read>, Read, Followed), Error> {
    let (one, other) = match args.records_from.as_slice() {
        [] => {
            let cluster = Cluster::connect(cluster).await?;
            let mut before = vec![];
            for name in &args.before {
                before.push(from_cluster(&cluster, name, args.partial).await?);
            }
            let after = from_cluster(&cluster, &args.after, args.partial).await?;
            let followed = followed(&cluster, &after.0).await?;
            return Ok((before, after, followed));
        }
        [one] => (one, one),
        [one, other] => (one, other),
        more => return Err(Error::TooManyDirectories(more.len())),
    };
    let namespace = cluster.namespace.as_deref();
    let read = |directory: &Path, name: &str| from_files(directory, name, namespace, args.partial);
    let before = args.before.iter().map(|name| read(one, name));
    let before = before.collect::<Result<Vec<Read>, Error>>()?;
    Ok((before, read(other, &args.after)?, None))
}

/// The schedule that created `run`, with its history; `None` if there is no such schedule or it is
/// gone.
pub async fn followed(cluster: &Cluster, run: &BenchmarkRun) -> Result<Followed, Error> {
    let Some(name) = run.labels().get(labels::SCHEDULE) else {
        return Ok(None);
    };
    match history::read(cluster, name).await {
        Ok(history) => Ok(Some((name.clone(), history))),
        Err(Error::NoSuchSchedule { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
