//! `kubectl wasmbench check`: whether the installation works, and what is missing.
//!
//! Reading order: [`observed`] (what was read), [`read`] and [`rights`] (how), [`finding`] (the results), [`judge`],
//! [`reach`] and [`presets`] (the rules).

mod answer;
pub mod finding;
pub mod judge;
pub mod observed;
pub mod presets;
pub mod reach;
pub mod read;
pub mod rights;

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::args::{CheckArgs, ClusterArgs};
use crate::check::finding::{Finding, text};
use crate::cluster::Cluster;
use crate::error::Error;
use crate::print;

/// How long to wait before an installation that does not work yet is checked again.
const AGAIN: Duration = Duration::from_secs(2);

/// Prints what works and what is missing.
pub async fn run(cluster: &ClusterArgs, args: &CheckArgs) -> Result<u8, Error> {
    let cluster = Cluster::connect(cluster).await?;
    let end = Instant::now() + Duration::from_secs(args.wait.unwrap_or_default());
    let found = loop {
        let found = findings(&cluster, args.operator_namespace.as_deref()).await;
        let works = found
            .as_ref()
            .is_ok_and(|found| !found.iter().any(Finding::fails));
        if works || Instant::now() + AGAIN > end {
            break found?;
        }
        sleep(AGAIN).await;
    };
    print(&text(&found, cluster.namespace()))?;
    Ok(u8::from(found.iter().any(Finding::fails)))
}

/// Checks the installation. The operator is looked for in `operator_namespace`, or everywhere.
pub async fn findings(
    cluster: &Cluster,
    operator_namespace: Option<&str>,
) -> Result<Vec<Finding>, Error> {
    let observed = read::read(cluster, operator_namespace).await?;
    let presets = presets::presets(&observed);
    Ok(judge::installation(&observed)
        .into_iter()
        .chain(presets)
        .collect())
}
