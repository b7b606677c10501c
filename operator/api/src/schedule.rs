//! The `BenchmarkSchedule`: starts the same run repeatedly, at the times of a cron expression.
//!
//! Fields that a `CronJob` also has mean the same here.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::absent::number;
use crate::run::BenchmarkRunSpec;
use crate::validation;

/// When to start which run, and how many finished ones to keep.
#[serde_with::skip_serializing_none]
#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq)]
#[kube(
    group = "wasmbench.dev",
    version = "v1alpha1",
    kind = "BenchmarkSchedule",
    namespaced,
    status = "BenchmarkScheduleStatus",
    derive = "PartialEq",
    shortname = "bsched",
    category = "benchmarks",
    doc = "A BenchmarkSchedule starts a BenchmarkRun at the times of a cron expression, as a \
           CronJob starts Jobs.",
    validation = Rule::new(validation::SCHEDULE_NAME_RULE).message(validation::SCHEDULE_NAME_MESSAGE),
    printcolumn(
        name = "Schedule",
        type_ = "string",
        json_path = ".spec.schedule",
        description = "When a run starts"
    ),
    printcolumn(
        name = "Timezone",
        type_ = "string",
        json_path = ".spec.timeZone",
        description = "Where the schedule's hours are meant; UTC when empty"
    ),
    printcolumn(
        name = "Suspend",
        type_ = "boolean",
        json_path = ".spec.suspend",
        description = "Whether it starts no runs for now"
    ),
    printcolumn(
        name = "Active",
        type_ = "integer",
        json_path = ".status.activeRuns",
        description = "Runs that have not finished"
    ),
    printcolumn(
        name = "Last Schedule",
        type_ = "date",
        json_path = ".status.lastScheduleTime",
        description = "When a run was last started"
    ),
    printcolumn(
        name = "Next",
        type_ = "string",
        json_path = ".status.nextScheduleTime",
        description = "When the next run is due"
    ),
    printcolumn(
        name = "Regressed",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Regressed\")].status",
        description = "Whether its numbers are worse for good"
    ),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = crate::schema::known_formats)]
pub struct BenchmarkScheduleSpec {
    /// When to start a run, as five cron fields (`0 3 * * *`: every night at three) or as
    /// `@hourly`, `@daily`, `@weekly`, `@monthly` or `@yearly`, in the time zone `timeZone`.
    #[schemars(length(min = 1, max = 256))]
    #[x_kube(validation = Rule::new(validation::CRON_ZONE_RULE).message(validation::CRON_ZONE_MESSAGE))]
    pub schedule: String,

    /// Time zone of the schedule, as an IANA name such as `Europe/Berlin`. Default: UTC.
    #[schemars(length(min = 1, max = 64))]
    pub time_zone: Option<String>,

    /// How late a run may start, in seconds, if the operator was down when it was due or it was
    /// left out because of earlier runs. After that it is left out. Default: no limit. If several
    /// times were missed, only the last one counts.
    #[schemars(range(min = 0, max = 31_536_000))]
    pub starting_deadline_seconds: Option<u32>,

    /// What happens when a run is due and an earlier one has not finished.
    #[serde(default)]
    pub concurrency_policy: ConcurrencyPolicy,

    /// Starts no runs for now; runs already started continue. When set back to false, the last
    /// missed time starts its run, unless it is later than `startingDeadlineSeconds`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub suspend: bool,

    /// What each run measures, and its labels.
    pub template: RunTemplate,

    /// Accepts lasting changes whose first run ended before this time: `Regressed` covers only
    /// later ones.
    pub accept_changes_before: Option<Time>,

    /// Finished runs to keep that succeeded and are trustworthy.
    #[serde(default = "number::<3>")]
    #[schemars(range(min = 0, max = 1000))]
    pub successful_runs_history_limit: u32,

    /// Finished runs to keep that were refused or could not be measured.
    #[serde(default = "number::<1>")]
    #[schemars(range(min = 0, max = 1000))]
    pub failed_runs_history_limit: u32,

    /// Finished runs to keep that succeeded but are not trustworthy.
    #[serde(default = "number::<1>")]
    #[schemars(range(min = 0, max = 1000))]
    pub untrustworthy_runs_history_limit: u32,
}

/// The most runs of a schedule that have not finished.
pub const MOST_ACTIVE: usize = 10;

/// What happens when a run is due and an earlier one of the schedule has not finished.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConcurrencyPolicy {
    /// The run starts, unless ten have not finished: then it is left out. Runs that measure the
    /// same node still wait for each other.
    Allow,
    /// The run is left out. Once the earlier one has ended, the last run that was left out starts
    /// late, within `startingDeadlineSeconds`.
    #[default]
    Forbid,
    /// The earlier run is deleted, and the new one starts.
    Replace,
}

/// A run without its name.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct RunTemplate {
    /// Labels and annotations of the runs.
    pub metadata: Option<TemplateMetadata>,

    /// What each run measures.
    #[schemars(transform = crate::schema::without_transitions)]
    pub spec: BenchmarkRunSpec,
}

/// Metadata of the runs that a template creates.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct TemplateMetadata {
    /// Labels of each run. `wasmbench.dev/schedule`, the schedule's name, is added.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend(
        "maxProperties" = 32,
        "additionalProperties" = serde_json::json!({
            "type": "string", "maxLength": 63, "pattern": validation::LABEL_VALUE
        })
    ))]
    pub labels: BTreeMap<String, String>,

    /// Annotations of each run. `wasmbench.dev/scheduled-time`, when it was due, is added.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend(
        "maxProperties" = 16,
        "additionalProperties" = serde_json::json!({ "type": "string", "maxLength": 4096 })
    ))]
    pub annotations: BTreeMap<String, String>,
}

/// What a schedule has done and does next.
#[serde_with::skip_serializing_none]
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = crate::schema::known_formats)]
pub struct BenchmarkScheduleStatus {
    /// Generation of the spec that this status describes.
    pub observed_generation: Option<i64>,

    /// `Accepted`, `Regressed`, `Behind`, and `Stalled` for tools that follow kstatus.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16), transform = crate::schema::bounded_conditions)]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,

    /// Names of runs that have not finished, at most 64.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(max = 253)), extend("x-kubernetes-list-type" = "set"))]
    pub active: Vec<String>,

    /// Number of runs that have not finished.
    #[serde(default)]
    pub active_runs: u32,

    /// The scheduled time for which a run was last started.
    pub last_schedule_time: Option<Time>,

    /// When the last run ended that succeeded and is trustworthy.
    pub last_successful_time: Option<Time>,

    /// When the next run is due. Absent while the schedule is suspended.
    pub next_schedule_time: Option<Time>,

    /// The last scheduled time that passed without a run, until a run for it or a later time is
    /// started.
    pub left_out: Option<LeftOutTime>,
}

/// A scheduled time for which no run was started.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct LeftOutTime {
    /// When the run was due.
    pub time: Time,

    /// Reason in one word: `TooLate`, `AlreadyActive` or `TooManyActive`.
    #[schemars(length(max = 64))]
    pub reason: String,
}
