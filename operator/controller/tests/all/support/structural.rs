//! What the API server checks of an object besides CEL: types, bounds, required and unknown fields,
//! list keys. The messages use the words of the API server, so that one expectation in a manifest
//! works both here and on a real cluster.

use serde_json::Value;

/// Everything that is wrong with `value` under an OpenAPI v3 schema of a CRD.
pub fn violations(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = vec![];
    check(schema, value, "", &mut found);
    found
}

fn check(schema: &Value, value: &Value, path: &str, found: &mut Vec<String>) {
    if value.is_null() && schema["nullable"] == true {
        return;
    }
    let is_either = schema["x-kubernetes-int-or-string"] == true;
    let wanted = match type_of(value) {
        either @ ("integer" | "string") if is_either => either,
        _ => schema["type"].as_str().unwrap_or_default(),
    };
    if type_of(value) != wanted && (wanted, type_of(value)) != ("number", "integer") {
        found.push(format!(
            "{path} in body must be of type {wanted}: \"{}\"",
            type_of(value)
        ));
        return;
    }
    match value {
        Value::Object(_) => object(schema, value, path, found),
        Value::Array(items) => list(schema, items, path, found),
        Value::String(text) => string(schema, text, path, found),
        Value::Number(_) => number(schema, value, path, found),
        Value::Null | Value::Bool(_) => {}
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn object(schema: &Value, value: &Value, path: &str, found: &mut Vec<String>) {
    let at = |name: &str| {
        if path.is_empty() {
            name.to_owned()
        } else {
            format!("{path}.{name}")
        }
    };
    for required in schema["required"].as_array().into_iter().flatten() {
        let name = required.as_str().unwrap_or_default();
        if value.get(name).is_none() {
            found.push(format!("{}: Required value", at(name)));
        }
    }
    let fields = value.as_object().into_iter().flatten();
    let limit = schema["maxProperties"].as_u64();
    if limit.is_some_and(|limit| fields.clone().count() as u64 > limit) {
        found.push(format!("{path}: Too many"));
    }
    for (name, field) in fields {
        let known = &schema["properties"][name];
        let any = &schema["additionalProperties"];
        if known.is_object() {
            check(known, field, &at(name), found);
        } else if any.is_object() {
            check(any, field, &at(name), found);
        } else if !(path.is_empty() && ["apiVersion", "kind", "metadata"].contains(&name.as_str()))
        {
            found.push(format!("unknown field \"{}\"", at(name)));
        }
    }
}

fn list(schema: &Value, items: &[Value], path: &str, found: &mut Vec<String>) {
    let length = items.len() as u64;
    if let Some(limit) = schema["maxItems"].as_u64().filter(|limit| length > *limit) {
        found.push(format!(
            "{path}: Too many: {length}: must have at most {limit} items"
        ));
    }
    if let Some(limit) = schema["minItems"].as_u64().filter(|limit| length < *limit) {
        found.push(format!("{path} in body should have at least {limit} items"));
    }
    let keys = schema["x-kubernetes-list-map-keys"].as_array();
    let identity = |item: &Value| match (schema["x-kubernetes-list-type"].as_str(), keys) {
        (Some("map"), Some(keys)) => Some(
            keys.iter()
                .filter_map(|key| item.get(key.as_str()?).cloned())
                .collect(),
        ),
        (Some("set"), _) => Some(vec![item.clone()]),
        _ => None,
    };
    for (index, item) in items.iter().enumerate() {
        let twice = identity(item).is_some_and(|this| {
            items[..index]
                .iter()
                .any(|other| identity(other).as_ref() == Some(&this))
        });
        if twice {
            found.push(format!("{path}[{index}]: Duplicate value: {item}"));
        }
        check(&schema["items"], item, &format!("{path}[{index}]"), found);
    }
}

fn string(schema: &Value, text: &str, path: &str, found: &mut Vec<String>) {
    let length = text.len() as u64;
    if let Some(limit) = schema["maxLength"].as_u64().filter(|limit| length > *limit) {
        found.push(format!(
            "{path}: Too long: may not be more than {limit} bytes"
        ));
    }
    if let Some(limit) = schema["minLength"].as_u64().filter(|limit| length < *limit) {
        found.push(format!(
            "{path} in body should be at least {limit} chars long"
        ));
    }
    if let Some(pattern) = schema["pattern"].as_str()
        && !regex::Regex::new(pattern).unwrap().is_match(text)
    {
        found.push(format!("{path} in body should match '{pattern}'"));
    }
    if let Some(values) = schema["enum"].as_array()
        && !values.iter().any(|value| value == text)
    {
        found.push(format!("{path}: Unsupported value: \"{text}\""));
    }
}

fn number(schema: &Value, value: &Value, path: &str, found: &mut Vec<String>) {
    let number = value.as_f64().unwrap_or_default();
    if let Some(limit) = schema["minimum"].as_f64().filter(|limit| number < *limit) {
        found.push(format!(
            "{path} in body should be greater than or equal to {limit}"
        ));
    }
    if let Some(limit) = schema["maximum"].as_f64().filter(|limit| number > *limit) {
        found.push(format!(
            "{path} in body should be less than or equal to {limit}"
        ));
    }
}
