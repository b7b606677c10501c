//! Bodies that workloads send from `ConfigMaps` of the run's namespace.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use wasmbench_api::BenchmarkRun;
use wasmbench_api::run::BodyFrom;
use wasmbench_core::build::bodies::stored;
use wasmbench_core::validate::ValidatedRun;
use wasmbench_model::digest::sha256;

use super::failed;
use crate::context::Context;
use crate::error::Error;

/// SHA-256 of each body by its workload: that of the status of the run, which was `written` so, or
/// else that of the body that is there now.
pub async fn digests(
    context: &Context,
    written: &BenchmarkRun,
    run: &ValidatedRun,
) -> Result<BTreeMap<String, String>, Error> {
    let mut found = known(written);
    let workloads: Vec<_> = run.spec.workloads.iter().collect();
    for (workload, from) in stored(&workloads) {
        if found.contains_key(&workload) {
            continue;
        }
        if let Ok(bytes) = read(context, run, &from).await? {
            found.insert(workload, sha256(&bytes));
        }
    }
    Ok(found)
}

/// SHA-256 of each body that the status of the run has.
pub fn known(written: &BenchmarkRun) -> BTreeMap<String, String> {
    let known = written.status.iter().flat_map(|status| &status.bodies);
    known
        .map(|body| (body.workload.clone(), body.sha256.clone()))
        .collect()
}

/// A body, or why there is none.
pub async fn read(
    context: &Context,
    run: &ValidatedRun,
    from: &BodyFrom,
) -> Result<Result<Vec<u8>, String>, Error> {
    let BodyFrom { config_map, key } = from;
    let api: Api<ConfigMap> = Api::namespaced(context.client.clone(), &run.namespace);
    let found = api.get_opt(config_map).await.map_err(failed("a body"))?;
    let Some(found) = found else {
        return Ok(Err(format!("there is no ConfigMap {config_map}")));
    };
    let text = found.data.and_then(|mut data| data.remove(key));
    let bytes = found.binary_data.and_then(|mut data| data.remove(key));
    let body = text.map(String::into_bytes).or(bytes.map(|bytes| bytes.0));
    Ok(body.ok_or_else(|| format!("ConfigMap {config_map} has no key {key}")))
}
