//! Writes the report.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::api::PostParams;
use wasmbench_api::BenchmarkRun;
use wasmbench_api::owner::belongs_to;
use wasmbench_core::build::config_map;
use wasmbench_core::validate::ValidatedRun;
use wasmbench_model::names;
use wasmbench_report::across::VERSUS_RUN_TXT;
use wasmbench_report::files::report_files_of;

use super::{failed, not_written};
use crate::context::Context;
use crate::error::Error;
use crate::observe;

/// Writes the report of `run`.
pub async fn summarise(context: &Context, run: &ValidatedRun) -> Result<(), Error> {
    let found = observe::found(context, run).await?;
    let mut files = report_files_of(&found.summary)?;
    if let Some(versus) = found.versus {
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
