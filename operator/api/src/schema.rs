//! Adapts the derived schema to a CRD: adds bounds inside types of other crates, and removes
//! formats that Kubernetes does not know and rules that templates must not have.

use schemars::Schema;
use schemars::transform::transform_subschemas;
use serde_json::{Value, json};

/// Formats of Rust's unsigned integers. The API server does not know them and warns about each.
const RUST_FORMATS: [&str; 4] = ["uint8", "uint16", "uint32", "uint64"];

/// Removes formats that the API server does not know. The bounds of the fields already say the
/// same.
pub fn known_formats(schema: &mut Schema) {
    let unknown = schema
        .get("format")
        .and_then(Value::as_str)
        .is_some_and(|format| RUST_FORMATS.contains(&format));
    if unknown {
        schema.remove("format");
    }
    transform_subschemas(&mut known_formats, schema);
}

/// Adds the documented bounds to the fields of a list of `metav1.Condition`; the type itself has
/// none.
pub fn bounded_conditions(schema: &mut Schema) {
    let bounds = [
        ("type", json!({ "maxLength": 316 })),
        ("status", json!({ "enum": ["True", "False", "Unknown"] })),
        ("reason", json!({ "minLength": 1, "maxLength": 1024 })),
        ("message", json!({ "maxLength": 32768 })),
        ("observedGeneration", json!({ "minimum": 0 })),
    ];
    for (field, more) in bounds {
        let pointer = format!("/items/properties/{field}");
        let found = schema.pointer_mut(&pointer).and_then(Value::as_object_mut);
        if let (Some(found), Value::Object(more)) = (found, more) {
            found.extend(more);
        }
    }
}

/// Removes the rules about changes to an object: each run created from a template is a new object,
/// so every field of the template may change.
pub fn without_transitions(schema: &mut Schema) {
    let is_of_changes = |rule: &Value| {
        let text = rule.get("rule").and_then(Value::as_str);
        text.is_some_and(|text| text.contains("oldSelf"))
    };
    let rules = schema.get_mut("x-kubernetes-validations");
    if let Some(rules) = rules.and_then(Value::as_array_mut) {
        rules.retain(|rule| !is_of_changes(rule));
    }
}
