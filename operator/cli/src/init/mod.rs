//! `kubectl wasmbench init`: a first run of the user's own service, written for the current
//! cluster.

pub mod manifest;

use crate::args::{ClusterArgs, InitArgs};
use crate::assumed;
use crate::check::read::{nodes, runtime_classes};
use crate::cluster::Cluster;
use crate::error::Error;
use crate::init::manifest::{Draft, Told, manifest, run_of};
use crate::{note, print};
use wasmbench_core::admit::admit;

/// Writes the run that the arguments describe.
pub async fn run(cluster: &ClusterArgs, args: &InitArgs) -> Result<u8, Error> {
    let told = match Cluster::connect(cluster).await {
        Ok(cluster) => asked(&cluster).await,
        Err(error) => Told::nothing(&error.to_string()),
    };
    let draft = Draft::new(args, told);
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
pub async fn asked(cluster: &Cluster) -> Told {
    let classes = runtime_classes(cluster).await;
    let nodes = match &classes {
        Ok(_) => nodes(cluster).await,
        // The cluster does not answer: waiting for it once is enough.
        Err(error) => Ok(Err(error.to_string())),
    };
    let words = |error: Error| error.to_string();
    Told {
        classes: classes.map_err(words).and_then(|answer| answer),
        nodes: nodes.map_err(words).and_then(|answer| answer),
    }
}
