//! The correct answer to a request.

use std::borrow::Cow;
use std::collections::BTreeMap;

use kube::KubeSchema;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::validation;

/// The expected answer. A prefix that belongs to the variant by definition (such as `wasm:` of
/// `wasmtime-embedded`) is removed before the body is compared.
#[serde_with::skip_serializing_none]
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new(validation::EXPECT_RULE).message(validation::EXPECT_MESSAGE).field_path(".body"),
    validation = Rule::new(validation::POINTER_RULE).message(validation::POINTER_MESSAGE).field_path(".json")
)]
pub struct Expectation {
    /// HTTP status code.
    #[serde(default = "default_status")]
    #[schemars(range(min = 100, max = 599))]
    pub status: u16,

    /// The whole body.
    #[schemars(length(max = 4096))]
    pub body: Option<String>,

    /// What the body begins with.
    #[schemars(length(min = 1, max = 1024))]
    pub body_prefix: Option<String>,

    /// What the body ends with.
    #[schemars(length(min = 1, max = 1024))]
    pub body_suffix: Option<String>,

    /// The media type in the header `Content-Type`, whatever its case, such as `application/json`.
    /// Parameters count only if they are here, too: `text/html; charset=utf-8`.
    #[schemars(length(min = 1, max = 128))]
    pub content_type: Option<String>,

    /// Values in a body that is JSON, at most 8, each under its JSON Pointer (RFC 6901), such as
    /// `/items/0/price: 42`. The body may have others.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(length(max = 8), extend("maxProperties" = 8))]
    pub json: BTreeMap<String, JsonValue>,

    /// All variants must answer with the same body, whatever it is. If both say in `Content-Type`
    /// that they are JSON, they are compared by value: neither the order of keys nor spaces count.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub same_across_variants: bool,
}

/// A value in JSON: a whole number or a text. A text also stands for the value whose JSON it is:
/// `"true"`, `"1.5"`, `"null"`, `"[1, 2]"`.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(untagged)]
pub enum JsonValue {
    /// A whole number.
    Number(i64),
    /// A text, or JSON.
    Text(String),
}

impl JsonSchema for JsonValue {
    fn schema_name() -> Cow<'static, str> {
        "JsonValue".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "x-kubernetes-int-or-string": true, "maxLength": 128 })
    }
}

impl Expectation {
    /// Whether a single answer is right or wrong by its body.
    pub fn looks_at_body(&self) -> bool {
        let texts = [&self.body, &self.body_prefix, &self.body_suffix];
        texts.iter().any(|text| text.is_some()) || !self.json.is_empty()
    }

    /// Whether any answer with the right status is right, whatever its body.
    pub fn takes_any_body(&self) -> bool {
        !self.looks_at_body() && !self.same_across_variants
    }
}

impl Default for Expectation {
    fn default() -> Self {
        Self {
            status: default_status(),
            body: None,
            body_prefix: None,
            body_suffix: None,
            content_type: None,
            json: BTreeMap::new(),
            same_across_variants: false,
        }
    }
}

fn default_status() -> u16 {
    200
}
