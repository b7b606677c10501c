//! `kubectl wasmbench init`: a first run of the user's own service, written for the current
//! cluster.

mod draft;
pub mod manifest;

use crate::args::{ClusterArgs, InitArgs};
use crate::assumed;
use crate::check::read::{nodes, runtime_classes};
use crate::cluster::Cluster;
use crate::error::Error;
use crate::init::manifest::{ClusterView, Draft, manifest, run_of};
use crate::{note, print};
use wasmbench_core::admit::admit;

/// Writes the run that the arguments describe.
pub async fn run(cluster: &ClusterArgs, args: &InitArgs) -> Result<u8, Error> {
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
