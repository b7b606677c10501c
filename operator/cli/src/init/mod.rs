//! `kubectl wasmbench init`: a first run of the user's own service, written for the current
//! cluster.

pub mod copy;
mod draft;
pub mod manifest;
mod served;

use crate::args::init::Source;
use crate::args::{ClusterArgs, InitArgs};
use crate::assumed;
use crate::check::read::{nodes, runtime_classes};
use crate::cluster::Cluster;
use crate::error::Error;
use crate::init::copy::copy_of;
use crate::init::manifest::{ClusterView, Draft, manifest, run_of};
use crate::{note, print};
use wasmbench_core::admit::admit;

/// The label by which a node is named.
const HOSTNAME: &str = "kubernetes.io/hostname";

/// Writes the run that the arguments describe.
pub async fn run(cluster: &ClusterArgs, args: &InitArgs) -> Result<u8, Error> {
    if let Some(first) = &args.from {
        let cluster = Cluster::connect(cluster).await?;
        let sources = std::iter::once(first).chain(&args.and);
        return copies(&cluster, sources, args).await;
    }
    let view = match Cluster::connect(cluster).await {
        Ok(cluster) => view_cluster(&cluster).await,
        Err(error) => ClusterView::unavailable(&error.to_string()),
    };
    let draft = Draft::new(args, view);
    let text = manifest(&draft);
    // A file that `plan` would refuse helps nobody.
    admit(&run_of(&text)?, &assumed::config())?;
    print(&text)?;
    for open in draft.open() {
        note(&format!("note: {open}\n"));
    }
    Ok(0)
}

/// Reads the cluster's RuntimeClasses and nodes.
pub async fn view_cluster(cluster: &Cluster) -> ClusterView {
    let classes = runtime_classes(cluster).await;
    let nodes = match &classes {
        Ok(_) => nodes(cluster).await,
        // The cluster does not answer: waiting for it once is enough.
        Err(error) => Ok(Err(error.to_string())),
    };
    let words = |error: Error| error.to_string();
    ClusterView {
        classes: classes.map_err(words).and_then(|answer| answer),
        nodes: nodes.map_err(words).and_then(|answer| answer),
    }
}

/// Writes copies of objects that are there already, and the run that scales them.
async fn copies<'a>(
    cluster: &Cluster,
    sources: impl Iterator<Item = &'a Source>,
    args: &InitArgs,
) -> Result<u8, Error> {
    let nodes = nodes(cluster).await?.unwrap_or_default();
    // With several nodes, whoever runs it chooses.
    let node = match nodes.as_slice() {
        [only] => only.labels.get(HOSTNAME).map(String::as_str),
        _ => None,
    };
    let mut copies = vec![];
    for source in sources {
        let found = cluster
            .object(source.kind, source.resource, &source.name)
            .await?;
        copies.push(copy_of(source, &found, node, args.port));
    }
    admit(&run_of(&copy::run(&copies, args))?, &assumed::config())?;
    print(&copy::file(&copies, args)?)?;
    for open in copy::open(&copies) {
        note(&format!("note: {open}\n"));
    }
    Ok(0)
}
