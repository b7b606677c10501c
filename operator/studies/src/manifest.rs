//! The runs of a study's manifest: what each is to measure, and how its variants execute Wasm. YAML in, plans out.

use serde::Deserialize as _;
use wasmbench_api::run::Variant;
use wasmbench_api::{BenchmarkRun, BenchmarkRunSpec};
use wasmbench_model::variants::catalogue::definition_of;
use wasmbench_model::variants::presets::{Definition, Mode};

use crate::figure::Figure;

/// A mode of its own: the shim compiles the image at its first start and keeps the result.
const BY_SHIM: &str = "by the shim";

/// The manifest of a study.
#[derive(Clone, Debug, Default)]
pub struct Manifest {
    /// Its runs, in its order.
    pub runs: Vec<Planned>,
}

/// A run of a manifest.
#[derive(Clone, Debug)]
pub struct Planned {
    /// Its name.
    pub name: String,
    spec: BenchmarkRunSpec,
}

/// The content of a file.
pub fn parse(text: &str) -> Result<Manifest, String> {
    let documents = serde_yaml::Deserializer::from_str(text);
    let runs = documents.map(planned).collect::<Result<Vec<_>, _>>()?;
    Ok(Manifest { runs })
}

fn planned(document: serde_yaml::Deserializer<'_>) -> Result<Planned, String> {
    let run = BenchmarkRun::deserialize(document).map_err(|error| error.to_string())?;
    let name = run.metadata.name.ok_or("a run has no name")?;
    Ok(Planned {
        name,
        spec: run.spec,
    })
}

impl Manifest {
    /// The run of that name.
    pub fn run(&self, name: &str) -> Option<&Planned> {
        self.runs.iter().find(|run| run.name == name)
    }

    /// Whether a variant runs under a shim of containerd.
    pub fn has_shims(&self) -> bool {
        let variants = self.runs.iter().flat_map(|run| &run.spec.variants);
        let mut rows = variants.filter_map(definition_of);
        rows.any(|row| row.runtime_class.is_some())
    }
}

impl Planned {
    /// Whether it measures a figure of the variant under all of these workloads at so many connections or instances; without
    /// a number, at any.
    pub fn measures(
        &self,
        figure: Figure,
        workloads: &[&str],
        variant: &str,
        at: Option<u32>,
    ) -> bool {
        let points = self.points(figure);
        let has_point = at.map_or(!points.is_empty(), |at| points.contains(&at));
        let has = |name: &&str| self.spec.workloads.iter().any(|one| one.name == **name);
        has_point && self.variant(variant).is_some() && workloads.iter().all(has)
    }

    /// The names of its workloads, in its order.
    pub fn workloads(&self) -> impl Iterator<Item = &str> {
        self.spec.workloads.iter().map(|one| one.name.as_str())
    }

    /// The names of its variants, in its order.
    pub fn variants(&self) -> impl Iterator<Item = &str> {
        self.spec.variants.iter().map(|one| one.name.as_str())
    }

    /// How the variant executes Wasm, with its allocator, bounds checks and threads where it has a choice: `Jit, Pooling`.
    /// `None` where it executes none, or nothing states how.
    pub fn mode(&self, variant: &str) -> Option<String> {
        let variant = self.variant(variant)?;
        let row = definition_of(variant)?;
        let settings = variant.engine.unwrap_or_default();
        let allocator = row.has_allocator.then(|| <&str>::from(settings.allocator));
        let checks = row.bounds_checks(settings).map(<&str>::from);
        let threads = row.threads(settings).filter(|threads| *threads > 1);
        let words = [compiled(row, variant), allocator, checks].into_iter();
        let parts: Vec<String> = words
            .flatten()
            .map(str::to_owned)
            .chain(threads.map(|threads| format!("{threads} threads")))
            .collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    fn variant(&self, name: &str) -> Option<&Variant> {
        self.spec.variants.iter().find(|one| one.name == name)
    }

    /// The numbers of connections or instances at which it measures a figure. What loads measure in addition to rate and latency is
    /// that of the throughput sweep, where there is one.
    fn points(&self, figure: Figure) -> Vec<u32> {
        let sweeps = &self.spec.sweeps;
        let warm = || sweeps.warm_latency.map(|one| vec![one.connections]);
        let throughput = || {
            let sweep = sweeps.throughput.as_ref();
            sweep.map(|one| one.connections.clone())
        };
        let points = match figure {
            Figure::Ready => sweeps
                .cold_start
                .as_ref()
                .map(|one| one.concurrency.clone()),
            Figure::WarmP50 => warm(),
            Figure::Throughput | Figure::CpuUse => throughput(),
            Figure::CpuPerRequest
            | Figure::Memory
            | Figure::ContextSwitchesPerCpuSecond
            | Figure::PageFaultsPerRequest
            | Figure::SystemCpuPerRequest
            | Figure::InstanceTimePerRequest => throughput().or_else(warm),
            Figure::MemoryPerInstance => sweeps.density.as_ref().map(|one| one.instances.clone()),
        };
        points.unwrap_or_default()
    }
}

fn compiled(row: &Definition, variant: &Variant) -> Option<&'static str> {
    if row.mode == Mode::CompiledByShim {
        return Some(BY_SHIM);
    }
    let mode = row.mode(variant.engine.unwrap_or_default());
    mode.map(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUNS: &str = "
apiVersion: wasmbench.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: one}
spec:
  variants:
  - {name: native, preset: native}
  - {name: usual, preset: wasmtime-embedded}
  - {name: pooled, preset: wasmtime-embedded, engine: {allocator: Pooling, compile: Jit}}
  - {name: shim, preset: wasmtime-shim}
  - {name: kernels, preset: kernel-v8, engine: {boundsChecks: Explicit, threads: 2}}
  workloads: [{name: hello, path: /}]
  sweeps: {throughput: {connections: [10, 50]}, warmLatency: {}}
---
apiVersion: wasmbench.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: two}
spec:
  variants: [{name: cloud, preset: wasmcloud}]
  workloads: [{name: hello, path: /}]
  sweeps: {coldStart: {concurrency: [4]}}
";

    #[test]
    fn the_mode_is_that_of_the_spec_and_by_default_that_of_the_preset() {
        let manifest = parse(RUNS).unwrap();
        let mode = |variant| manifest.run("one").unwrap().mode(variant);
        for (variant, expected) in [
            ("native", None),
            ("usual", Some("Aot, OnDemand")),
            ("pooled", Some("Jit, Pooling")),
            ("shim", Some(BY_SHIM)),
            ("kernels", Some("Explicit, 2 threads")),
            ("unknown", None),
        ] {
            assert_eq!(mode(variant).as_deref(), expected, "{variant}");
        }
        assert_eq!(manifest.run("two").unwrap().mode("cloud"), None);
        assert!(manifest.has_shims());
    }

    #[test]
    fn a_run_measures_its_variants_under_its_workloads_at_its_points() {
        let manifest = parse(RUNS).unwrap();
        let one = manifest.run("one").unwrap();
        let at = |at| one.measures(Figure::Memory, &["hello"], "usual", at);
        assert_eq!(
            [Some(10), Some(50), Some(100), None].map(at),
            [true, true, false, true]
        );
        assert!(one.measures(Figure::WarmP50, &["hello"], "usual", Some(1)));
        assert!(!one.measures(Figure::Memory, &["hello", "state"], "usual", Some(10)));
        assert!(!one.measures(Figure::Memory, &["hello"], "cloud", Some(10)));
        assert!(!one.measures(Figure::Ready, &["hello"], "usual", None));
    }

    #[test]
    fn memory_is_that_of_the_warm_load_where_it_is_the_only_load() {
        let at = |sweeps: &str| {
            let text = RUNS.replace(
                "{throughput: {connections: [10, 50]}, warmLatency: {}}",
                sweeps,
            );
            let manifest = parse(&text).unwrap();
            let one = manifest.run("one").unwrap();
            [1, 10].map(|at| one.measures(Figure::Memory, &["hello"], "usual", Some(at)))
        };
        assert_eq!(at("{warmLatency: {}}"), [true, false]);
        assert_eq!(
            at("{throughput: {connections: [10]}, warmLatency: {}}"),
            [false, true]
        );
    }

    #[test]
    fn a_run_without_a_name_is_refused() {
        let nameless = RUNS.replace("metadata: {name: one}", "metadata: {}");
        assert!(parse(&nameless).unwrap_err().contains("has no name"));
    }
}
