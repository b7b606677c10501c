//! What is sent to a subject, as data: the probe writes the bytes. It names no address, so that no
//! part of it can lead a load elsewhere.

use serde::{Deserialize, Serialize};
use wasmbench_api::run::{Expectation, Header, Method, MixedRequest, Workload};

/// A request, apart from its address.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Sent {
    /// Path and query.
    pub path: String,
    /// Method; `GET` is not written.
    #[serde(default, skip_serializing_if = "Method::is_get")]
    pub method: Method,
    /// Headers besides those that the probe writes itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<Header>,
    /// Where its body comes from; absent if it has none.
    pub body: Option<SentBody>,
}

/// A request of a mix.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct MixPart {
    /// Its name.
    pub name: String,
    /// Weight of its share of the connections.
    pub weight: u32,
    /// What is sent.
    #[serde(flatten)]
    pub sent: Sent,
    /// What the answer must be.
    pub expect: Expectation,
}

impl MixPart {
    /// The requests that `workload` mixes in a run with this seed; none if it is a single request.
    pub fn all_of(workload: &Workload, seed: i64) -> Vec<Self> {
        let parts = workload.requests.iter().zip(workload.parts());
        let part = |(one, part): (&MixedRequest, Workload)| Self {
            name: one.name.clone(),
            weight: one.weight,
            sent: Sent::from_workload(&part, seed),
            expect: part.expect,
        };
        parts.map(part).collect()
    }
}

/// Where the body of a request comes from.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub enum SentBody {
    /// It is this text.
    Text(String),
    /// It is in this file of [`BODIES_MOUNT`].
    File(String),
    /// The probe makes it.
    #[serde(rename_all = "camelCase")]
    Generated {
        /// How many bytes it has.
        bytes: u32,
        /// What its bytes follow from.
        seed: i64,
    },
}

/// Where the probe finds bodies that come from a `ConfigMap`.
pub const BODIES_MOUNT: &str = "/bodies";

impl Sent {
    /// What `workload` sends in a run with this seed; of a mix, its first request.
    pub fn from_workload(workload: &Workload, seed: i64) -> Self {
        let first = workload.parts().into_iter().next();
        let workload = first.as_ref().unwrap_or(workload);
        let text = workload.body.clone().map(SentBody::Text);
        let generated = |bytes| SentBody::Generated { bytes, seed };
        let generated = workload.body_bytes.map(generated);
        let stored = workload.body_from.as_ref();
        let stored = stored.map(|_| SentBody::File(workload.name.clone()));
        Self {
            path: workload.path.clone(),
            method: workload.method,
            headers: workload.headers.clone(),
            body: text.or(generated).or(stored),
        }
    }

    /// A `GET` of `path`, and nothing else.
    pub fn get(path: &str) -> Self {
        Self {
            path: path.to_owned(),
            ..Self::default()
        }
    }
}
