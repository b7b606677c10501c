//! The report: computed from the records alone, so that it can be computed again at any time.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{ListParams, PostParams};
use kube::{Api, ResourceExt};
use wasmbench_api::labels;
use wasmbench_core::build::{component_selector, config_map, names};
use wasmbench_core::results;
use wasmbench_core::status::Conclusion;
use wasmbench_core::store;
use wasmbench_core::validate::ValidatedRun;
use wasmbench_core::wire::record::Record;

use super::failed;
use crate::context::Context;
use crate::error::{Error, chain};
use crate::observe::belongs_to;

/// Writes the report of `run`.
pub async fn summarise(context: &Context, run: &ValidatedRun) -> Result<(), Error> {
    let (records, _) = read_records(context, run).await?;
    let report = config_map::report(run, results::report_files(&identity(run), &records));
    let name = names::report(&run.name);
    let api: Api<ConfigMap> = Api::namespaced(context.client.clone(), &run.namespace);
    let params = PostParams::default();
    let what = || failed(format!("write {name}"));
    match api.get_opt(&name).await.map_err(what())? {
        None => api.create(&params, &report).await.map_err(what())?,
        Some(found) if !belongs_to(&found.metadata, &run.uid) => {
            return Err(Error::NameTaken { kind: "ConfigMap", name });
        }
        Some(found) => {
            let mut report = report;
            report.metadata.resource_version = found.metadata.resource_version;
            api.replace(&name, &params, &report).await.map_err(what())?
        }
    };
    Ok(())
}

/// What the status tells of a run whose report is written.
pub async fn conclude(context: &Context, run: &ValidatedRun) -> Result<Conclusion, Error> {
    let (records, names) = read_records(context, run).await?;
    let summary = results::summarise(&identity(run), &records);
    Ok(results::conclusion(&summary, names))
}

/// All records of `run`, and the names of the `ConfigMaps` that hold them. What does not unpack is
/// left out and logged; its trial counts as missing.
async fn read_records(
    context: &Context,
    run: &ValidatedRun,
) -> Result<(Vec<Record>, Vec<String>), Error> {
    let api: Api<ConfigMap> = Api::namespaced(context.client.clone(), &run.namespace);
    let params = ListParams::default()
        .labels(&component_selector(&run.uid, labels::COMPONENT_RECORDS));
    let maps = api.list(&params).await.map_err(failed("read the records"))?.items;
    let (mut records, mut names) = (vec![], vec![]);
    for map in maps.iter().filter(|map| belongs_to(&map.metadata, &run.uid)) {
        names.push(map.name_any());
        for (key, bytes) in map.binary_data.iter().flatten() {
            match store::decode(&bytes.0) {
                Ok(record) if record.run_uid == run.uid => records.push(record),
                Ok(_) => tracing::warn!(key, "a record belongs to another run"),
                Err(error) => {
                    tracing::warn!(key, error = chain(&error), "a record does not unpack");
                }
            }
        }
    }
    Ok((records, names))
}
