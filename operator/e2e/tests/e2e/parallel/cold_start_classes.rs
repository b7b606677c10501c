//! Classes of cold starts and containerd's own timeline, at the probe level `node`: the node has as
//! much of an image as requested, and containerd's events are in their proper places.

use wasmbench_api::cold_start::ColdStartClass;
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::runs;
use wasmbench_model::wire::cold_start::{Clock, ColdPod, ColdSample, ColdStep, CompileCache};
use wasmbench_model::wire::record::Record;

fn spec(class: &str) -> String {
    format!(
        "
blocks: 1
seed: 1
noiseFloor: false
variants:
- {{name: native, preset: native}}
- {{name: shim, preset: wasmtime-shim}}
workloads: [{{name: hello}}]
sweeps: {{coldStart: {{samples: 2, class: {class}, timeoutSeconds: 120}}}}
"
    )
}

/// The records of a run of this class, all of them measured.
async fn records(namespace: &str, client: &kube::Client, class: &str) -> Vec<Record> {
    runs::measured(client, namespace, ("classes", &spec(class)), 420, 2)
        .await
        .1
}

fn counted<'a>(records: &'a [Record], variant: &'a str) -> Vec<&'a ColdSample> {
    let mine = records
        .iter()
        .filter(move |r| r.trial.cell.variant == variant);
    let samples = mine.flat_map(|record| &record.cold_start().expect("a document").samples);
    let counted: Vec<&ColdSample> = samples.filter(|sample| sample.counts()).collect();
    assert_eq!(counted.len(), 2, "{variant}");
    counted
}

fn check(
    samples: &[&ColdSample],
    class: ColdStartClass,
    before: CompileCache,
    after: CompileCache,
) {
    for sample in samples {
        assert_eq!(sample.compiled_before, Some(before), "{sample:#?}");
        assert_eq!(sample.compiled_after, Some(after), "{sample:#?}");
        assert!(
            sample.pods.iter().all(|pod| pod.class == Some(class)),
            "{sample:#?}"
        );
        sample.pods.iter().for_each(check_events);
    }
}

/// Asserts that containerd's events are present and in order, between the times from the probe and
/// the log.
fn check_events(pod: &ColdPod) {
    let order = [
        ColdStep::CreateSent,
        ColdStep::SandboxStarted,
        ColdStep::TaskCreated,
        ColdStep::TaskStarted,
        ColdStep::TaskExited,
    ];
    let at = order.map(|step| {
        let moment = pod.steps.get(&step);
        moment.unwrap_or_else(|| panic!("no {step:?}: {pod:#?}"))
    });
    assert!(at.is_sorted_by_key(|moment| moment.nanoseconds), "{pod:#?}");
    let from_containerd = &at[1..];
    assert!(
        from_containerd
            .iter()
            .all(|m| m.clock == Clock::ContainerdEvent),
        "{pod:#?}"
    );
    let gone = pod.steps[&ColdStep::DeletionFinished].nanoseconds;
    assert!(at[4].nanoseconds <= gone, "{pod:#?}");
    let listening = pod.steps[&ColdStep::Listening].nanoseconds;
    assert!(at[2].nanoseconds < listening, "created first: {pod:#?}");
}

#[tokio::test]
async fn image_cached_starts_compile_and_containerd_reports_every_step() {
    with_namespace("imagecached", |client, namespace| async move {
        let records = records(&namespace, &client, "ImageCached").await;
        let (cached, plain) = (ColdStartClass::ImageCached, CompileCache::NothingToCompile);
        check(&counted(&records, "native"), cached, plain, plain);
        let (cold, warm) = (CompileCache::Cold, CompileCache::Warm);
        check(&counted(&records, "shim"), cached, cold, warm);
    })
    .await;
}

#[tokio::test]
async fn compile_cached_starts_find_what_the_discarded_one_compiled() {
    with_namespace("compilecached", |client, namespace| async move {
        let records = records(&namespace, &client, "CompileCached").await;
        let plain = CompileCache::NothingToCompile;
        let native = counted(&records, "native");
        check(&native, ColdStartClass::ImageCached, plain, plain);
        let warm = CompileCache::Warm;
        let shim = counted(&records, "shim");
        check(&shim, ColdStartClass::CompileCached, warm, warm);
    })
    .await;
}
