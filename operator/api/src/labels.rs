//! Labels and annotations of the objects that the operator creates, one constant per key.

/// `app.kubernetes.io/name`: always [`APP`].
pub const NAME: &str = "app.kubernetes.io/name";
/// `app.kubernetes.io/instance`: the run's name, cut to the length of a label value.
pub const INSTANCE: &str = "app.kubernetes.io/instance";
/// `app.kubernetes.io/component`: one of the `COMPONENT_*` values.
pub const COMPONENT: &str = "app.kubernetes.io/component";
/// `app.kubernetes.io/part-of`: always [`APP`].
pub const PART_OF: &str = "app.kubernetes.io/part-of";
/// `app.kubernetes.io/managed-by`: always [`OPERATOR`].
pub const MANAGED_BY: &str = "app.kubernetes.io/managed-by";

/// Uid of the run that an object belongs to. Every object of a run carries it, in any namespace.
pub const RUN_UID: &str = "wasmbench.dev/run-uid";
/// Name of the variant.
pub const VARIANT: &str = "wasmbench.dev/variant";
/// Name of the workload.
pub const WORKLOAD: &str = "wasmbench.dev/workload";
/// Sweep point, e.g. `throughput-c100`.
pub const POINT: &str = "wasmbench.dev/point";
/// Block, counted from 1; 0 for a scout.
pub const BLOCK: &str = "wasmbench.dev/block";

/// On a probe's Job and pod: the epoch in which an operator created it.
pub const EPOCH: &str = "wasmbench.dev/epoch";
/// Annotation on the Lease of the leader: when the last epochs began, as JSON.
pub const EPOCHS: &str = "wasmbench.dev/epochs";

/// Name of the schedule, on its runs and its history.
pub const SCHEDULE: &str = "wasmbench.dev/schedule";
/// Uid of the schedule, on its history.
pub const SCHEDULE_UID: &str = "wasmbench.dev/schedule-uid";
/// Annotation on a run: the scheduled time for which it was started, in RFC 3339.
pub const SCHEDULED_TIME: &str = "wasmbench.dev/scheduled-time";

/// Label on a run: `true` makes the operator export the run's numbers in its `/metrics`.
pub const METRICS: &str = "wasmbench.dev/metrics";

/// Annotation: the run's namespace, on objects that live in the operator's namespace.
pub const RUN_NAMESPACE: &str = "wasmbench.dev/run-namespace";
/// Annotation: the run's full name.
pub const RUN_NAME: &str = "wasmbench.dev/run-name";
/// Annotation: the trial's full identity, `variant/workload/point/block`.
pub const TRIAL: &str = "wasmbench.dev/trial";
/// Annotation: version of the operator that created the object.
pub const OPERATOR_VERSION: &str = "wasmbench.dev/operator-version";
/// Annotation on pods of a run: a hash of the desired spec.
pub const DESIRED_SPEC_HASH: &str = "wasmbench.dev/desired-spec-hash";
/// Annotation on reports: tag of the operator build that computed them, if it has one.
pub const OPERATOR_BUILD: &str = "wasmbench.dev/operator-build";
/// Annotation on record ConfigMaps: which trials they hold and how each ended.
pub const RECORD_INDEX: &str = "wasmbench.dev/records";
/// Annotation on record ConfigMaps: the schema of their records.
pub const RECORD_SCHEMA: &str = "wasmbench.dev/record-schema";
/// Annotation on record ConfigMaps: what the scout of the variant saw of each workload.
pub const SCOUTED: &str = "wasmbench.dev/scouted";
/// Annotation on record ConfigMaps: when each trial was recorded, and what made it longer.
pub const RECORD_PACE: &str = "wasmbench.dev/record-pace";
/// Annotation: total bytes of the records in this `ConfigMap`.
pub const RECORD_BYTES: &str = "wasmbench.dev/record-bytes";
/// Annotation on node Leases: the node's full name.
pub const NODE: &str = "wasmbench.dev/node";
/// Annotation on node Leases: the object that the holder has scaled up, and for which trial.
pub const SCALED: &str = "wasmbench.dev/scaled";

/// Annotation by which its owner offers an object with a scale to runs: `true`.
pub const OFFERED: &str = "wasmbench.dev/offered";

/// Value of [`NAME`] and [`PART_OF`].
pub const APP: &str = "wasmbench";
/// Value of [`MANAGED_BY`], and the operator's field manager.
pub const OPERATOR: &str = "wasmbench-operator";
/// Field manager of probes that scale an object.
pub const PROBE_MANAGER: &str = "wasmbench-probe";
/// The pod under test.
pub const COMPONENT_SUBJECT: &str = "subject";
/// A pod that a cold-start or density probe creates and removes.
pub const COMPONENT_COLD_SUBJECT: &str = "cold-subject";
/// The Job that measures.
pub const COMPONENT_PROBE: &str = "probe";
/// The echo server behind the proxy workload.
pub const COMPONENT_UPSTREAM: &str = "upstream";
/// Records of trials.
pub const COMPONENT_RECORDS: &str = "records";
/// The report of a run.
pub const COMPONENT_REPORT: &str = "report";
/// The history of a schedule.
pub const COMPONENT_HISTORY: &str = "history";
/// Bodies that a probe sends.
pub const COMPONENT_BODIES: &str = "bodies";
/// The claim on a node.
pub const COMPONENT_NODE_LEASE: &str = "node-lease";
/// The Lease of the operator that leads.
pub const COMPONENT_LEADER: &str = "leader";
