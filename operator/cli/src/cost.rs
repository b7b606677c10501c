//! `kubectl wasmbench cost`: what the variants of a run cost on a node with a given price.

use wasmbench_report::cost::cost_text;
use wasmbench_results::summary::cost::Costs;

use crate::args::{ClusterArgs, CostArgs};
use crate::error::Error;
use crate::live::NOT_TRUSTWORTHY;
use crate::print;
use crate::read::Source;

/// Prints the costs of the run that the arguments name.
pub async fn run(cluster: &ClusterArgs, args: &CostArgs) -> Result<u8, Error> {
    let source = Source::open(cluster, args.records_from.as_deref()).await?;
    let (_, summary) = source
        .read(&args.name, cluster.namespace.as_deref())
        .await?;
    let costs = Costs::new(&summary, args.node());
    if !costs.any() {
        return Err(Error::NothingToCost(args.name.clone()));
    }
    print(&match args.output.format() {
        None => cost_text(&summary, &costs),
        Some(format) => format.text(&costs)?,
    })?;
    Ok(if summary.trustworthy == Some(true) {
        0
    } else {
        NOT_TRUSTWORTHY
    })
}
