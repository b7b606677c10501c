//! The cross-field CEL rules of the CRD and their messages, kept in one place so that each can be
//! read beside its remedy. Bounds on single fields stand at the fields.

/// Cells of one block: variants times workloads times sweep points.
const CELLS: &str = "self.variants.size() * self.workloads.size() * \
    ((has(self.sweeps.coldStart) ? self.sweeps.coldStart.concurrency.size() : 0) + \
     (has(self.sweeps.warmLatency) ? 1 : 0) + \
     (has(self.sweeps.throughput) ? self.sweeps.throughput.connections.size() : 0))";

/// The summary of a cell takes about 300 bytes of status; 256 of them keep the object below 100 kB.
pub const MAX_CELLS: usize = 256;
/// At ten seconds a trial, 5,000 trials already take more than half a day of a node.
pub const MAX_TRIALS: usize = 5000;

pub fn cells_rule() -> String {
    format!("{CELLS} <= {MAX_CELLS}")
}

pub fn trials_rule() -> String {
    format!("self.blocks * {CELLS} <= {MAX_TRIALS}")
}

pub const CELLS_MESSAGE: &str = "variants x workloads x sweep points is more than 256 cells: \
    split the run in two, or remove variants, workloads or sweep points";
pub const TRIALS_MESSAGE: &str = "blocks x cells is more than 5000 trials: lower spec.blocks, or \
    remove variants, workloads or sweep points";

pub const BASELINE_RULE: &str =
    "!has(self.baseline) || self.variants.exists(v, v.name == self.baseline)";
pub const BASELINE_MESSAGE: &str = "baseline must be the name of one of spec.variants";

/// Everything but `suspend` and `ttlSecondsAfterFinished`: a result must match the spec beside it.
pub const IMMUTABLE_RULE: &str = "self.blocks == oldSelf.blocks && \
    self.variants == oldSelf.variants && self.workloads == oldSelf.workloads && \
    self.sweeps == oldSelf.sweeps && \
    has(self.seed) == has(oldSelf.seed) && (!has(self.seed) || self.seed == oldSelf.seed) && \
    has(self.baseline) == has(oldSelf.baseline) && \
    (!has(self.baseline) || self.baseline == oldSelf.baseline) && \
    has(self.placement) == has(oldSelf.placement) && \
    (!has(self.placement) || self.placement == oldSelf.placement) && \
    has(self.resources) == has(oldSelf.resources) && \
    (!has(self.resources) || self.resources == oldSelf.resources) && \
    self.subjectReadyTimeoutSeconds == oldSelf.subjectReadyTimeoutSeconds";
pub const IMMUTABLE_MESSAGE: &str = "the spec cannot change once the run is created, because its \
    results would no longer match it: create a new BenchmarkRun (suspend and \
    ttlSecondsAfterFinished may change)";

pub const SWEEPS_RULE: &str =
    "has(self.coldStart) || has(self.warmLatency) || has(self.throughput)";
pub const SWEEPS_MESSAGE: &str =
    "sweeps must hold at least one of coldStart, warmLatency and throughput";

/// Each pod takes half a kilobyte of a record, and a second or two of the node.
pub const COLD_PODS_RULE: &str = "self.concurrency.all(c, c * self.samples <= 1000)";
pub const COLD_PODS_MESSAGE: &str =
    "samples x concurrency is more than 1000 pods per trial: lower samples or concurrency";
pub const COLD_CLASS_RULE: &str = "self == 'ImageCached'";
pub const COLD_CLASS_MESSAGE: &str = "only cold starts of the class ImageCached are measured yet: set class to ImageCached, or leave it out";

pub const PRESET_OR_CONTAINER_RULE: &str = "has(self.preset) != has(self.container)";
pub const PRESET_OR_CONTAINER_MESSAGE: &str = "a variant needs either preset or container: set \
    one of the two and remove the other";
pub const ENGINE_RULE: &str =
    "!has(self.engine) || (has(self.preset) && self.preset == 'wasmtime-embedded')";
pub const ENGINE_MESSAGE: &str =
    "engine applies to the preset wasmtime-embedded only: remove it from this variant";

pub const ENV_RULE: &str = "!self.startsWith('WASMBENCH_')";
pub const ENV_MESSAGE: &str =
    "environment names that begin with WASMBENCH_ are set by the operator: choose another name";

pub const EXPECT_RULE: &str = "!has(self.body) || (!has(self.bodyPrefix) && !has(self.bodySuffix))";
pub const EXPECT_MESSAGE: &str =
    "body is the whole answer: set either body, or bodyPrefix and bodySuffix";
