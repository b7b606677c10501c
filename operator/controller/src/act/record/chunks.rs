//! Records in the `ConfigMaps` that hold them.

use k8s_openapi::api::core::v1::{ConfigMap, ObjectReference};
use kube::api::PostParams;
use kube::runtime::events::{Event, EventType};
use kube::{Api, Resource as _};
use wasmbench_api::BenchmarkRun;
use wasmbench_api::owner::belongs_to;
use wasmbench_core::build::{config_map, names};
use wasmbench_core::validate::ValidatedRun;
use wasmbench_model::pace;
use wasmbench_model::store::{self, Added, Ended};
use wasmbench_model::wire::record::Record;
use wasmbench_model::wire::schema::OtherSchema;

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
        let annotations = map.metadata.annotations.as_ref().filter(|_| exists);
        let replaced = annotations.and_then(|found| store::check_schema(found).err());
        let (mut rest, mut changed, mut counted) = (vec![], false, vec![]);
        for (record, bytes) in &records {
            let ended = Ended::from(&record.outcome);
            match store::add(&mut map, &cell, &record.trial, ended.clone(), bytes.clone()) {
                Added::Yes => {
                    store::note_scouted(&mut map, record);
                    pace::note(&mut map, record);
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
                if let Some(other) = replaced {
                    announce_replaced(context, run, &name, &other).await;
                }
                return Ok(rest);
            }
            // Another writer was faster: read again, so that none of its data is lost.
            Err(kube::Error::Api(s)) if s.is_conflict() || s.is_already_exists() => {}
            Err(error) => return Err(not_written(name, error)),
        }
    }
    Err(Error::WriteConflict { name })
}

/// Publishes an Event: records of another schema were replaced. Events may get lost; nothing depends on them.
async fn announce_replaced(context: &Context, run: &ValidatedRun, name: &str, other: &OtherSchema) {
    let note = format!(
        "the records in {name} are of another version ({other}): their trials are measured again"
    );
    tracing::warn!(
        run = run.name,
        namespace = run.namespace,
        map = name,
        "records of another schema are replaced"
    );
    let event = Event {
        type_: EventType::Warning,
        reason: "MeasuredAgain".into(),
        note: Some(note),
        action: "Measure".into(),
        secondary: None,
    };
    let about = ObjectReference {
        api_version: Some(BenchmarkRun::api_version(&()).into()),
        kind: Some(BenchmarkRun::kind(&()).into()),
        namespace: Some(run.namespace.clone()),
        name: Some(run.name.clone()),
        uid: Some(run.uid.clone()),
        ..ObjectReference::default()
    };
    if let Err(error) = context.events.publish(&event, &about).await {
        tracing::debug!(error = %error, "an event could not be published");
    }
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
