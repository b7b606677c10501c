//! The report: computed from the records alone, so that it can be computed again at any time.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{ListParams, PostParams};
use kube::{Api, ResourceExt};
use wasmbench_api::{BenchmarkRun, labels};
use wasmbench_core::build::{component_selector, config_map, names};
use wasmbench_core::results::across::{VERSUS_RUN_TXT, Versus, earlier};
use wasmbench_core::results::{Collector, RunInput, Summary, report_files_of};
use wasmbench_core::status::Conclusion;
use wasmbench_core::store;
use wasmbench_core::validate::ValidatedRun;

use super::failed;
use crate::context::Context;
use crate::error::{Error, chain};
use crate::observe::belongs_to;

/// Chunks read at a time: records are megabytes, and the operator is small.
const PAGE: u32 = 4;

/// Writes the report of `run`.
pub async fn summarise(context: &Context, run: &ValidatedRun) -> Result<(), Error> {
    let (summary, _) = read_summary(context, input_of(run)).await?;
    let mut files = report_files_of(&summary)?;
    if let Some(versus) = versus(context, run, &summary).await? {
        files.insert(VERSUS_RUN_TXT.to_owned(), versus.text());
    }
    let mut report = config_map::report(run, files);
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
    let (summary, records) = read_summary(context, input_of(run)).await?;
    let versus = versus(context, run, &summary).await?;
    Ok(Conclusion::of(&summary, records).versus(versus.as_ref()))
}

fn input_of(run: &ValidatedRun) -> RunInput {
    let input = RunInput {
        namespace: run.namespace.clone(),
        name: run.name.clone(),
        uid: run.uid.clone(),
        seed: run.seed,
        spec: run.spec.clone(),
    };
    input.without_mutable_fields()
}

/// The comparison with the run that `run` names, where it names one. A run that is not there is a
/// reason, and no failure.
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

/// The summary of all records of a run, and the names of the `ConfigMaps` that hold them. What does
/// not unpack is left out and logged; its trial counts as missing.
async fn read_summary(context: &Context, run: RunInput) -> Result<(Summary, Vec<String>), Error> {
    let api: Api<ConfigMap> = Api::namespaced(context.client.clone(), &run.namespace);
    let selector = component_selector(&run.uid, labels::COMPONENT_RECORDS);
    let mut params = ListParams::default().labels(&selector).limit(PAGE);
    let uid = run.uid.clone();
    let mut collector = Collector::new(run);
    let mut names = vec![];
    loop {
        let page = api
            .list(&params)
            .await
            .map_err(failed("read the records"))?;
        for map in page
            .items
            .iter()
            .filter(|map| belongs_to(&map.metadata, &uid))
        {
            names.push(map.name_any());
            add_all(&mut collector, map);
        }
        match page.metadata.continue_.filter(|token| !token.is_empty()) {
            Some(token) => params = params.continue_token(&token),
            None => return Ok((collector.finish(), names)),
        }
    }
}

fn add_all(collector: &mut Collector, map: &ConfigMap) {
    for (key, bytes) in map.binary_data.iter().flatten() {
        match store::decode(&bytes.0) {
            Ok(record) => collector.add(&record),
            Err(error) => tracing::warn!(key, error = chain(&error), "a record does not unpack"),
        }
    }
}
