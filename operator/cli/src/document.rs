//! Runs as JSON or YAML, for programs. Pure: runs in, text out. `docs/results.md` promises this
//! format: fields may be added without notice, but are removed or changed only with a new schema
//! name.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::ResourceExt;
use serde::Serialize;
use wasmbench_api::conditions::{FINISHED, PASSED, SUCCEEDED, TRUSTWORTHY};
use wasmbench_api::{BenchmarkRun, BenchmarkRunStatus};
use wasmbench_report::json;

use crate::error::Error;
use crate::live;

/// Name and version of the schema of one run.
pub const RUN_SCHEMA: &str = "wasmbench.dev/run/v1";
/// Name and version of the schema of a list of runs.
pub const RUNS_SCHEMA: &str = "wasmbench.dev/runs/v1";

/// The format of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// JSON.
    Json,
    /// YAML.
    Yaml,
}

impl Format {
    /// `document` as text that ends with a newline.
    pub fn text(self, document: &impl Serialize) -> Result<String, Error> {
        match self {
            Self::Json => Ok(json::pretty(document)?),
            Self::Yaml => Ok(serde_yaml::to_string(document)?),
        }
    }
}

/// A run: the fields that scripts check first, and its whole status.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Debug)]
#[serde(rename_all = "camelCase")]
pub struct RunDocument<'a> {
    /// [`RUN_SCHEMA`].
    pub schema: &'static str,
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// Uid, which no other run ever has.
    pub uid: String,
    /// When it was created.
    pub created_at: Option<Time>,
    /// What it is doing or how it ended, as one word.
    pub state: &'a str,
    /// Whether it has ended.
    pub finished: bool,
    /// Whether everything was measured; absent while that is unknown.
    pub succeeded: Option<bool>,
    /// Whether there is no doubt about the numbers; absent without numbers.
    pub trustworthy: Option<bool>,
    /// Whether all expectations are met; absent if there are none, or while they are undecided.
    pub passed: Option<bool>,
    /// The exit code of `get --watch`; absent until the run has ended.
    pub exit_code: Option<u8>,
    /// The status as in the API; absent until the operator has seen the run.
    pub status: Option<&'a BenchmarkRunStatus>,
}

impl<'a> From<&'a BenchmarkRun> for RunDocument<'a> {
    fn from(run: &'a BenchmarkRun) -> Self {
        let is = |type_| live::condition_is(run, type_);
        Self {
            schema: RUN_SCHEMA,
            namespace: run.namespace().unwrap_or_default(),
            name: run.name_any(),
            uid: run.uid().unwrap_or_default(),
            created_at: run.creation_timestamp(),
            state: live::state(run),
            finished: is(FINISHED) == Some(true),
            succeeded: is(SUCCEEDED),
            trustworthy: is(TRUSTWORTHY),
            passed: is(PASSED),
            exit_code: live::exit_code(run),
            status: run.status.as_ref(),
        }
    }
}

/// Several runs.
#[derive(Serialize, Debug)]
#[serde(rename_all = "camelCase")]
pub struct RunsDocument<'a> {
    /// [`RUNS_SCHEMA`].
    pub schema: &'static str,
    /// The runs, sorted by namespace and name; empty if there are none.
    pub runs: Vec<RunDocument<'a>>,
}

impl<'a> From<&'a [BenchmarkRun]> for RunsDocument<'a> {
    fn from(runs: &'a [BenchmarkRun]) -> Self {
        Self {
            schema: RUNS_SCHEMA,
            runs: runs.iter().map(RunDocument::from).collect(),
        }
    }
}
