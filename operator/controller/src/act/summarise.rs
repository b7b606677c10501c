//! The report: computed from the records alone, so that it can be computed again at any time.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::api::PostParams;
use wasmbench_core::build::{config_map, names};
use wasmbench_core::results::report_files_of;
use wasmbench_core::status::Conclusion;
use wasmbench_core::validate::ValidatedRun;

use super::failed;
use crate::context::Context;
use crate::error::Error;
use crate::observe::{belongs_to, read_summary};

/// Writes the report of `run`.
pub async fn summarise(context: &Context, run: &ValidatedRun) -> Result<(), Error> {
    let (summary, _) = read_summary(context, run).await?;
    let mut report = config_map::report(run, report_files_of(&summary)?);
    let name = names::report(&run.name);
    let api: Api<ConfigMap> = Api::namespaced(context.client.clone(), &run.namespace);
    let params = PostParams::default();
    let what = || failed(format!("write {name}"));
    match api.get_metadata_opt(&name).await.map_err(what())? {
        None => api.create(&params, &report).await.map_err(what())?,
        Some(found) if !belongs_to(&found.metadata, &run.uid) => {
            return Err(Error::NameTaken {
                kind: "ConfigMap",
                name,
            });
        }
        Some(found) => {
            report.metadata.resource_version = found.metadata.resource_version;
            api.replace(&name, &params, &report).await.map_err(what())?
        }
    };
    Ok(())
}

/// What the status tells of a run whose report is written.
pub async fn conclude(context: &Context, run: &ValidatedRun) -> Result<Conclusion, Error> {
    let (summary, records) = read_summary(context, run).await?;
    Ok(Conclusion::of(&summary, records))
}
