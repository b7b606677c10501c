//! The results of the records of a run, and how they compare with an earlier run: read whenever it is
//! requested, so that the report and the status can be computed again at any time.

use kube::Api;
use wasmbench_api::BenchmarkRun;
use wasmbench_core::validate::ValidatedRun;
use wasmbench_model::wire::record::RECORD_SCHEMA;
use wasmbench_report::across::{Versus, earlier};
use wasmbench_results::summary::Summary;

use super::records::{input_of, read_summary};
use crate::context::Context;
use crate::error::Error;

/// What a run has found.
pub struct Found {
    /// The results of its records.
    pub summary: Summary,
    /// The names of the `ConfigMaps` that hold them.
    pub records: Vec<String>,
    /// The comparison with the earlier run that it names.
    pub versus: Option<Versus>,
}

/// Reads what `run` has found.
pub async fn found(context: &Context, run: &ValidatedRun) -> Result<Found, Error> {
    let (summary, records) = read_summary(context, input_of(run)).await?;
    let versus = match &run.spec.baseline_run_name {
        Some(name) => Some(versus(context, run, &summary, name).await?),
        None => None,
    };
    Ok(Found {
        summary,
        records,
        versus,
    })
}

/// The comparison with the run `name`. One that cannot be compared with is a reason in the
/// comparison, not an error.
async fn versus(
    context: &Context,
    run: &ValidatedRun,
    summary: &Summary,
    name: &str,
) -> Result<Versus, Error> {
    let runs: Api<BenchmarkRun> = Api::namespaced(context.client.clone(), &run.namespace);
    let what = "the run that it is compared with";
    let failed = |source| Error::Observe { what, source };
    let found = runs.get_opt(name).await.map_err(failed)?;
    let after = (&run.spec, summary);
    Ok(match earlier(name, found.as_ref()) {
        Ok(input) => {
            let (before, records) = read_summary(context, input.clone()).await?;
            let before = if records.is_empty() {
                Err(format!(
                    "BenchmarkRun '{name}' has no records of the schema {RECORD_SCHEMA}, which this version \
                     reads: run it again"
                ))
            } else {
                Ok((&input.spec, &before))
            };
            Versus::new(name, before, after)
        }
        Err(reason) => Versus::new(name, Err(reason), after),
    })
}
