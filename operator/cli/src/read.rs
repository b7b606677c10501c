//! Finished runs with the results of their records, from a cluster or from files.

use std::path::{Path, PathBuf};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::ResourceExt;
use wasmbench_api::BenchmarkRun;
use wasmbench_results::summary::Summary;

use crate::args::ClusterArgs;
use crate::cluster::Cluster;
use crate::error::Error;
use crate::recompute::Recomputation;
use crate::{files, live};

/// A run with the results of its records.
pub type Read = (BenchmarkRun, Summary);

/// Returns an error unless `run` is finished, or may be `partial`.
pub fn finished(run: &BenchmarkRun, partial: bool) -> Result<(), Error> {
    if partial || run.is_finished() {
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
            Self::Cluster(cluster) => from_cluster(cluster, name, false).await,
            Self::Files(directory) => from_files(directory, name, namespace, false),
        }
    }
}

/// Reads the run of this name from a cluster, with the records that it has so far if it may be `partial`.
pub async fn from_cluster(cluster: &Cluster, name: &str, partial: bool) -> Result<Read, Error> {
    let run = cluster.run(name).await?;
    finished(&run, partial)?;
    let summary = summary_in_cluster(cluster, &run).await?;
    Ok((run, summary))
}

/// The results of the records that a cluster has of `run`.
pub async fn summary_in_cluster(cluster: &Cluster, run: &BenchmarkRun) -> Result<Summary, Error> {
    let mut recomputation = Recomputation::new(run)?;
    cluster
        .each_record_map(run, |map| recomputation.add(map))
        .await?;
    recomputation.summary()
}

/// The same from the files of a directory; `namespace` chooses between runs of the same name.
pub fn from_files(
    directory: &Path,
    name: &str,
    namespace: Option<&str>,
    partial: bool,
) -> Result<Read, Error> {
    let saved = files::saved(directory, name, namespace)?;
    finished(&saved.run, partial)?;
    let summary = summary_of(&saved.run, &saved.records)?;
    Ok((saved.run, summary))
}

/// The results of `records`, which are of `run`.
pub fn summary_of(run: &BenchmarkRun, records: &[ConfigMap]) -> Result<Summary, Error> {
    let mut recomputation = Recomputation::new(run)?;
    records.iter().try_for_each(|map| recomputation.add(map))?;
    recomputation.summary()
}
