//! What follows from a spec, whichever of its fields were left out.

use crate::run::{
    BenchmarkRunSpec, FEWEST_PRECISE_BLOCKS, Metric, Network, RunScatter, SubjectResources, TWIN,
    Variant,
};

impl BenchmarkRunSpec {
    /// Returns the minimum number of blocks of the run.
    pub fn fewest_blocks(&self) -> u32 {
        match self.precision {
            None => self.blocks,
            Some(_) => self.blocks.max(FEWEST_PRECISE_BLOCKS),
        }
    }

    /// Returns the name of the variant that the others are compared with: the first one, unless the
    /// spec names another.
    pub fn baseline_name(&self) -> &str {
        let first = self.variants.first().map(|variant| variant.name.as_str());
        self.baseline.as_deref().or(first).unwrap_or_default()
    }

    /// Returns whether the spec names a measure: one that is compared only if named then is.
    pub fn names(&self, metric: Metric) -> bool {
        let expected = self.expectations.iter().map(|one| one.metric);
        let listed = self
            .additional_measures
            .iter()
            .chain(&self.primary_measures);
        listed.copied().chain(expected).any(|named| named == metric)
    }

    /// Returns how far runs of this spec are said to scatter.
    pub fn run_scatter(&self) -> RunScatter {
        // validate rejects anything that is not a scatter.
        let stated = self.run_scatter.as_deref().and_then(RunScatter::parse);
        stated.unwrap_or_default()
    }

    /// Returns the network of the subjects.
    pub fn network(&self) -> Network {
        let placement = self.placement.as_ref();
        placement.map_or_else(Network::default, |placement| placement.network)
    }

    /// Returns requests and limits of subjects whose variant has none of its own.
    pub fn common_resources(&self) -> SubjectResources {
        let set = self.resources.clone();
        set.unwrap_or_else(SubjectResources::fallback)
    }

    /// Returns requests and limits of the subjects of a variant.
    pub fn resources_of(&self, variant: &Variant) -> SubjectResources {
        let own = variant.resources.clone().unwrap_or_default();
        own.over(&self.common_resources())
    }

    /// Returns the CPU limit that the spec sets for the subjects of the variant of this name, which
    /// may be the twin's. That of an object that is scaled is in its own template.
    pub fn cpu_limit(&self, variant: &str) -> Option<&str> {
        if self.is_scaled(variant) {
            return None;
        }
        let own = self.variant(variant).and_then(|one| one.resources.as_ref());
        let own = own.filter(|own| own.names_cpu());
        let limits = own.or(self.resources.as_ref())?.limits.as_ref()?;
        limits.cpu.as_deref()
    }

    /// Returns whether a CPU limit of these subjects is part of what the run asks: the spec sets one,
    /// or an object is scaled, whose template is measured with what it has.
    pub fn sets_cpu_limit(&self, variant: &str) -> bool {
        self.is_scaled(variant) || self.cpu_limit(variant).is_some()
    }

    /// Returns whether the subjects of the variant of this name, which may be the twin's, are those of
    /// an object that is scaled.
    pub fn is_scaled(&self, variant: &str) -> bool {
        self.variant(variant).is_some_and(|one| one.scale.is_some())
    }

    /// Returns the variant of this name. The twin is the baseline, even where the spec does not list
    /// it.
    fn variant(&self, name: &str) -> Option<&Variant> {
        let named = |name: &str| self.variants.iter().find(|variant| variant.name == name);
        let twin = || named(self.baseline_name()).filter(|_| name == TWIN);
        named(name).or_else(twin)
    }

    /// Returns the maximum number of blocks of the run: that of `precision`, if it has one.
    pub fn most_blocks(&self) -> u32 {
        let precise = self.precision.as_ref();
        precise.map_or(self.blocks, |precision| {
            precision.max_blocks.max(self.fewest_blocks())
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn spec() -> BenchmarkRunSpec {
        let spec = json!({
            "resources": {"limits": {"cpu": "2", "memory": "256Mi"}},
            "variants": [
                {"name": "half", "preset": "native", "resources": {"limits": {"cpu": "500m"}}},
                {"name": "free", "preset": "native", "resources": {"requests": {"cpu": "100m"}}},
                {"name": "common", "preset": "native"},
            ],
            "workloads": [{"name": "hello"}],
            "sweeps": {},
        });
        serde_json::from_value(spec).unwrap()
    }

    #[test]
    fn a_variants_cpu_limit_is_its_own_or_the_runs_and_the_twins_is_the_baselines() {
        let spec = spec();
        for (variant, limit) in [
            ("half", Some("500m")),
            ("free", None),
            ("common", Some("2")),
            (TWIN, Some("500m")),
        ] {
            assert_eq!(spec.cpu_limit(variant), limit, "{variant}");
        }
    }

    #[test]
    fn the_cpu_limit_of_a_template_is_part_of_what_a_run_with_its_object_asks() {
        let mut spec = spec();
        let shop = json!({"name": "shop", "scale": {"resource": "deployments", "name": "shop"}});
        spec.variants.push(serde_json::from_value(shop).unwrap());
        assert_eq!(spec.cpu_limit("shop"), None, "it is not known");
        let limited = ["half", "free", "common", "shop"].map(|name| spec.sets_cpu_limit(name));
        assert_eq!(limited, [true, false, true, true]);
        spec.baseline = Some("shop".to_owned());
        assert!(spec.sets_cpu_limit(TWIN));
    }

    #[test]
    fn a_variant_keeps_the_memory_of_the_run_if_it_names_only_cpu() {
        let mut spec = spec();
        let limits = |spec: &BenchmarkRunSpec, index: usize| {
            let resources = spec.resources_of(&spec.variants[index]);
            serde_json::to_value(resources.limits).unwrap()
        };
        assert_eq!(limits(&spec, 0), json!({"cpu": "500m", "memory": "256Mi"}));
        spec.resources = None;
        assert_eq!(limits(&spec, 0), json!({"cpu": "500m", "memory": "512Mi"}));
        assert_eq!(limits(&spec, 2), json!({"memory": "512Mi"}));
    }
}
