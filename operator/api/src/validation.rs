//! The cross-field CEL rules of the CRDs and their messages, kept in one place so that each rule
//! can be read beside its remedy. Bounds on single fields are at the fields.

/// Cells of one block: variants (and the baseline's twin) times workloads times sweep points.
const CELLS: &str = "(self.variants.size() + ((has(self.noiseFloor) ? self.noiseFloor : \
    self.blocks >= 5 && self.variants.size() > 1) ? 1 : 0)) * self.workloads.size() * \
    ((has(self.sweeps.coldStart) ? self.sweeps.coldStart.concurrency.size() : 0) + \
     (has(self.sweeps.warmLatency) ? 1 : 0) + (has(self.sweeps.density) ? 1 : 0) + \
     (has(self.sweeps.payload) ? 1 : 0) + \
     (has(self.sweeps.throughput) ? self.sweeps.throughput.connections.size() : 0) + \
     (!has(self.sweeps.openLoop) ? 0 : has(self.sweeps.openLoop.target) ? 1 : \
      has(self.sweeps.openLoop.rates) ? self.sweeps.openLoop.rates.size() : \
      has(self.sweeps.openLoop.ratesPercentOfPeak) ? self.sweeps.openLoop.ratesPercentOfPeak.size() : 3))";

/// A cell with its ratios takes up to 700 bytes of status. Of 256 cells the status keeps what fits
/// into 100 kB, and the report keeps all.
pub const MAX_CELLS: usize = 256;
/// At ten seconds a trial, 5,000 trials already occupy a node for more than half a day.
pub const MAX_TRIALS: usize = 5000;

pub fn cells_rule() -> String {
    format!("{CELLS} <= {MAX_CELLS}")
}

pub fn trials_rule() -> String {
    format!(
        "(has(self.precision) ? self.precision.maxBlocks : self.blocks) * {CELLS} <= {MAX_TRIALS}"
    )
}

pub const CELLS_MESSAGE: &str = "variants x workloads x sweep points is more than 256 cells: \
    split the run in two, remove variants, workloads or sweep points, or set noiseFloor to \
    false (it counts as a variant)";
pub const TRIALS_MESSAGE: &str = "blocks x cells is more than 5000 trials: lower spec.blocks or \
    spec.precision.maxBlocks, remove variants, workloads or sweep points, or set noiseFloor to false (it counts as a \
    variant)";

/// Bounds the only long texts in a spec. The operator holds the specs of all runs in memory, so
/// each of them has to stay below 64 KiB; and a request has to fit into an environment variable.
pub const TEXT_RULE: &str = "self.variants.map(v, !has(v.container) ? 0 : \
    (has(v.container.command) ? v.container.command.map(c, size(c)).sum() : 0) + \
    (has(v.container.args) ? v.container.args.map(a, size(a)).sum() : 0) + \
    (has(v.container.env) ? v.container.env.map(e, size(e.name) + \
    (has(e.value) ? size(e.value) : 0)).sum() : 0)).sum() + \
    self.workloads.map(w, (has(w.body) ? size(w.body) : 0) + (!has(w.expect) ? 0 : \
    (has(w.expect.body) ? size(w.expect.body) : 0) + \
    (has(w.expect.bodyPrefix) ? size(w.expect.bodyPrefix) : 0) + \
    (has(w.expect.bodySuffix) ? size(w.expect.bodySuffix) : 0)) + \
    (has(w.headers) ? w.headers.map(h, size(h.name) + \
    (has(h.value) ? size(h.value) : 0)).sum() : 0) + \
    (has(w.requests) ? w.requests.map(r, (has(r.body) ? size(r.body) : 0) + (!has(r.expect) ? 0 : \
    (has(r.expect.body) ? size(r.expect.body) : 0) + \
    (has(r.expect.bodyPrefix) ? size(r.expect.bodyPrefix) : 0) + \
    (has(r.expect.bodySuffix) ? size(r.expect.bodySuffix) : 0)) + \
    (has(r.headers) ? r.headers.map(h, size(h.name) + \
    (has(h.value) ? size(h.value) : 0)).sum() : 0)).sum() : 0)).sum() <= 16384";
/// Most characters of these texts together.
pub const MAX_TEXT: usize = 16_384;
/// What the API server says about longer ones.
pub const TEXT_MESSAGE: &str = "command, args and env of all variants, and headers, bodies and expected bodies of all workloads, have more than \
    16384 characters together: put what is long into the images, and a long body into a ConfigMap (bodyFrom)";

/// The names of tokens, by RFC 9110.
pub const HEADER_TOKEN_RULE: &str = "self.matches('^[-!#$%&\\'*+.^_`|~0-9A-Za-z]+$')";
/// Why the name of a header is refused, and what to do.
pub const HEADER_TOKEN_MESSAGE: &str = "the name of a header has letters, digits and dashes, without spaces or a colon: correct it, \
    such as X-Request-Id";
pub const HEADER_NAME_RULE: &str = "!self.matches('(?i)^(connection|content-length|transfer-encoding|expect|upgrade|te|trailer|proxy-.*)$')";
/// Why a header is refused, and what to do.
pub const HEADER_NAME_MESSAGE: &str = "Connection, Content-Length, Transfer-Encoding, Expect, Upgrade, TE, Trailer and Proxy-... frame a \
    request or lead it elsewhere, which the probe does: remove the header (throughput.connectionReuse chooses how connections are used)";
pub const HEADER_VALUE_RULE: &str = "self.matches('^([!-~]([ -~]*[!-~])?)?$')";
/// Why the value of a header is refused, and what to do.
pub const HEADER_VALUE_MESSAGE: &str = "the value of a header is printable ASCII without spaces at its ends, because control characters \
    would begin another header: remove them, and escape what is not ASCII";

pub const BODY_RULE: &str =
    "(has(self.body) ? 1 : 0) + (has(self.bodyBytes) ? 1 : 0) + (has(self.bodyFrom) ? 1 : 0) <= 1";
/// Why two bodies are refused, and what to do.
pub const BODY_MESSAGE: &str =
    "a request has one body: keep one of body, bodyBytes and bodyFrom, and remove the others";
pub const BODY_METHOD_RULE: &str = "!(has(self.body) || has(self.bodyBytes) || has(self.bodyFrom)) || \
    (has(self.method) && self.method != 'GET' && self.method != 'HEAD')";
/// Why a body is refused with a method, and what to do.
pub const BODY_METHOD_MESSAGE: &str = "GET and HEAD send no body: set method to POST, PUT, PATCH, DELETE or OPTIONS, or remove the body";
pub const MIX_RULE: &str = "!has(self.requests) || (self.path == '/' && (!has(self.method) || self.method == 'GET') && \
    !has(self.headers) && !has(self.body) && !has(self.bodyBytes) && !has(self.bodyFrom) && !has(self.action) && \
    (!has(self.expect) || (self.expect.status == 200 && !has(self.expect.body) && !has(self.expect.bodyPrefix) && \
     !has(self.expect.bodySuffix) && !has(self.expect.contentType) && !has(self.expect.json) && \
     (!has(self.expect.sameAcrossVariants) || !self.expect.sameAcrossVariants))))";
/// Why other fields are refused beside a mix, and what to do.
pub const MIX_MESSAGE: &str = "each request of a mix has its own path, method, headers, body and expect: put them into requests, \
    or remove requests";
pub const MIX_SAME_RULE: &str =
    "!has(self.expect) || !has(self.expect.sameAcrossVariants) || !self.expect.sameAcrossVariants";
/// Why the requests of a mix are not compared across variants, and what to do.
pub const MIX_SAME_MESSAGE: &str = "answers in a mix are not compared across variants: say what they are with body, bodyPrefix, \
    bodySuffix or json, or make the request a workload of its own";
pub const MIXES_RULE: &str =
    "self.workloads.map(w, has(w.requests) ? w.requests.size() : 1).sum() <= 16";
/// Why there are too many requests, and what to do.
pub const MIXES_MESSAGE: &str = "the workloads have more than 16 requests together, those of mixes included: make several runs of it";
pub const MIX_SWEEPS_RULE: &str = "!self.workloads.exists(w, has(w.requests)) || \
    (!has(self.sweeps.coldStart) && !has(self.sweeps.density))";
/// Why a mix is refused with some sweeps, and what to do.
pub const MIX_SWEEPS_MESSAGE: &str =
    "coldStart and density send one request, and no mix: remove these sweeps, or requests";
pub const MIX_CONNECTIONS_RULE: &str = "self.workloads.all(w, !has(w.requests) || \
    ((!has(self.sweeps.warmLatency) || self.sweeps.warmLatency.connections >= w.requests.size()) && \
     (!has(self.sweeps.openLoop) || self.sweeps.openLoop.connections >= w.requests.size()) && \
     (!has(self.sweeps.throughput) || self.sweeps.throughput.connections.all(c, c >= w.requests.size()))))";
/// Why a mix is refused with few connections, and what to do.
pub const MIX_CONNECTIONS_MESSAGE: &str = "each request of a mix has a connection of its own, at least: raise connections of the sweeps \
    to the number of requests";
pub const HEAD_RULE: &str = "!has(self.method) || self.method != 'HEAD' || !has(self.expect) || \
    (!has(self.expect.body) && !has(self.expect.bodyPrefix) && !has(self.expect.bodySuffix) && !has(self.expect.json))";
/// Why a body is not expected of an answer, and what to do.
pub const HEAD_MESSAGE: &str =
    "an answer to HEAD has no body: remove what is expected of the body, or set method to GET";

pub const BASELINE_RULE: &str =
    "!has(self.baseline) || self.variants.exists(v, v.name == self.baseline)";
pub const BASELINE_MESSAGE: &str = "baseline must be the name of one of spec.variants";

pub const BASELINE_RUN_RULE: &str = "self.matches('^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$')";
pub const BASELINE_RUN_MESSAGE: &str = "baselineRunName must be the name of a BenchmarkRun in the same \
    namespace: lower-case letters, digits, dashes and dots, without a namespace before it";

pub const RUN_SCATTER_RULE: &str = "self.matches('^(([0-9]|[1-4][0-9])([.][0-9])?|50)%$')";
pub const RUN_SCATTER_MESSAGE: &str = "runScatter must be a percentage from 0% to 50% with at most one \
    digit behind the point, such as 2% or 3.5%";

pub const MINIMUM_EFFECT_RULE: &str =
    "self.matches('^(0[.][1-9]|([1-9]|[1-4][0-9])([.][0-9])?|50)%$')";
pub const MINIMUM_EFFECT_MESSAGE: &str = "minimumEffect must be a percentage from 0.1% to 50% with \
    at most one digit behind the point, such as 5% or 2.5%";

pub const ERROR_SHARE_RULE: &str = "self.matches('^(0[.]([1-9][0-9]{0,2}|0[1-9][0-9]?|00[1-9])|([1-9]|[1-4][0-9])([.][0-9]{1,3})?|50)%$')";
pub const ERROR_SHARE_MESSAGE: &str = "maxErrorShare must be a percentage from 0.001% to 50% with at most three digits behind the \
    point, such as 0.1%; leave it out where no request may fail";

pub const TARGET_MESSAGE: &str = "targetRelativeInterval must be a percentage from 0.1% to 50% with \
    at most one digit behind the point, such as 5% or 2.5%";
pub const PRECISION_BLOCKS_RULE: &str =
    "!has(self.precision) || self.precision.maxBlocks >= self.blocks";
pub const PRECISION_BLOCKS_MESSAGE: &str = "precision.maxBlocks is below spec.blocks, with which the \
    run begins: raise maxBlocks or lower blocks";
pub const PRECISION_RATIOS_RULE: &str = "!has(self.precision) || self.variants.size() > 1";
pub const PRECISION_RATIOS_MESSAGE: &str = "precision is about ratios to the baseline: add a second \
    variant or remove precision";

/// Everything but `suspend` and `ttlSecondsAfterFinished`: a result must match the spec beside it.
pub const IMMUTABLE_RULE: &str = "self.blocks == oldSelf.blocks && \
    self.variants == oldSelf.variants && self.workloads == oldSelf.workloads && \
    self.sweeps == oldSelf.sweeps && self.minimumEffect == oldSelf.minimumEffect && \
    has(self.minimumDifference) == has(oldSelf.minimumDifference) && \
    (!has(self.minimumDifference) || self.minimumDifference == oldSelf.minimumDifference) && \
    has(self.precision) == has(oldSelf.precision) && \
    (!has(self.precision) || self.precision == oldSelf.precision) && \
    has(self.seed) == has(oldSelf.seed) && (!has(self.seed) || self.seed == oldSelf.seed) && \
    has(self.baseline) == has(oldSelf.baseline) && \
    (!has(self.baseline) || self.baseline == oldSelf.baseline) && \
    has(self.baselineRunName) == has(oldSelf.baselineRunName) && \
    (!has(self.baselineRunName) || self.baselineRunName == oldSelf.baselineRunName) && \
    has(self.runScatter) == has(oldSelf.runScatter) && \
    (!has(self.runScatter) || self.runScatter == oldSelf.runScatter) && \
    has(self.expectations) == has(oldSelf.expectations) && \
    (!has(self.expectations) || self.expectations == oldSelf.expectations) && \
    has(self.primaryMeasures) == has(oldSelf.primaryMeasures) && \
    (!has(self.primaryMeasures) || self.primaryMeasures == oldSelf.primaryMeasures) && \
    has(self.additionalMeasures) == has(oldSelf.additionalMeasures) && \
    (!has(self.additionalMeasures) || self.additionalMeasures == oldSelf.additionalMeasures) && \
    has(self.noiseFloor) == has(oldSelf.noiseFloor) && \
    (!has(self.noiseFloor) || self.noiseFloor == oldSelf.noiseFloor) && \
    has(self.placement) == has(oldSelf.placement) && \
    (!has(self.placement) || self.placement == oldSelf.placement) && \
    has(self.resources) == has(oldSelf.resources) && \
    (!has(self.resources) || self.resources == oldSelf.resources) && \
    has(self.companions) == has(oldSelf.companions) && \
    (!has(self.companions) || self.companions == oldSelf.companions) && \
    has(self.stopWithoutComparison) == has(oldSelf.stopWithoutComparison) && \
    (!has(self.stopWithoutComparison) || \
     self.stopWithoutComparison == oldSelf.stopWithoutComparison) && \
    self.subjectReadyTimeoutSeconds == oldSelf.subjectReadyTimeoutSeconds";
pub const IMMUTABLE_MESSAGE: &str = "the spec cannot change once the run is created, because its \
    results would no longer match it: create a new BenchmarkRun (suspend and \
    ttlSecondsAfterFinished may change)";

pub const EXPECTED_NAMES_RULE: &str = "!has(self.expectations) || self.expectations.all(e, \
    self.variants.exists(v, v.name == e.variant) && \
    self.workloads.exists(w, w.name == e.workload))";
pub const EXPECTED_NAMES_MESSAGE: &str = "an expectation must name one of spec.variants and one of \
    spec.workloads: correct its variant or workload";
pub const EXPECTED_BASELINE_RULE: &str = "!has(self.expectations) || self.expectations.all(e, \
    e.variant != (has(self.baseline) ? self.baseline : self.variants[0].name) && \
    (!has(e.relativeTo) || \
     e.relativeTo == (has(self.baseline) ? self.baseline : self.variants[0].name)))";
pub const EXPECTED_BASELINE_MESSAGE: &str = "an expectation compares another variant with the \
    baseline: variant must not be the baseline, and relativeTo, where it is set, must be (only the \
    baseline, for now)";
/// Returns a CEL expression: whether a sweep of the spec measures `metric`, itself in CEL.
fn is_measured(metric: &str) -> String {
    let sweeps = [
        (
            format!("{metric} in ['throughputRps', 'cpuUse']"),
            vec!["has(self.sweeps.throughput)"],
        ),
        (
            format!("{metric} == 'warmP50'"),
            vec!["has(self.sweeps.warmLatency)"],
        ),
        (
            format!(
                "{metric} in ['cpuPerRequest', 'memory', 'succeeded', 'contextSwitchesPerCpuSecond', \
                 'pageFaultsPerRequest', 'systemCpuPerRequest', 'instanceTimePerRequest']"
            ),
            vec![
                "has(self.sweeps.throughput)",
                "has(self.sweeps.warmLatency)",
            ],
        ),
        (
            format!("{metric}.startsWith('coldStart')"),
            vec!["has(self.sweeps.coldStart)"],
        ),
        (
            format!("{metric}.startsWith('openLoop')"),
            vec!["(has(self.sweeps.openLoop) && !has(self.sweeps.openLoop.target))"],
        ),
        (
            format!("{metric} == 'capacity'"),
            vec!["(has(self.sweeps.openLoop) && has(self.sweeps.openLoop.target))"],
        ),
        (
            format!("{metric}.startsWith('payload')"),
            vec!["has(self.sweeps.payload)"],
        ),
        (
            format!("{metric} == 'memoryPerInstance'"),
            vec!["has(self.sweeps.density)"],
        ),
    ];
    let rule = |(is_it, measuring): (String, Vec<&str>)| {
        format!("(!({is_it}) || {})", measuring.join(" || "))
    };
    sweeps
        .into_iter()
        .map(rule)
        .collect::<Vec<_>>()
        .join(" && ")
}

macro_rules! sweeps_of_measures {
    ($who:literal, $what:literal) => {
        concat!(
            $who,
            " has to be measured: throughputRps and cpuUse need sweeps.throughput, warmP50 sweeps.warmLatency, cpuPerRequest, \
             memory, succeeded, contextSwitchesPerCpuSecond, pageFaultsPerRequest, systemCpuPerRequest and \
             instanceTimePerRequest either of the two, coldStartListening and coldStartAnswer sweeps.coldStart, openLoopP50 and \
             openLoopP99 sweeps.openLoop without a target, capacity the same with a target, payloadCpuPerMegabyte and \
             payloadFixedCpu sweeps.payload, and memoryPerInstance sweeps.density: add the sweep or remove the ",
            $what
        )
    };
}
pub const EXPECTED_METRIC_MESSAGE: &str = sweeps_of_measures!("what is expected", "expectation");
pub const PRIMARY_MESSAGE: &str = sweeps_of_measures!("what is to be decided", "measure");
pub const ADDITIONAL_MESSAGE: &str =
    sweeps_of_measures!("what is to be compared in addition", "measure");

pub fn expected_metric_rule() -> String {
    let measured = is_measured("e.metric");
    format!("!has(self.expectations) || self.expectations.all(e, {measured})")
}
pub fn primary_rule() -> String {
    let measured = is_measured("m");
    format!("!has(self.primaryMeasures) || self.primaryMeasures.all(m, {measured})")
}
pub fn additional_rule() -> String {
    let measured = is_measured("m");
    format!("!has(self.additionalMeasures) || self.additionalMeasures.all(m, {measured})")
}
pub const SUCCEEDED_MESSAGE: &str = "where no request may fail, there is nothing to compare in the share that succeeded: give a workload \
    maxErrorShare, or remove succeeded from expectations and primaryMeasures";
pub const SUCCEEDED_RULE: &str = "(!has(self.primaryMeasures) || !('succeeded' in self.primaryMeasures) || \
     self.workloads.exists(w, has(w.maxErrorShare))) && \
    (!has(self.expectations) || self.expectations.all(e, e.metric != 'succeeded' || \
     self.workloads.exists(w, w.name == e.workload && has(w.maxErrorShare))))";
pub const EXPECTED_BLOCKS_RULE: &str = "!has(self.expectations) || self.expectations.size() == 0 || self.blocks > 1 || has(self.precision)";
pub const EXPECTED_BLOCKS_MESSAGE: &str = "one block has no interval, which an expectation is decided \
    from: set blocks to 2 or more (5 for an interval that says something), or remove the expectations";
pub const BOUND_RULE: &str = "has(self.atLeast) || has(self.atMost)";
pub const BOUND_MESSAGE: &str = "an expectation needs a bound: set atLeast, atMost or both";
/// The unit of the bounds of each measure, as `Metric::bound` has it.
pub const BOUND_UNIT_RULE: &str = "(!has(self.atLeast) || \
    (self.atLeast.endsWith('ms') == self.metric.startsWith('coldStart') && \
     self.atLeast.endsWith('%') == (self.metric == 'succeeded'))) && \
    (!has(self.atMost) || \
     (self.atMost.endsWith('ms') == self.metric.startsWith('coldStart') && \
      self.atMost.endsWith('%') == (self.metric == 'succeeded')))";
pub const BOUND_UNIT_MESSAGE: &str = "bounds on coldStartListening and coldStartAnswer are differences to the baseline in \
    milliseconds, such as 20ms or -5ms; those on succeeded are differences in percentage points, such as -0.5%; all \
    others are ratios without a unit, such as 0.8: correct atLeast and atMost";

pub const SWEEPS_RULE: &str = "has(self.coldStart) || has(self.warmLatency) || has(self.throughput) || has(self.openLoop) || \
     has(self.payload) || \
     has(self.density)";
pub const SWEEPS_MESSAGE: &str = "sweeps must hold at least one of coldStart, warmLatency, throughput, openLoop, payload and density";

pub const RATES_RULE: &str = "!has(self.rates) || !has(self.ratesPercentOfPeak)";
/// Why both lists of rates are refused, and what to do.
pub const RATES_MESSAGE: &str = "set either rates, in requests per second, or ratesPercentOfPeak, in \
    percent of the baseline's peak, and remove the other";

/// A ladder crosses its target between two rungs, of which one alone has no number.
pub const RUNGS_RULE: &str = "!has(self.target) || (!has(self.ratesPercentOfPeak) && \
    (!has(self.rates) || (self.rates.size() > 1 && self.rates.all(r, r >= 2))))";
/// Why the rungs of a ladder are refused, and what to do.
pub const RUNGS_MESSAGE: &str = "with a target, the rungs of the ladder are rates in requests per second: list two or more, \
    each 2 or more, or leave out rates and ratesPercentOfPeak, and the baseline's peak sets them";
pub const TARGET_P99_RULE: &str = "self.matches('^([1-9][0-9]{0,2}|[1-4][0-9]{3}|5000)ms$')";
/// Why a target is refused, and what to do.
pub const TARGET_P99_MESSAGE: &str =
    "target.p99 must be a latency from 1ms to 5000ms, such as 50ms";

/// Each pod takes half a kilobyte of a record, and one or two seconds on the node.
pub const COLD_PODS_RULE: &str = "self.concurrency.all(c, c * self.samples <= 1000)";
pub const COLD_PODS_MESSAGE: &str =
    "samples x concurrency is more than 1000 pods per trial: lower samples or concurrency";
/// `localhost` without a port is not a registry: images with that name exist only on the node.
pub const COLD_IMAGES_RULE: &str = "!has(self.sweeps.coldStart) || self.sweeps.coldStart.class != 'NodeCold' || \
    self.variants.all(v, !has(v.container) || !v.container.image.startsWith('localhost/'))";
pub const COLD_IMAGES_MESSAGE: &str = "with the class NodeCold every cold start pulls the image, and an image of \
    localhost/ has no registry to be pulled from: name one of a registry in variants, or set sweeps.coldStart.class to \
    ImageCached";

pub const SCALED_STARTS_RULE: &str = "!has(self.sweeps.coldStart) || \
    self.variants.all(v, has(v.scale) == (self.sweeps.coldStart.class == 'Scaled'))";
/// Why cold starts of objects that are scaled are refused beside others, and what to do.
pub const SCALED_STARTS_MESSAGE: &str = "starts of pods that an object's controller makes are compared only with one another: with \
    variants[].scale set sweeps.coldStart.class to Scaled, with other variants to another class, and measure both in runs of their own";

pub const HOST_PORTS_RULE: &str = "!has(self.placement) || !has(self.placement.network) || \
    self.placement.network != 'Host' || !has(self.sweeps.coldStart) || \
    self.sweeps.coldStart.concurrency.all(c, c == 1)";
pub const HOST_PORTS_MESSAGE: &str = "with placement.network Host all pods share the node's ports, so \
    that cold starts are possible one at a time only: set sweeps.coldStart.concurrency to [1], or \
    network to Pod";

pub const HOST_DENSITY_RULE: &str = "!has(self.placement) || !has(self.placement.network) || \
    self.placement.network != 'Host' || !has(self.sweeps.density)";
pub const HOST_DENSITY_MESSAGE: &str = "with placement.network Host all pods share the node's ports, so \
    that a second instance cannot listen: remove sweeps.density, or set network to Pod";

pub const PAYLOAD_RULE: &str = "!has(self.sweeps.payload) || self.workloads.size() == 1";
/// Why a payload sweep is refused, and what to do.
pub const PAYLOAD_MESSAGE: &str = "sweeps.payload sends requests of its own, the same under every workload: \
    set one workload, or measure the others in another run";

pub const ONE_SERVICE_RULE: &str =
    "(has(self.preset) ? 1 : 0) + (has(self.container) ? 1 : 0) + (has(self.scale) ? 1 : 0) == 1";
/// Why a variant is refused that is not exactly one service, and what to do.
pub const ONE_SERVICE_MESSAGE: &str = "a variant needs one of preset, container and scale: set one of \
    them and remove the others";
pub const SCALE_RESOURCES_RULE: &str = "!has(self.scale) || !has(self.resources)";
/// Why resources are refused beside a scale, and what to do.
pub const SCALE_RESOURCES_MESSAGE: &str = "the pods of an object that is scaled have the resources of its own template: \
    remove resources, and set them there";
/// The settings that each preset offers: what its row in the catalogue says. A test compares the two.
pub const ENGINE_RULE: &str = "!has(self.engine) || (has(self.preset) && \
    (self.preset.startsWith('kernel-') ? !has(self.engine.compile) && \
      (self.engine.allocator == 'OnDemand' || (self.preset == 'kernel-wasmtime' && \
       (!has(self.engine.boundsChecks) || self.engine.boundsChecks == 'Guard'))) && \
      (!has(self.engine.boundsChecks) || (self.engine.boundsChecks == 'Clamp' ? \
       self.preset in ['kernel-wasm2c-gcc', 'kernel-wasm2c-clang'] : \
       self.preset in ['kernel-wasmtime', 'kernel-wasm2c-gcc', 'kernel-wasm2c-clang', 'kernel-v8'] || \
       (self.preset == 'kernel-wasmer' && self.engine.boundsChecks != 'None') || \
       (self.preset in ['kernel-wasm3', 'kernel-wamr'] && self.engine.boundsChecks == 'Explicit'))) : \
     !has(self.engine.boundsChecks) && !has(self.engine.threads) && \
     (self.preset == 'wasmtime-embedded' ? self.engine.allocator in ['OnDemand', 'Pooling'] && \
      (!has(self.engine.compile) || self.engine.compile != 'Interpreter') : \
       self.preset in ['wasmtime-serve', 'wasmer-cli', 'action-wasmtime', 'action-wasmer'] ? self.engine.allocator == 'OnDemand' && \
       (!has(self.engine.compile) || self.engine.compile != 'Interpreter') : \
      (self.preset in ['wasmedge-cli', 'wasmedge-shim', 'wasmedge-server'] && self.engine.allocator == 'OnDemand' && \
       (!has(self.engine.compile) || self.engine.compile != 'Jit')))))";
/// Why settings of an engine are refused, and what to do.
pub const ENGINE_MESSAGE: &str = "engine applies to the presets wasmtime-embedded (allocator OnDemand or Pooling; compile Jit \
    or Aot), wasmtime-serve, wasmer-cli, action-wasmtime and action-wasmer (compile Jit or Aot), wasmedge-cli, \
    wasmedge-shim and wasmedge-server (compile Aot or Interpreter), kernel-gcc and kernel-clang (threads), kernel-wasmtime \
    (threads; boundsChecks Guard, with any allocator, Explicit or None), kernel-wasm2c-gcc and kernel-wasm2c-clang \
    (threads; boundsChecks Guard, Explicit, Clamp or None), kernel-v8 (threads; boundsChecks Guard, Explicit or None), \
    kernel-wasmer (threads; boundsChecks Guard or Explicit), kernel-wasm3 and kernel-wamr (threads; boundsChecks Explicit) only: correct it or remove it";

/// The part of its name by which an unsafe variant is recognised wherever results are shown.
pub const UNSAFE_WORD: &str = "unsafe";
pub const UNSAFE_RULE: &str = "!has(self.engine) || !has(self.engine.boundsChecks) || \
    !(self.engine.boundsChecks in ['Clamp', 'None']) || self.name.contains('unsafe')";
/// Why the name of a variant is refused, and what to do.
pub const UNSAFE_MESSAGE: &str = "with boundsChecks Clamp or None an access out of bounds goes unnoticed, and results show a \
    variant by its name: put the word unsafe into the name, or set boundsChecks to Guard or Explicit";

pub const ACTION_RULE: &str = "!has(self.action) || (self.path == '/' && (!has(self.upstream) || !self.upstream) && \
    (!has(self.method) || self.method == 'GET') && !has(self.headers) && !has(self.body) && !has(self.bodyBytes) && !has(self.bodyFrom))";
/// Why other fields are refused beside an action, and what to do.
pub const ACTION_MESSAGE: &str = "an action is called as its protocol says, and asks no upstream: remove path, method, headers, \
    body, bodyBytes, bodyFrom and upstream, or remove action";

pub const TWIN_RULE: &str = "self != 'baseline-twin'";
pub const TWIN_MESSAGE: &str = "baseline-twin is the baseline measured a second time (noiseFloor): \
    choose another name for this variant";

pub const ENV_RULE: &str = "!self.startsWith('WASMBENCH_')";
pub const ENV_MESSAGE: &str =
    "environment names that begin with WASMBENCH_ are set by the operator: choose another name";

/// The user and the group that probes, and nothing else, run as: the kernel exposes a process's
/// environment, memory and files to other processes of the same user, and a probe sees all
/// processes of its node.
pub const PROBE_USER: i64 = 58_213;

/// The probes' own number: [`PROBE_USER`].
pub const USER_RULE: &str = "self != 58213";
pub const USER_MESSAGE: &str = "runAsUser 58213 is the user of wasmbench's probes, which see all processes of a node: choose \
    another number";
pub const GROUP_MESSAGE: &str = "runAsGroup 58213 is the group of wasmbench's probes, which see all processes of a node: \
    choose another number";

pub const EXPECT_RULE: &str = "!has(self.body) || (!has(self.bodyPrefix) && !has(self.bodySuffix))";
pub const EXPECT_MESSAGE: &str =
    "body is the whole answer: set either body, or bodyPrefix and bodySuffix";

/// Without a pattern, whose cost the API server estimates for keys of any length.
pub const POINTER_RULE: &str =
    "!has(self.json) || self.json.all(p, size(p) <= 96 && (p == '' || p.startsWith('/')))";
/// Why a place in JSON is refused, and what to do.
pub const POINTER_MESSAGE: &str = "a place in JSON is a JSON Pointer of at most 96 characters: begin it with a slash, such as \
    /items/0/price";

pub const CPU_RULE: &str = "!has(self.requests) || !has(self.limits) || \
    !has(self.requests.cpu) || !has(self.limits.cpu) || \
    quantity(self.requests.cpu).compareTo(quantity(self.limits.cpu)) <= 0";
pub const CPU_MESSAGE: &str = "requests.cpu is more than limits.cpu: lower the request or raise the \
    limit";
pub const MEMORY_RULE: &str = "!has(self.requests) || !has(self.limits) || \
    !has(self.requests.memory) || !has(self.limits.memory) || \
    quantity(self.requests.memory).compareTo(quantity(self.limits.memory)) <= 0";
pub const MEMORY_MESSAGE: &str = "requests.memory is more than limits.memory: lower the request or \
    raise the limit";
/// No container starts with less, and whoever writes less forgot the unit.
pub const MEMORY_LIMIT_RULE: &str = "!has(self.limits) || !has(self.limits.memory) || \
    quantity(self.limits.memory).compareTo(quantity('1Mi')) >= 0";
pub const MEMORY_LIMIT_MESSAGE: &str = "limits.memory is less than 1Mi, in which nothing runs: write \
    an amount with its unit, such as 64Mi, or leave it out";

pub const SCHEME_RULE: &str = "self in ['HTTP', 'HTTPS']";
/// Why a scheme is refused, and what to do.
pub const SCHEME_MESSAGE: &str = "probe and load generator speak HTTP/1.1, with TLS or without: let the service listen for that, \
    too, as behind a proxy or a mesh, name its port, and write HTTPS or leave out scheme";

pub const IMAGE_RULE: &str = "!self.contains('://')";
pub const IMAGE_MESSAGE: &str = "image is a reference, not a URL: write it without https://, such as \
    registry.example.com/team/service:1.0";

/// Pattern of the value of a node label.
pub const LABEL_VALUE: &str = "^([A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?)?$";
/// Pattern of the key of a taint or label, with or without its domain; empty for any key.
pub const LABEL_KEY: &str =
    "^(([a-z0-9]([a-z0-9.-]*[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?$";

pub const EXISTS_RULE: &str =
    "!has(self.operator) || self.operator != 'Exists' || !has(self.value) || self.value == ''";
pub const EXISTS_MESSAGE: &str = "a toleration with the operator Exists takes no value: remove \
    value, or set operator to Equal";
pub const ANY_TAINT_RULE: &str = "(has(self.key) && self.key != '') || \
    (has(self.operator) && self.operator == 'Exists')";
pub const ANY_TAINT_MESSAGE: &str = "a toleration without a key tolerates every taint: say so with \
    operator: Exists, or set key";

/// A label value has at most 63 characters; eleven are for the number that ends the name of a run,
/// as with a `CronJob`.
pub const SCHEDULE_NAME_RULE: &str = "size(self.metadata.name) <= 52";
pub const SCHEDULE_NAME_MESSAGE: &str = "the name of a BenchmarkSchedule has at most 52 characters, because the names of \
    its runs end in a number: choose a shorter name";
pub const CRON_ZONE_RULE: &str = "!self.contains('TZ')";
pub const CRON_ZONE_MESSAGE: &str =
    "schedule has no time zone in it: leave out TZ= or CRON_TZ=, and set timeZone";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_for_users_names_the_user_of_the_probes() {
        assert_eq!(USER_RULE, format!("self != {PROBE_USER}"));
    }

    #[test]
    fn the_rule_for_names_asks_for_the_word_that_marks_unsafe_variants() {
        assert!(UNSAFE_RULE.ends_with(&format!("self.name.contains('{UNSAFE_WORD}')")));
    }
}
