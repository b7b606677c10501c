//! `kubectl wasmbench compare`: a run as a multiple of an earlier one.

use std::path::Path;

use wasmbench_api::BenchmarkRun;
use wasmbench_report::across::{Across, Side, across};
use wasmbench_results::Summary;

use crate::args::{ClusterArgs, CompareArgs};
use crate::cluster::Cluster;
use crate::error::Error;
use crate::recompute::Recomputation;
use crate::report::finished;
use crate::{files, print, warn};

/// Exit code when a run's numbers are not trustworthy, as that of `get --watch`.
const NOT_TRUSTWORTHY: u8 = 3;
/// Exit code when something is slower or larger than before, or has no valid number any more: a gate
/// must not open.
const WORSE: u8 = 4;

/// A run with what its records say.
type Read = (BenchmarkRun, Summary);

/// Compares the runs that the arguments name.
pub async fn run(cluster: &ClusterArgs, args: &CompareArgs) -> Result<u8, Error> {
    let (before, after) = both(cluster, args).await?;
    let found = across(
        Side {
            spec: &before.0.spec,
            summary: &before.1,
        },
        Side {
            spec: &after.0.spec,
            summary: &after.1,
        },
        args.force,
    );
    print(&match args.output.format() {
        None => found.text(),
        Some(format) => format.text(&found)?,
    })?;
    if !args.force && found.obstacles().next().is_some() {
        return Err(Error::NotComparable);
    }
    let lost = found.lost_words();
    if found.ratios.is_empty() {
        return Err(Error::NothingToCompare {
            lost: lost.map_or_else(String::new, |lost| format!(" ({lost})")),
            after: found.after.name,
        });
    }
    if let Some(lost) = lost {
        let after = &found.after.name;
        warn(&format!(
            "{lost}; see the failures in the report of {after}, remove their cause and run again, or \
             leave the variant out of its spec"
        ));
    }
    Ok(exit_code(&found, [&before.1, &after.1]))
}

fn exit_code(found: &Across, summaries: [&Summary; 2]) -> u8 {
    let trusted = |summary: &&Summary| summary.trustworthy == Some(true);
    if !summaries.iter().all(trusted) {
        NOT_TRUSTWORTHY
    } else if found.worse() > 0 || !found.lost.is_empty() {
        WORSE
    } else {
        0
    }
}

async fn both(cluster: &ClusterArgs, args: &CompareArgs) -> Result<(Read, Read), Error> {
    let namespace = cluster.namespace.as_deref();
    match args.records_from.as_slice() {
        [] => {
            let cluster = Cluster::connect(cluster).await?;
            let before = from_cluster(&cluster, &args.before).await?;
            Ok((before, from_cluster(&cluster, &args.after).await?))
        }
        [one] => Ok((
            from_files(one, &args.before, namespace)?,
            from_files(one, &args.after, namespace)?,
        )),
        [one, other] => Ok((
            from_files(one, &args.before, namespace)?,
            from_files(other, &args.after, namespace)?,
        )),
        more => Err(Error::TooManyDirectories(more.len())),
    }
}

async fn from_cluster(cluster: &Cluster, name: &str) -> Result<Read, Error> {
    let run = cluster.run(name).await?;
    finished(&run)?;
    let mut recomputation = Recomputation::new(&run)?;
    cluster
        .each_record_map(&run, |map| recomputation.add(map))
        .await?;
    let summary = recomputation.summary()?;
    Ok((run, summary))
}

fn from_files(directory: &Path, name: &str, namespace: Option<&str>) -> Result<Read, Error> {
    let saved = files::saved(directory, name, namespace)?;
    finished(&saved.run)?;
    let mut recomputation = Recomputation::new(&saved.run)?;
    saved
        .records
        .iter()
        .try_for_each(|map| recomputation.add(map))?;
    let summary = recomputation.summary()?;
    Ok((saved.run, summary))
}
