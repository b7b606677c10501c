//! Kubernetes objects in JSON or YAML, as they are written, with their places in the text. Pure.

use serde::Deserialize;
use serde_json::Value;

/// The objects in JSON or YAML text; lists are split into their items.
pub fn objects(text: &str) -> Result<Vec<Value>, String> {
    let placed = placed_objects(text)?.into_iter();
    Ok(placed.map(|object| object.value).collect())
}

/// An object, and where in a text it is.
pub struct Placed {
    /// The document, counted from 0.
    pub document: usize,
    /// The path to it in a list, such as `items[2].`; empty for a document of its own.
    pub within: String,
    /// The object.
    pub value: Value,
}

/// The [`objects`] in a text, with their places.
pub fn placed_objects(text: &str) -> Result<Vec<Placed>, String> {
    // JSON first: it is faster, and its errors are clearer.
    let documents: Vec<Value> = if text.trim_start().starts_with('{') {
        vec![serde_json::from_str(text).map_err(|error| error.to_string())?]
    } else {
        let documents = serde_yaml::Deserializer::from_str(text).map(Value::deserialize);
        documents
            .collect::<Result<_, _>>()
            .map_err(|error| error.to_string())?
    };
    let mut objects = vec![];
    for (document, mut value) in documents.into_iter().enumerate() {
        match value.get_mut("items").map(Value::take) {
            Some(Value::Array(items)) => {
                let item = |(index, value): (usize, Value)| Placed {
                    document,
                    within: format!("items[{index}]."),
                    value,
                };
                objects.extend(items.into_iter().enumerate().map(item));
            }
            _ if value.is_null() => {}
            _ if value.get("kind").is_some() => objects.push(Placed {
                document,
                within: String::new(),
                value,
            }),
            _ => return Err("an object has no kind".to_owned()),
        }
    }
    Ok(objects)
}
