//! What `init` could not know and nobody has written yet, in objects that have no schema here.

use serde_json::Value;

use crate::manifest::{PLACEHOLDER, Problem, within};

/// Every placeholder among the values. They are not quoted: they may be long, or secret.
pub fn problems(object: &Value) -> Vec<Problem> {
    let mut found = vec![];
    search(object, "", &mut found);
    found
}

fn search(value: &Value, field: &str, found: &mut Vec<Problem>) {
    match value {
        Value::String(text) if text.contains(PLACEHOLDER) => {
            let message = format!("replace the placeholder {PLACEHOLDER}");
            found.push(Problem::new(field, message));
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                search(item, &format!("{field}[{index}]"), found);
            }
        }
        Value::Object(fields) => {
            for (name, inner) in fields {
                search(inner, &within(field, name), found);
            }
        }
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
