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

/// The documents of a text. They are read as YAML's values, which refuse a key that is there twice: JSON's would
/// keep the last one.
fn documents(text: &str) -> Result<Vec<Value>, String> {
    // JSON first: it is faster, and its errors are clearer.
    let read: Vec<serde_yaml::Value> = if text.trim_start().starts_with('{') {
        vec![serde_json::from_str(text).map_err(|error| unreadable(&error))?]
    } else {
        let documents =
            serde_yaml::Deserializer::from_str(text).map(serde_yaml::Value::deserialize);
        let read: Result<Vec<serde_yaml::Value>, serde_yaml::Error> = documents.collect();
        read.map_err(|error| unreadable(&error))?
    };
    let converted = read.into_iter().map(|mut document| {
        document.apply_merge().map_err(|error| unreadable(&error))?;
        serde_json::to_value(document).map_err(|error| unreadable(&error))
    });
    converted.collect()
}

/// The message of a parser, with what to do about two equal keys.
fn unreadable(error: &dyn std::error::Error) -> String {
    let message = error.to_string();
    if message.contains("duplicate entry") {
        format!("{message}; remove one of the two")
    } else {
        message
    }
}

/// The [`objects`] in a text, with their places.
pub fn placed_objects(text: &str) -> Result<Vec<Placed>, String> {
    let documents = documents(text)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_equal_keys_are_refused_in_yaml_and_in_json() {
        let yaml = "kind: A\nspec:\n  blocks: 1\n  blocks: 2\n";
        let json = "{\"kind\": \"A\", \"spec\": {\"blocks\": 1, \"blocks\": 2}}";
        for text in [yaml, json] {
            let refused = objects(text).unwrap_err();
            assert!(refused.contains("\"blocks\""), "{refused}");
            assert!(refused.contains("remove one of the two"), "{refused}");
        }
    }

    #[test]
    fn merge_keys_are_applied() {
        let text = "kind: A\nspec:\n  - &base {image: a, port: 1}\n  - {<<: *base, port: 2}\n";
        let found = objects(text).unwrap();
        let expected = serde_json::json!({"image": "a", "port": 2});
        assert_eq!(found[0]["spec"][1], expected);
    }

    #[test]
    fn values_are_the_same_from_yaml_and_from_json() {
        let yaml = "kind: A\nspec: {a: 1, b: -1, c: 0.5, d: '1', e: null, f: [true], 8080: x}\n";
        let json = "{\"kind\": \"A\", \"spec\": {\"a\": 1, \"b\": -1, \"c\": 0.5, \"d\": \"1\", \"e\": null, \
                    \"f\": [true], \"8080\": \"x\"}}";
        assert_eq!(objects(yaml).unwrap(), objects(json).unwrap());
    }
}
