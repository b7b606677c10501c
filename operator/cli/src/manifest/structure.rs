//! Structure: unknown and missing fields, types, bounds, choices and patterns, by the schema of a CRD.

use regex::Regex;
use serde_json::Value;

use crate::manifest::{PLACEHOLDER, Problem, image, within};

/// The fewest characters that two names must share for one to be a misspelling of the other, as
/// strsim's similarity.
const SIMILAR: f64 = 0.75;
/// The most known fields that are listed where none is similar.
const LISTED: usize = 12;

/// Everything that is wrong with the structure of `value`, which is at the path `field`.
pub fn problems(schema: &Value, value: &Value, field: &str) -> Vec<Problem> {
    let mut found = vec![];
    check(schema, value, field, &mut found);
    found
}

/// The most similar of `known`, if one is similar at all.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = name.to_lowercase();
    let similar = known.into_iter().map(|one| {
        let similarity = strsim::jaro_winkler(&lower, &one.to_lowercase());
        (similarity, one)
    });
    let best = similar.max_by(|one, other| one.0.total_cmp(&other.0));
    best.filter(|(similarity, _)| *similarity >= SIMILAR)
        .map(|(_, one)| one)
}

fn check(schema: &Value, value: &Value, field: &str, found: &mut Vec<Problem>) {
    if value.is_null() && schema["nullable"] == true {
        return;
    }
    let is_either = schema["x-kubernetes-int-or-string"] == true;
    let wanted = schema["type"].as_str().unwrap_or_default();
    let fits = match value {
        Value::Null => false,
        Value::Bool(_) => wanted == "boolean",
        Value::Number(number) if number.is_f64() => wanted == "number",
        Value::Number(_) => is_either || wanted == "integer" || wanted == "number",
        Value::String(_) => is_either || wanted == "string",
        Value::Array(_) => wanted == "array",
        Value::Object(_) => wanted == "object",
    };
    if !fits {
        found.push(Problem::new(field, wrong_type(wanted, is_either, value)));
        return;
    }
    match value {
        Value::Object(_) => object(schema, value, field, found),
        Value::Array(items) => list(schema, items, field, found),
        Value::String(text) => string(schema, text, field, found),
        Value::Number(_) => number(schema, value, field, found),
        Value::Null | Value::Bool(_) => {}
    }
}

/// What is wrong with the type of `value`, and how to write it.
fn wrong_type(wanted: &str, is_either: bool, value: &Value) -> String {
    let written = match value {
        Value::Null => {
            return "it has no value; write one behind the colon, or remove the field".to_owned();
        }
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "a map".to_owned(),
        Value::String(text) => format!("\"{text}\""),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
    };
    let is_scalar = matches!(value, Value::Bool(_) | Value::Number(_));
    if is_scalar && (is_either || wanted == "string") {
        return format!("write \"{written}\" in quotes");
    }
    match wanted {
        "string" => format!("{written} is no text; write a single value"),
        "integer" => {
            format!("{written} is no whole number; write one, without quotes and without a unit")
        }
        "number" => format!("{written} is no number; write one, without quotes and without a unit"),
        "boolean" => {
            format!("{written} is neither true nor false; write one of them, without quotes")
        }
        "array" => {
            format!("write a list instead of {written}: [...], or lines that begin with a dash")
        }
        "object" => {
            format!("write fields instead of {written}: {{...}}, or indented lines below it")
        }
        _ => format!("{written} is no single value; write a number or a text"),
    }
}

fn object(schema: &Value, value: &Value, field: &str, found: &mut Vec<Problem>) {
    let at = |name: &str| within(field, name);
    for required in schema["required"].as_array().into_iter().flatten() {
        let name = required.as_str().unwrap_or_default();
        if value.get(name).is_none() {
            found.push(Problem::new(
                at(name),
                "it is missing, and has no default; add it",
            ));
        }
    }
    let fields = value.as_object().into_iter().flatten();
    let count = fields.clone().count() as u64;
    if let Some(most) = schema["maxProperties"]
        .as_u64()
        .filter(|most| count > *most)
    {
        found.push(Problem::new(
            field,
            format!("it has {count} entries, and at most {most} are allowed"),
        ));
    }
    for (name, inner) in fields {
        let (known, any) = (&schema["properties"][name], &schema["additionalProperties"]);
        // The API server knows these fields of every object without a schema.
        let is_common =
            field.is_empty() && ["apiVersion", "kind", "metadata"].contains(&name.as_str());
        if known.is_object() && !is_common {
            check(known, inner, &at(name), found);
        } else if any.is_object() {
            check(any, inner, &at(name), found);
        } else if !is_common && schema["x-kubernetes-preserve-unknown-fields"] != true {
            found.push(Problem::new(at(name), unknown(schema, name)));
        }
    }
}

fn unknown(schema: &Value, name: &str) -> String {
    let known = schema["properties"].as_object().into_iter().flatten();
    let known: Vec<&str> = known.map(|(name, _)| name.as_str()).collect();
    let advice = match nearest(name, known.iter().copied()) {
        Some(similar) => format!("; did you mean {similar}?"),
        None if known.is_empty() => "; remove it".to_owned(),
        None if known.len() <= LISTED => format!("; there are: {}", known.join(", ")),
        None => "; remove it, or see what there is with: kubectl explain".to_owned(),
    };
    format!("there is no such field{advice}")
}

fn list(schema: &Value, items: &[Value], field: &str, found: &mut Vec<Problem>) {
    let count = items.len() as u64;
    if let Some(most) = schema["maxItems"].as_u64().filter(|most| count > *most) {
        found.push(Problem::new(
            field,
            format!("it has {count} items, and at most {most} are allowed"),
        ));
    }
    if let Some(least) = schema["minItems"].as_u64().filter(|least| count < *least) {
        found.push(Problem::new(
            field,
            format!("it has {count} items, and needs at least {least}"),
        ));
    }
    let keys: Vec<&str> = schema["x-kubernetes-list-map-keys"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let identity = |item: &Value| match schema["x-kubernetes-list-type"].as_str() {
        Some("map") => Some(keys.iter().map(|key| item.get(*key).cloned()).collect()),
        Some("set") => Some(vec![Some(item.clone())]),
        _ => None,
    };
    for (index, item) in items.iter().enumerate() {
        let this: Option<Vec<Option<Value>>> = identity(item);
        let is_again = |other: &Value| this.is_some() && identity(other) == this;
        let at = format!("{field}[{index}]");
        if items[..index].iter().any(is_again) {
            let what = keys.first().copied().unwrap_or("value");
            let message =
                format!("an earlier item has the same {what}; change or remove one of them");
            found.push(Problem::new(at.as_str(), message));
        }
        check(&schema["items"], item, &at, found);
    }
}

fn string(schema: &Value, text: &str, field: &str, found: &mut Vec<Problem>) {
    if text.contains(PLACEHOLDER) {
        let message = format!("replace the placeholder {PLACEHOLDER} in \"{text}\"");
        found.push(Problem::new(field, message));
        return;
    }
    let message = wrong_text(schema, text);
    let image = || image::wrong(text).filter(|_| field.ends_with("container.image"));
    if let Some(message) = message.or_else(image) {
        found.push(Problem::new(field, message));
    }
}

fn wrong_text(schema: &Value, text: &str) -> Option<String> {
    if let Some(choices) = schema["enum"].as_array() {
        let choices: Vec<&str> = choices.iter().filter_map(Value::as_str).collect();
        let all = || format!("choose one of {}", choices.join(", "));
        return (!choices.contains(&text)).then(|| {
            let advice = nearest(text, choices.iter().copied());
            let advice = advice.map_or_else(all, |one| format!("did you mean {one}?"));
            format!("there is no \"{text}\"; {advice}")
        });
    }
    let length = text.len() as u64;
    if let Some(most) = schema["maxLength"].as_u64().filter(|most| length > *most) {
        return Some(format!(
            "it has {length} characters, and at most {most} are allowed"
        ));
    }
    if let Some(least) = schema["minLength"].as_u64().filter(|least| length < *least) {
        return Some(format!(
            "it has {length} characters, and needs at least {least}"
        ));
    }
    let pattern = schema["pattern"].as_str()?;
    let fits = Regex::new(pattern).is_ok_and(|pattern| pattern.is_match(text));
    (!fits).then(|| {
        let about = schema["description"].as_str().unwrap_or_default();
        let about = about.split(". ").next().unwrap_or_default();
        let about = about.trim_end_matches('.').replace('\n', " ");
        let about = if about.is_empty() {
            about
        } else {
            format!(" ({about})")
        };
        format!("\"{text}\" is not of the form {pattern}{about}")
    })
}

fn number(schema: &Value, value: &Value, field: &str, found: &mut Vec<Problem>) {
    let number = value.as_f64().unwrap_or_default();
    if let Some(most) = schema["maximum"].as_f64().filter(|most| number > *most) {
        found.push(Problem::new(
            field,
            format!("{value} is above the maximum of {most}"),
        ));
    }
    if let Some(least) = schema["minimum"].as_f64().filter(|least| number < *least) {
        found.push(Problem::new(
            field,
            format!("{value} is below the minimum of {least}"),
        ));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_nearest_name_is_similar_or_none() {
        let known = ["blocks", "baseline", "sweeps"];
        assert_eq!(nearest("blockz", known), Some("blocks"));
        assert_eq!(nearest("Baseline", known), Some("baseline"));
        assert_eq!(nearest("envFrom", known), None);
    }

    #[test]
    fn every_wrong_type_has_a_way_to_write_it() {
        let wrong = |wanted: &str, value: Value| {
            let schema =
                json!({"type": wanted, "properties": {"a": {}}, "items": {"type": "string"}});
            let found = problems(&schema, &value, "");
            assert_eq!(found.len(), 1, "{wanted}, {value}");
            found[0].message.clone()
        };
        assert_eq!(wrong("string", json!(1.5)), "write \"1.5\" in quotes");
        assert_eq!(wrong("string", json!(true)), "write \"true\" in quotes");
        assert!(wrong("string", json!(["a"])).contains("write a single value"));
        assert!(wrong("integer", json!("30s")).contains("without a unit"));
        assert!(wrong("boolean", json!("yes")).contains("without quotes"));
        assert!(wrong("array", json!("a")).contains("begin with a dash"));
        assert!(wrong("object", json!("a")).contains("indented lines"));
        assert!(wrong("object", Value::Null).contains("remove the field"));
    }

    #[test]
    fn items_with_the_same_key_are_refused() {
        let schema = json!({
            "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
            "items": {"type": "object", "properties": {"name": {"type": "string"}}},
        });
        let found = problems(
            &schema,
            &json!([{"name": "a"}, {"name": "b"}, {"name": "a"}]),
            "",
        );
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].field, "[2]");
        assert!(found[0].message.contains("the same name"));
    }
}
