//! `kubectl wasmbench init`: a first run of one's own service, written for the cluster at hand.

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
    // A file that plan would refuse helps nobody.
    admit(&run_of(&text)?, &assumed::config())?;
    print(&text)?;
    for open in draft.open() {
        note(&format!("note: {open}\n"));
    }
    Ok(0)
}

/// What the cluster tells of its RuntimeClasses and nodes.
pub async fn asked(cluster: &Cluster) -> Told {
    let classes = runtime_classes(cluster).await;
    let nodes = match &classes {
        Ok(_) => nodes(cluster).await,
        // It does not answer: once is enough to wait for it.
        Err(error) => Ok(Err(error.to_string())),
    };
    let words = |error: Error| error.to_string();
    Told {
        classes: classes.map_err(words).and_then(|answer| answer),
        nodes: nodes.map_err(words).and_then(|answer| answer),
    }
}
