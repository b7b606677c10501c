//! The metadata of an object, whose fields no CRD lists.

use std::sync::LazyLock;

use serde_json::{Value, json};

use crate::manifest::name::object_name;
use crate::manifest::{Problem, structure};

/// The fields that the API server knows. It sets some of them itself, and they are in files that kubectl wrote.
static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    let (text, number) = (json!({"type": "string"}), json!({"type": "integer"}));
    let time = json!({"type": "string", "nullable": true});
    let texts = json!({"type": "object", "nullable": true, "additionalProperties": text});
    let any = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let list = |items: &Value| json!({"type": "array", "nullable": true, "items": items});
    json!({"type": "object", "properties": {
        "name": text, "generateName": text, "namespace": text, "labels": texts, "annotations": texts,
        "uid": text, "resourceVersion": text, "generation": number, "selfLink": text,
        "creationTimestamp": time, "deletionTimestamp": time, "deletionGracePeriodSeconds": number,
        "finalizers": list(&text), "ownerReferences": list(&any), "managedFields": list(&any),
    }})
});

/// What is wrong with the metadata. Names become part of URLs, and `start` needs one to begin with.
pub fn problems(object: &Value) -> Vec<Problem> {
    let metadata = &object["metadata"];
    let mut found = vec![];
    if metadata.get("name").is_none() && metadata.get("generateName").is_none() {
        found.push(Problem::new("metadata.name", "give the object a name"));
    }
    for field in ["name", "namespace"] {
        let name = metadata[field].as_str();
        if let Some(Err(message)) = name.map(object_name) {
            found.push(Problem::new(format!("metadata.{field}"), message));
        }
    }
    // A missing one is missing its name already.
    if !metadata.is_null() {
        found.extend(structure::problems(&SCHEMA, metadata, "metadata"));
    }
    found
}
