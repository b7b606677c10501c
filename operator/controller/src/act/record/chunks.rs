//! Records in the `ConfigMaps` that hold them.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::api::PostParams;
use wasmbench_api::BenchmarkRun;
use wasmbench_api::owner::belongs_to;
use wasmbench_core::build::{config_map, names};
use wasmbench_model::store::{self, Added, Ended};
use wasmbench_model::wire::record::Record;

use crate::act::not_written;
use crate::act::on_node::OnNode;
use crate::context::Context;
use crate::error::Error;
use crate::remove::failed;

/// How many times a write is attempted when writers conflict.
const ATTEMPTS: usize = 5;

/// Appends records of one variant and workload to their chunks.
pub(super) async fn store_all(here: OnNode<'_>, records: Vec<Record>) -> Result<(), Error> {
    let mut left: Vec<(Record, Vec<u8>)> = vec![];
    for record in records {
        let bytes = store::encode(&record)?;
        left.push((record, bytes));
    }
    let mut chunk = 0;
    while !left.is_empty() {
        left = fill_chunk(here, chunk, left).await?;
        chunk += 1;
    }
    Ok(())
}

/// Adds as many records to a chunk as fit, and returns the rest.
async fn fill_chunk(
    here: OnNode<'_>,
    chunk: u32,
    records: Vec<(Record, Vec<u8>)>,
) -> Result<Vec<(Record, Vec<u8>)>, Error> {
    let OnNode { context, run, node } = here;
    let Some(first) = records.first() else {
        return Ok(vec![]);
    };
    let cell = first.0.trial.cell.clone();
    let name = names::records(run, &cell, chunk);
    let api: Api<ConfigMap> = Api::namespaced(context.client.clone(), &run.namespace);
    for _ in 0..ATTEMPTS {
        let found = api
            .get_opt(&name)
            .await
            .map_err(failed(format!("read {name}")))?;
        let exists = found.is_some();
        let mut map = found.unwrap_or_else(|| config_map::records(run, &cell, chunk, node));
        if !belongs_to::<BenchmarkRun>(&map.metadata, &run.uid) {
            return Err(Error::NameTaken {
                kind: "ConfigMap",
                name,
            });
        }
        let (mut rest, mut changed, mut counted) = (vec![], false, vec![]);
        for (record, bytes) in &records {
            let ended = Ended::from(&record.outcome);
            match store::add(&mut map, &cell, &record.trial, ended.clone(), bytes.clone()) {
                Added::Yes => {
                    store::note_scouted(&mut map, record);
                    changed = true;
                    counted.push(ended);
                }
                Added::AlreadyThere => {}
                Added::Full => rest.push((record.clone(), bytes.clone())),
            }
        }
        if !changed {
            return Ok(rest);
        }
        let params = PostParams::default();
        let written = if exists {
            api.replace(&name, &params, &map).await
        } else {
            api.create(&params, &map).await
        };
        match written {
            Ok(_) => {
                count(context, &counted);
                return Ok(rest);
            }
            // Another writer was faster: read again, so that none of its data is lost.
            Err(kube::Error::Api(s)) if s.is_conflict() || s.is_already_exists() => {}
            Err(error) => return Err(not_written(name, error)),
        }
    }
    Err(Error::WriteConflict { name })
}

fn count(context: &Context, ended: &[Ended]) {
    for one in ended {
        let outcome = match one {
            Ended::Measured => "measured",
            Ended::Failed(_) => "failed",
            Ended::Skipped(_) => "skipped",
        };
        context.metrics.recorded(outcome, 1);
    }
}
