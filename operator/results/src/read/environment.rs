//! Where and with what a run was measured: facts about the node, images, versions, and a
//! fingerprint that shows whether two runs can be compared at all.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use wasmbench_api::BenchmarkRunSpec;
use wasmbench_model::store::hex;
use wasmbench_model::units::truncate;
use wasmbench_model::variants::engine::MEASURED;
use wasmbench_model::wire::evidence::Evidence;
use wasmbench_model::wire::instrument::{CpuLists, EngineFacts};
use wasmbench_model::wire::record::{Record, TrialId};

use crate::read::env_values::digested;
use crate::read::observation::Observation;
use crate::read::trial::MemorySource;

/// Name and version of the environment's schema.
pub const ENVIRONMENT_SCHEMA: &str = "wasmbench.dev/environment/v1";

/// Hex digits of a fingerprint: among a thousand nodes the chance that two agree is one in 500
/// million, and a fingerprint can still be read aloud.
const FINGERPRINT_DIGITS: usize = 12;
/// The prefix of facts about the image of a variant, followed by its name.
const IMAGE_OF: &str = "image of ";
/// The prefix of facts about the template of the pods of a variant, followed by its name.
const TEMPLATE_OF: &str = "template of ";
/// The prefix of facts about the engine of a variant, followed by its name.
const ENGINE_OF: &str = "engine of ";
/// Longest value of a fact in a report, in characters.
const MAX_FACT_CHARS: usize = 512;
/// Largest spec that a report includes, in bytes of JSON: the spec appears twice, and a report must
/// fit into a `ConfigMap`.
const MAX_SPEC_BYTES: usize = 32 * 1024;

/// What one record reports about node and subject.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    node: Option<String>,
    probe: BTreeMap<String, String>,
    /// Facts of the probe that had other values before the load.
    before: BTreeMap<String, String>,
    api: BTreeMap<String, String>,
    image: Option<String>,
    image_id: Option<String>,
    image_bytes: Option<u64>,
    layers: Option<u32>,
    wasm_bytes: Option<u64>,
    runtime_class: Option<String>,
    template: Option<String>,
    operator_version: String,
    probe_version: Option<String>,
    fortio_version: Option<String>,
    cpus: Option<CpuLists>,
    engine: Option<String>,
}

impl Facts {
    /// The facts of `record`.
    pub fn from_record(record: &Record) -> Self {
        let subject = record.subject.as_ref();
        let evidence = record.evidence.as_ref();
        let load = record.load();
        let observed = evidence.map(Evidence::environment);
        let text = |text: &String| (!text.is_empty()).then(|| text.clone());
        Self {
            node: subject.and_then(|s| text(&s.node)),
            probe: observed
                .map(|observed| observed.facts.clone())
                .unwrap_or_default(),
            before: observed
                .map(|observed| observed.before.clone())
                .unwrap_or_default(),
            api: subject.map(|s| s.node_facts.clone()).unwrap_or_default(),
            image: subject.and_then(|s| text(&s.image)),
            image_id: subject.and_then(|s| s.image_id.clone()),
            image_bytes: subject.and_then(|s| s.image_bytes),
            layers: evidence.and_then(layers),
            wasm_bytes: evidence.and_then(wasm_bytes),
            runtime_class: subject.and_then(|s| s.runtime_class.clone()),
            template: subject.and_then(|s| s.template.clone()),
            operator_version: record.operator_version.clone(),
            probe_version: evidence.map(|found| found.probe_version().to_owned()),
            fortio_version: evidence.and_then(|found| found.fortio_version().map(str::to_owned)),
            cpus: load.and_then(|d| d.cpus.clone()),
            engine: load.and_then(|d| engine_text(d.engine.as_ref()?)),
        }
    }
}

/// `environment.json`: where and with what a run was measured.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Environment {
    /// [`ENVIRONMENT_SCHEMA`].
    pub schema: String,
    /// Name of the node; absent if no trial got that far.
    pub node: Option<String>,
    /// First 12 hex digits of a SHA-256 over the lines `probe.KEY=VALUE` and `node.KEY=VALUE` of
    /// the facts below, sorted.
    pub fingerprint: Option<String>,
    /// What the probe found out about the node.
    pub facts: BTreeMap<String, String>,
    /// What the Kubernetes API reports about the node.
    pub node_facts: BTreeMap<String, String>,
    /// Facts that changed during the run.
    pub drift: Vec<Drift>,
    /// What ran, by variant.
    pub variants: Vec<VariantImages>,
    /// Versions of the operator that stored the records.
    pub operator_versions: BTreeSet<String>,
    /// Versions of the probe.
    pub probe_versions: BTreeSet<String>,
    /// Versions of fortio.
    pub fortio_versions: BTreeSet<String>,
    /// CPUs on which subjects could run; they may differ between trials.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub subject_cpus: BTreeSet<String>,
    /// CPUs on which the load generator could run.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub generator_cpus: BTreeSet<String>,
    /// Whether subject and load generator had no CPU in common, in every trial for which this is
    /// known; absent if it is known for none.
    pub cpus_disjoint: Option<bool>,
    /// The kernel counters from which the memory numbers come.
    pub memory_sources: BTreeSet<MemorySource>,
    /// Seed of the order of trials.
    pub seed: i64,
}

/// A fact that was not the same in all records.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Drift {
    /// The fact: `probe.KEY`, `node.KEY` or the name of something else that differed.
    pub fact: String,
    /// Its values, in alphabetical order.
    pub values: BTreeSet<String>,
}

impl Drift {
    /// Whether trials of `variant` before and after the change cannot be compared: image, template and
    /// engine concern one variant, everything else concerns the node or the instrument, and thus all
    /// variants.
    pub fn concerns(&self, variant: &str) -> bool {
        let of_one = [IMAGE_OF, TEMPLATE_OF, ENGINE_OF];
        let concerned = of_one.iter().find_map(|kind| self.fact.strip_prefix(kind));
        concerned.is_none_or(|only| only == variant)
    }
}

/// What ran as one variant.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct VariantImages {
    /// Name of the variant.
    pub variant: String,
    /// Images as requested.
    pub images: BTreeSet<String>,
    /// Images as resolved, with digests.
    pub image_ids: BTreeSet<String>,
    /// Bytes of the images, as far as the node's status lists them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub image_bytes: BTreeSet<u64>,
    /// Layers of the images, as far as containerd reported them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub layers: BTreeSet<u32>,
    /// Bytes of the Wasm in the images, as far as containerd reported them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub wasm_bytes: BTreeSet<u64>,
    /// `RuntimeClasses`; empty for the node's default runtime.
    pub runtime_classes: BTreeSet<String>,
    /// Versions of the templates from which somebody else's controller made the pods.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub templates: BTreeSet<String>,
    /// What the running processes reported about their engine.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub engines: BTreeSet<String>,
}

/// The layers of an image, by its manifest or because a cold start pulled them.
fn layers(evidence: &Evidence) -> Option<u32> {
    let Evidence::ColdStart(document) = evidence else {
        return None;
    };
    let mut samples = document.samples.iter();
    let pulled = || samples.find_map(|sample| Some(sample.layers?.all));
    document.image.map(|image| image.layers).or_else(pulled)
}

/// Bytes of the Wasm in an image.
fn wasm_bytes(evidence: &Evidence) -> Option<u64> {
    let Evidence::ColdStart(document) = evidence else {
        return None;
    };
    document.image?.wasm_bytes
}

/// What a process reports about its engine, in one line and without values that are measured anew
/// each time.
fn engine_text(reported: &EngineFacts) -> Option<String> {
    let facts = reported
        .iter()
        .filter(|(name, _)| !MEASURED.contains(&name.as_str()));
    let texts: Vec<String> = facts
        .map(|(name, value)| format!("{name} {value}"))
        .collect();
    (!texts.is_empty()).then(|| truncate(&texts.join(", "), MAX_FACT_CHARS))
}

/// Where and with what the observed trials were measured.
pub fn environment(
    order_seed: i64,
    spec: &BenchmarkRunSpec,
    observations: &BTreeMap<TrialId, Observation>,
    facts: &[Facts],
) -> Environment {
    let mut in_order: Vec<_> = observations.iter().collect();
    in_order.sort_by_key(|(trial, observed)| (observed.position, *trial));
    let observed: Vec<(&str, &Facts)> = in_order
        .iter()
        .filter_map(|(trial, observed)| {
            Some((trial.cell.variant.as_str(), facts.get(observed.facts)?))
        })
        .collect();
    let first = |part: fn(&Facts) -> &BTreeMap<String, String>| {
        let facts = observed
            .iter()
            .map(|(_, facts)| part(facts))
            .find(|facts| !facts.is_empty());
        facts.cloned().unwrap_or_default()
    };
    let (probe, api) = (first(|facts| &facts.probe), first(|facts| &facts.api));
    let versions = |version: fn(&Facts) -> Option<String>| {
        observed
            .iter()
            .filter_map(|(_, facts)| version(facts))
            .collect::<BTreeSet<_>>()
    };
    let names = spec.variants.iter().map(|variant| variant.name.as_str());
    let variants: Vec<VariantImages> = names.map(|name| images(name, &observed)).collect();
    Environment {
        schema: ENVIRONMENT_SCHEMA.to_owned(),
        node: observed.iter().find_map(|(_, facts)| facts.node.clone()),
        fingerprint: fingerprint(&probe, &api),
        facts: shortened(&probe),
        node_facts: shortened(&api),
        drift: drift(&observed, &variants),
        variants,
        operator_versions: versions(|facts| Some(facts.operator_version.clone())),
        probe_versions: versions(|facts| facts.probe_version.clone()),
        fortio_versions: versions(|facts| facts.fortio_version.clone()),
        subject_cpus: versions(|facts| facts.cpus.as_ref()?.subject.clone()),
        generator_cpus: versions(|facts| facts.cpus.as_ref()?.generator.clone()),
        cpus_disjoint: observed
            .iter()
            .filter_map(|(_, facts)| facts.cpus.as_ref()?.cpus_disjoint)
            .reduce(|all, one| all && one),
        memory_sources: observations
            .values()
            .filter_map(|observed| observed.load()?.memory_source)
            .collect(),
        seed: order_seed,
    }
}

/// The fingerprint of a node with these facts, from the probe and from the API; `None` without
/// facts.
pub fn fingerprint(
    probe: &BTreeMap<String, String>,
    node: &BTreeMap<String, String>,
) -> Option<String> {
    let lines_of = |scope: &'static str, facts: &BTreeMap<String, String>| {
        let line = |(key, value)| format!("{scope}.{key}={value}\n");
        facts.iter().map(line).collect::<Vec<_>>()
    };
    let mut lines = [lines_of("node", node), lines_of("probe", probe)].concat();
    lines.sort();
    let digest = hex(&Sha256::digest(lines.concat().as_bytes()));
    (!lines.is_empty()).then(|| digest.chars().take(FINGERPRINT_DIGITS).collect())
}

fn images(variant: &str, observed: &[(&str, &Facts)]) -> VariantImages {
    let mut images = VariantImages {
        variant: variant.to_owned(),
        ..VariantImages::default()
    };
    for (_, facts) in observed.iter().filter(|(name, _)| *name == variant) {
        images.images.extend(facts.image.clone());
        images.image_ids.extend(facts.image_id.clone());
        images.image_bytes.extend(facts.image_bytes);
        images.layers.extend(facts.layers);
        images.wasm_bytes.extend(facts.wasm_bytes);
        images.runtime_classes.extend(facts.runtime_class.clone());
        images.templates.extend(facts.template.clone());
        images.engines.extend(facts.engine.clone());
    }
    images
}

/// A fact that is missing from a record is not a change: the probe may have been unable to read it.
fn drift(observed: &[(&str, &Facts)], variants: &[VariantImages]) -> Vec<Drift> {
    let mut values: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut put = |fact: String, value: &str| {
        values
            .entry(fact)
            .or_default()
            .insert(truncate(value, MAX_FACT_CHARS));
    };
    for (_, facts) in observed {
        let scopes = [
            ("probe", &facts.probe),
            ("probe", &facts.before),
            ("node", &facts.api),
        ];
        for (scope, facts) in scopes {
            for (key, value) in facts {
                put(format!("{scope}.{key}"), value);
            }
        }
        let others = [
            ("name of the node", &facts.node),
            ("version of fortio", &facts.fortio_version),
            ("version of the probe", &facts.probe_version),
        ];
        for (fact, value) in others {
            if let Some(value) = value {
                put(fact.to_owned(), value);
            }
        }
    }
    for variant in variants {
        for id in &variant.image_ids {
            put(format!("{IMAGE_OF}{}", variant.variant), id);
        }
        for template in &variant.templates {
            put(format!("{TEMPLATE_OF}{}", variant.variant), template);
        }
        for engine in &variant.engines {
            put(format!("{ENGINE_OF}{}", variant.variant), engine);
        }
    }
    let changed = values.into_iter().filter(|(_, values)| values.len() > 1);
    changed
        .map(|(fact, values)| Drift { fact, values })
        .collect()
}

fn shortened(facts: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    facts
        .iter()
        .map(|(key, value)| (key.clone(), truncate(value, MAX_FACT_CHARS)))
        .collect()
}

/// Returns the spec for a report if it is small enough: with digests of the values of environment
/// variables.
pub fn shown(spec: &BenchmarkRunSpec) -> Option<BenchmarkRunSpec> {
    let spec = BenchmarkRunSpec {
        variants: digested(&spec.variants),
        ..spec.clone()
    };
    let bytes = serde_json::to_vec(&spec).map_or(usize::MAX, |json| json.len());
    (bytes <= MAX_SPEC_BYTES).then_some(spec)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_a_guest_measures_each_time_is_not_a_fact_of_its_engine() {
        let text = |chain: &str, ratio: &str| {
            let facts = [
                ("engine", "wasmedge"),
                ("chainNanoseconds", chain),
                ("computeRatio", ratio),
            ];
            let facts = facts.map(|(name, value)| (name.to_owned(), value.to_owned()));
            engine_text(&facts.into())
        };
        assert_eq!(text("324871", "0.97").as_deref(), Some("engine wasmedge"));
        assert_eq!(text("324871", "0.97"), text("334967", "1.02"));
    }
}
