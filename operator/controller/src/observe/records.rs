//! Reads the contents of records: at the end of a run, and between two blocks, for how far trials
//! scatter, what speaks against them, and whether the confidence intervals require another block. Never
//! while a trial is prepared or measured.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::ListParams;
use kube::{Api, ResourceExt};
use wasmbench_api::owner::belongs_to;
use wasmbench_api::{BenchmarkRun, conditions, labels};
use wasmbench_core::build::component_selector;
use wasmbench_core::observed::Scatter;
use wasmbench_core::plan::{Blocks, blocks, complete_blocks};
use wasmbench_core::validate::ValidatedRun;
use wasmbench_model::{store, twin};
use wasmbench_results::judge::precision::Precision;
use wasmbench_results::summary::collect::{Collector, RunInput};
use wasmbench_results::summary::{Summary, power, trust};
use wasmbench_results::vocabulary::primary::planned;

use super::{Observed, failed};
use crate::context::Context;
use crate::error::{Error, chain};

/// Chunks read at a time: records are megabytes, and the operator has little memory.
const PAGE: u32 = 4;

/// Adds to `observed` what the records of the complete blocks of `run` decide and show: how many blocks
/// it has, as far as that is decided, how far trials scatter, and what speaks against their numbers. They
/// are read between two blocks: whenever they decide whether another block follows, and once after each
/// block for the rest, which the status of the `written` run has from then on.
pub async fn between_blocks(
    context: &Context,
    written: &BenchmarkRun,
    run: &ValidatedRun,
    observed: &mut Observed,
) -> Result<(), Error> {
    let known = known_scatter(written);
    observed.scatter = known;
    observed.doubts = known_doubts(written);
    let complete = complete_blocks(run, observed).filter(|_| planned(&run.spec) > 0);
    let new = complete.filter(|blocks| known.is_none_or(|known| known.blocks != *blocks));
    let (input, decided) = match (blocks(run, observed), new) {
        (Blocks::Decided(blocks), new) => {
            observed.planned_blocks = context.planned_blocks(&run.uid);
            observed.blocks = observed.planned_blocks.unwrap_or_default().max(blocks);
            match new {
                None => return Ok(()),
                Some(blocks) => (input_of_first(run, blocks), None),
            }
        }
        (Blocks::Complete(blocks), _) => (input_of(run), Some(blocks)),
    };
    let (summary, _) = read_summary(context, input).await?;
    if let Some(blocks) = new {
        let share = power::scatter(&summary);
        observed.scatter = Some(Scatter { blocks, share });
        let doubts = trust::so_far(&summary);
        observed.doubts = doubts.map(|lines| format!("after {blocks} block(s):\n{lines}"));
    }
    let Some(complete) = decided else {
        return Ok(());
    };
    let precision = summary.precision.as_ref();
    observed.blocks = precision.map_or(complete, |found| found.blocks_after(complete));
    if precision.is_some_and(Precision::is_planned) {
        context.plan_blocks(&run.uid, observed.blocks);
        observed.planned_blocks = Some(observed.blocks);
    }
    Ok(())
}

/// How far trials scatter according to the status.
fn known_scatter(run: &BenchmarkRun) -> Option<Scatter> {
    let power = run.status.as_ref()?.power.as_ref()?;
    Some(Scatter {
        blocks: power.blocks?,
        share: power.scatter,
    })
}

/// What speaks against the numbers so far according to the status.
fn known_doubts(run: &BenchmarkRun) -> Option<String> {
    let conditions = &run.status.as_ref()?.conditions;
    conditions::doubts_so_far(conditions).map(str::to_owned)
}

/// The input for a summary of the first `blocks` blocks of `run`, as if it had no others.
fn input_of_first(run: &ValidatedRun, blocks: u32) -> RunInput {
    let mut input = input_of(run);
    input.spec.noise_floor = Some(twin::is_measured(&input.spec));
    input.spec.blocks = blocks;
    input.spec.precision = None;
    input
}

/// The input for a summary of `run`.
pub fn input_of(run: &ValidatedRun) -> RunInput {
    let input = RunInput {
        namespace: run.namespace.clone(),
        name: run.name.clone(),
        uid: run.uid.clone(),
        seed: run.seed,
        spec: run.spec.clone(),
    };
    input.without_mutable_fields()
}

/// The summary of all records of `run`, and the names of the `ConfigMaps` that hold them. A record
/// that does not unpack is left out and logged, as are those of another schema; their trials count
/// as missing.
pub async fn read_summary(
    context: &Context,
    run: RunInput,
) -> Result<(Summary, Vec<String>), Error> {
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
            .map_err(failed("the contents of the records"))?;
        for map in page
            .items
            .iter()
            .filter(|map| belongs_to::<BenchmarkRun>(&map.metadata, &uid))
        {
            if let Err(other) = store::check_schema(map.annotations()) {
                let map = map.name_any();
                tracing::warn!(map, error = chain(&other), "records are left out");
                continue;
            }
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
        if !collector.wants(key) {
            continue;
        }
        match store::decode(&bytes.0) {
            Ok(record) => collector.add(&record),
            Err(error) => tracing::warn!(key, error = chain(&error), "a record does not unpack"),
        }
    }
}
