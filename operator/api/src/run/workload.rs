//! Requests and their correct answers.

use std::collections::BTreeMap;

use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use crate::payload::MAX_BODY_BYTES;
use crate::run::answer::Expectation;
use crate::run::request::{BodyFrom, Header, Method};
use crate::share::share_of;
use crate::validation;

/// A request and its correct answer.
#[serde_with::skip_serializing_none]
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new(validation::ACTION_RULE).message(validation::ACTION_MESSAGE).field_path(".action"),
    validation = Rule::new(validation::MIX_RULE).message(validation::MIX_MESSAGE).field_path(".requests"),
    validation = Rule::new(validation::BODY_RULE).message(validation::BODY_MESSAGE).field_path(".body"),
    validation = Rule::new(validation::BODY_METHOD_RULE).message(validation::BODY_METHOD_MESSAGE).field_path(".method"),
    validation = Rule::new(validation::HEAD_RULE).message(validation::HEAD_MESSAGE).field_path(".expect")
)]
pub struct Workload {
    /// Name in results and labels: lower-case letters, digits and dashes, at most 40.
    #[schemars(
        length(min = 1, max = 40),
        regex(pattern = r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?$")
    )]
    pub name: String,

    /// Path and query of the request, e.g. `/compute?iters=20000`.
    #[serde(default = "default_path")]
    #[schemars(length(min = 1, max = 1024), regex(pattern = r"^/[!-~]*$"))]
    pub path: String,

    /// Method of the request. The presets answer GET, HEAD and POST. Default: `GET`.
    #[serde(default, skip_serializing_if = "Method::is_get")]
    pub method: Method,

    /// Headers of the request, each once, at most 16. `Host` and `User-Agent` have values of their
    /// own unless they are here: the subject's address, and the name of the load generator.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub headers: Vec<Header>,

    /// Body of the request, as it stands here. Its type is what a header `Content-Type` says.
    #[schemars(length(max = 16_384))]
    pub body: Option<String>,

    /// A body of this many bytes, at most 1 MiB: letters, digits, dashes and underscores that follow
    /// from the run's seed, the same in every request.
    #[schemars(range(min = 1, max = MAX_BODY_BYTES))]
    pub body_bytes: Option<u32>,

    /// A body from a key of a `ConfigMap` in the run's namespace, read when a trial starts.
    /// `status.bodies` has its digest; if it changes, the run ends. Whoever starts the run must be
    /// allowed to read `ConfigMaps` there.
    pub body_from: Option<BodyFrom>,

    /// Several requests instead of one, 2 to 8, sent at the same time: each by its share of the
    /// connections, and so of the rate of an open loop. They are measured together, and each shown.
    /// With this, path, method, headers, body and `expect` are those of the requests. The workloads
    /// of a run have at most 16 requests together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 2, max = 8))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub requests: Vec<MixedRequest>,

    /// The expected answer, checked before and after each timed window. A variant that answers
    /// wrongly is never ranked.
    #[serde(default)]
    pub expect: Expectation,

    /// The share of requests that may fail, in percent from `0.001%` to `50%`; a trial with more is
    /// not part of the numbers. The share that succeeds is compared with the baseline's, and a
    /// tenth of this share is the smallest difference that matters. Default: none may fail.
    #[schemars(length(min = 2, max = 7))]
    #[x_kube(validation = Rule::new(validation::ERROR_SHARE_RULE).message(validation::ERROR_SHARE_MESSAGE))]
    pub max_error_share: Option<String>,

    /// Starts an echo server on the same node and gives its address to the subject as
    /// `WASMBENCH_UPSTREAM` (host:port). The presets forward unknown paths to it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub upstream: bool,

    /// A function of OpenWhisk's action protocol instead of `path`, for the presets `action-...`:
    /// its code is sent to them with `POST /init`, and each request is a `POST /run` with its
    /// parameters.
    pub action: Option<Action>,
}

/// A request of a mix.
#[serde_with::skip_serializing_none]
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new(validation::BODY_RULE).message(validation::BODY_MESSAGE).field_path(".body"),
    validation = Rule::new(validation::BODY_METHOD_RULE).message(validation::BODY_METHOD_MESSAGE).field_path(".method"),
    validation = Rule::new(validation::HEAD_RULE).message(validation::HEAD_MESSAGE).field_path(".expect"),
    validation = Rule::new(validation::MIX_SAME_RULE).message(validation::MIX_SAME_MESSAGE).field_path(".expect")
)]
pub struct MixedRequest {
    /// Name in results: lower-case letters, digits and dashes, at most 40.
    #[schemars(
        length(min = 1, max = 40),
        regex(pattern = r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?$")
    )]
    pub name: String,

    /// Its share, relative to the weights of the others: of 7 and 3, seven of ten connections. Each
    /// request has one connection at least.
    #[schemars(range(min = 1, max = 100))]
    pub weight: u32,

    /// As in the workload.
    #[serde(default = "default_path")]
    #[schemars(length(min = 1, max = 1024), regex(pattern = r"^/[!-~]*$"))]
    pub path: String,

    /// As in the workload.
    #[serde(default, skip_serializing_if = "Method::is_get")]
    pub method: Method,

    /// As in the workload, at most 6: the API server bounds what checking all of a run may cost.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 6))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub headers: Vec<Header>,

    /// As in the workload.
    #[schemars(length(max = 16_384))]
    pub body: Option<String>,

    /// As in the workload.
    #[schemars(range(min = 1, max = MAX_BODY_BYTES))]
    pub body_bytes: Option<u32>,

    /// As in the workload.
    pub body_from: Option<BodyFrom>,

    /// As in the workload, without `sameAcrossVariants`.
    #[serde(default)]
    pub expect: Expectation,
}

/// A function and the parameters of its calls.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Action {
    /// The code that is sent: a Wasm module or, for `action-native`, the same source as a native
    /// program.
    #[serde(default)]
    pub code: ActionCode,

    /// Parameters of each call, such as `work: hash`; docs/variants.md lists those that the code
    /// knows.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(length(max = 8), extend("maxProperties" = 8))]
    pub parameters: BTreeMap<String, ActionParameter>,
}

/// The value of a parameter: a string.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(transparent)]
pub struct ActionParameter(#[schemars(length(max = 256))] pub String);

/// Code of a function.
#[derive(
    Serialize,
    Deserialize,
    JsonSchema,
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    strum::IntoStaticStr,
)]
#[strum(serialize_all = "kebab-case")]
pub enum ActionCode {
    /// A module of 1.5 MiB.
    #[default]
    Hash,
    /// The same function in a module of 4.8 MiB, to show the cost of size.
    HashLarge,
}

impl Workload {
    /// The requests of a mix, each as a workload of its own, called `workload.request`; or only
    /// itself.
    pub fn parts(&self) -> Vec<Self> {
        if self.requests.is_empty() {
            return vec![self.clone()];
        }
        let part = |one: &MixedRequest| Self {
            name: format!("{}.{}", self.name, one.name),
            path: one.path.clone(),
            method: one.method,
            headers: one.headers.clone(),
            body: one.body.clone(),
            body_bytes: one.body_bytes,
            body_from: one.body_from.clone(),
            requests: vec![],
            expect: one.expect.clone(),
            ..self.clone()
        };
        self.requests.iter().map(part).collect()
    }

    /// What it sends, for people: `POST /orders with Content-Type and a body of 17 bytes`.
    pub fn request(&self) -> String {
        if !self.requests.is_empty() {
            let parts = self.requests.iter().zip(self.parts());
            let part = |(one, part): (&MixedRequest, Self)| {
                format!("{} of weight {} ({})", one.name, one.weight, part.request())
            };
            return parts.map(part).collect::<Vec<_>>().join(", ");
        }
        let text = self.body.as_ref().map(|body| body.len().to_string());
        let bytes = text.or_else(|| self.body_bytes.map(|bytes| bytes.to_string()));
        let stored = self.body_from.as_ref();
        let stored = stored.map(|from| format!("the body {} of {}", from.key, from.config_map));
        let body = bytes.map(|bytes| format!("a body of {bytes} bytes"));
        let headers = self.headers.iter().map(|header| header.name.clone());
        let parts: Vec<String> = headers.chain(body).chain(stored).collect();
        let line = format!("{} {}", self.method, self.path);
        match parts.split_last() {
            None => line,
            Some((last, [])) => format!("{line} with {last}"),
            Some((last, others)) => format!("{line} with {} and {last}", others.join(", ")),
        }
    }

    /// Returns the share (0 to 1) of requests that may fail; `None` if none may.
    pub fn max_error_share(&self) -> Option<f64> {
        // `validate` refuses anything that is not a percentage.
        share_of(self.max_error_share.as_deref()?)
    }
}

fn default_path() -> String {
    "/".to_owned()
}
