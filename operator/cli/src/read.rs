//! Finished runs with the results of their records, from a cluster or from files.

use std::path::{Path, PathBuf};

use kube::ResourceExt;
use wasmbench_api::BenchmarkRun;
use wasmbench_results::summary::Summary;

use crate::args::ClusterArgs;
use crate::cluster::Cluster;
use crate::error::Error;
use crate::files::Saved;
use crate::recompute::Recomputation;
use crate::{files, live};

/// A run with the results of its records.
pub type Read = (BenchmarkRun, Summary);

/// Returns an error unless `run` is finished.
pub fn finished(run: &BenchmarkRun) -> Result<(), Error> {
    if run.is_finished() {
        return Ok(());
    }
    Err(Error::NotFinished {
        name: run.name_any(),
        namespace: run.namespace().unwrap_or_default(),
        state: live::state(run).to_owned(),
    })
}

/// Where runs are read from.
pub enum Source {
    /// A cluster.
    Cluster(Cluster),
    /// The `.json` and `.yaml` files of a directory.
    Files(PathBuf),
}

impl Source {
    /// The directory if one is given, otherwise the cluster that the arguments name.
    pub async fn open(cluster: &ClusterArgs, directory: Option<&Path>) -> Result<Self, Error> {
        Ok(match directory {
            Some(directory) => Self::Files(directory.to_owned()),
            None => Self::Cluster(Cluster::connect(cluster).await?),
        })
    }

    /// Reads the finished run of this name; `namespace` chooses between runs of the same name in
    /// files.
    pub async fn read(&self, name: &str, namespace: Option<&str>) -> Result<Read, Error> {
        match self {
            Self::Cluster(cluster) => from_cluster(cluster, name).await,
            Self::Files(directory) => from_files(directory, name, namespace),
        }
    }
}

/// Reads the finished run of this name from a cluster.
pub async fn from_cluster(cluster: &Cluster, name: &str) -> Result<Read, Error> {
    let run = cluster.run(name).await?;
    finished(&run)?;
    of_cluster(cluster, run).await
}

/// Reads the run of this name from a cluster, with the records that it has so far.
pub async fn partial_from_cluster(cluster: &Cluster, name: &str) -> Result<Read, Error> {
    of_cluster(cluster, cluster.run(name).await?).await
}

async fn of_cluster(cluster: &Cluster, run: BenchmarkRun) -> Result<Read, Error> {
    let mut recomputation = Recomputation::new(&run)?;
    cluster
        .each_record_map(&run, |map| recomputation.add(map))
        .await?;
    let summary = recomputation.summary()?;
    Ok((run, summary))
}

/// Reads the finished run of this name from the files of a directory; `namespace` chooses between
/// runs of the same name.
pub fn from_files(directory: &Path, name: &str, namespace: Option<&str>) -> Result<Read, Error> {
    let saved = files::saved(directory, name, namespace)?;
    finished(&saved.run)?;
    of_files(saved)
}

/// The same for a run with the records that it had when it was saved.
pub fn partial_from_files(
    directory: &Path,
    name: &str,
    namespace: Option<&str>,
) -> Result<Read, Error> {
    of_files(files::saved(directory, name, namespace)?)
}

fn of_files(saved: Saved) -> Result<Read, Error> {
    let mut recomputation = Recomputation::new(&saved.run)?;
    saved
        .records
        .iter()
        .try_for_each(|map| recomputation.add(map))?;
    let summary = recomputation.summary()?;
    Ok((saved.run, summary))
}
