//! The report: computed from the records alone, so that it can be computed again at any time.

use crate::status::Conclusion;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::api::PostParams;
use wasmbench_api::BenchmarkRun;
use wasmbench_api::owner::belongs_to;
use wasmbench_core::build::config_map;
use wasmbench_core::validate::ValidatedRun;
use wasmbench_model::names;
use wasmbench_report::across::{VERSUS_RUN_TXT, Versus, earlier};
use wasmbench_report::files::report_files_of;
use wasmbench_results::summary::Summary;

use super::{failed, not_written};
use crate::context::Context;
use crate::error::Error;
use crate::observe::{input_of, read_summary};

/// Writes the report of `run`.
pub async fn summarise(context: &Context, run: &ValidatedRun) -> Result<(), Error> {
    let (summary, _) = read_summary(context, input_of(run)).await?;
    let mut files = report_files_of(&summary)?;
    if let Some(versus) = versus(context, run, &summary).await? {
        files.insert(VERSUS_RUN_TXT.to_owned(), versus.text());
    }
    let mut report = config_map::report(run, files, crate::BUILD);
    let name = names::report(&run.name);
    let api: Api<ConfigMap> = Api::namespaced(context.client.clone(), &run.namespace);
    let params = PostParams::default();
    let what = || failed(format!("look at {name}"));
    let written = match api.get_metadata_opt(&name).await.map_err(what())? {
        None => api.create(&params, &report).await,
        Some(found) if !belongs_to::<BenchmarkRun>(&found.metadata, &run.uid) => {
            return Err(Error::NameTaken {
                kind: "ConfigMap",
                name,
            });
        }
        Some(found) => {
            report.metadata.resource_version = found.metadata.resource_version;
            api.replace(&name, &params, &report).await
        }
    };
    written.map(drop).map_err(|error| not_written(name, error))
}

/// What the status says about a run whose report has been written.
pub async fn conclude(context: &Context, run: &ValidatedRun) -> Result<Conclusion, Error> {
    let (summary, records) = read_summary(context, input_of(run)).await?;
    let versus = versus(context, run, &summary).await?;
    Ok(Conclusion::of(&summary, records).versus(versus.as_ref()))
}

/// The comparison with the earlier run that `run` names, if any. A run that cannot be compared with
/// is a reason in the comparison, not an error.
async fn versus(
    context: &Context,
    run: &ValidatedRun,
    summary: &Summary,
) -> Result<Option<Versus>, Error> {
    let Some(name) = &run.spec.baseline_run_name else {
        return Ok(None);
    };
    let runs: Api<BenchmarkRun> = Api::namespaced(context.client.clone(), &run.namespace);
    let found = runs
        .get_opt(name)
        .await
        .map_err(failed(format!("read the BenchmarkRun {name}")))?;
    let after = (&run.spec, summary);
    Ok(Some(match earlier(name, found.as_ref()) {
        Ok(input) => {
            let (before, _) = read_summary(context, input.clone()).await?;
            Versus::of(name, Ok((&input.spec, &before)), after)
        }
        Err(reason) => Versus::of(name, Err(reason), after),
    }))
}
