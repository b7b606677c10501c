//! A finished run with what its records say, from a cluster or from files.

use std::path::Path;

use wasmbench_api::BenchmarkRun;
use wasmbench_results::Summary;

use crate::cluster::Cluster;
use crate::error::Error;
use crate::files;
use crate::recompute::Recomputation;
use crate::report::finished;

/// A run with what its records say.
pub type Read = (BenchmarkRun, Summary);

/// The run `name` of a cluster.
pub async fn from_cluster(cluster: &Cluster, name: &str) -> Result<Read, Error> {
    let run = cluster.run(name).await?;
    finished(&run)?;
    let mut recomputation = Recomputation::new(&run)?;
    cluster
        .each_record_map(&run, |map| recomputation.add(map))
        .await?;
    let summary = recomputation.summary()?;
    Ok((run, summary))
}

/// The run `name` of the files in `directory`.
pub fn from_files(directory: &Path, name: &str, namespace: Option<&str>) -> Result<Read, Error> {
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
