//! JSON by value: neither the order of keys nor spaces count, nor how a number is written. Pure.

use std::fmt::Write as _;

use serde_json::{Number, Value};
use wasmbench_api::run::JsonValue;
use wasmbench_model::digest::sha256;

/// The largest JSON that is read, in bytes: it takes many times its size in memory.
const MAX: usize = 1024 * 1024;
/// From here on, a floating-point number has no fraction, and not every whole number exists.
const WHOLE: f64 = 9_007_199_254_740_992.0;

/// Whether a `Content-Type` names JSON: `application/json`, or another type that ends with `+json`.
pub fn is_json(content_type: &str) -> bool {
    let kind = essence(content_type);
    kind == "application/json" || kind == "text/json" || kind.ends_with("+json")
}

/// A `Content-Type` without its parameters, in lower case.
pub fn essence(content_type: &str) -> String {
    let kind = content_type.split(';').next().unwrap_or_default();
    kind.trim().to_ascii_lowercase()
}

/// Reads a body; `None` if it is no JSON, or too large.
pub fn read(body: &[u8]) -> Option<Value> {
    (body.len() <= MAX).then(|| serde_json::from_slice(body).ok())?
}

/// A digest that is the same for equal values.
pub fn digest(value: &Value) -> String {
    sha256(canonical(value).as_bytes())
}

/// Whether a value is the expected one.
pub fn is(found: &Value, expected: &JsonValue) -> bool {
    let found = canonical(found);
    match expected {
        JsonValue::Number(number) => found == number.to_string(),
        JsonValue::Text(text) => {
            let read: Option<Value> = serde_json::from_str(text).ok();
            let same = |value: &Value| found == canonical(value);
            same(&Value::from(text.as_str())) || read.as_ref().is_some_and(same)
        }
    }
}

/// The only text of all equal values.
fn canonical(value: &Value) -> String {
    let mut text = String::new();
    append(value, &mut text);
    text
}

/// As deep as a value that was read, which has at most 128 levels.
fn append(value: &Value, text: &mut String) {
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => {
            let _ = write!(text, "{value}"); // writing to a String cannot fail
        }
        Value::Number(number) => append_number(number, text),
        Value::Array(items) => {
            text.push('[');
            for item in items {
                append(item, text);
                text.push(',');
            }
            text.push(']');
        }
        Value::Object(fields) => {
            let mut fields: Vec<(&String, &Value)> = fields.iter().collect();
            fields.sort_by_key(|(name, _)| *name);
            text.push('{');
            for (name, field) in fields {
                let _ = write!(text, "{}:", Value::from(name.as_str()));
                append(field, text);
                text.push(',');
            }
            text.push('}');
        }
    }
}

/// 1.0 is 1, and -0.0 is 0.
fn append_number(number: &Number, text: &mut String) {
    let float = number.as_f64().unwrap_or_default();
    let is_integer = number.is_i64() || number.is_u64();
    let _ = if !is_integer && float.abs() < WHOLE && float.fract() == 0.0 {
        write!(text, "{:.0}", float + 0.0)
    } else {
        write!(text, "{number}")
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest_of(text: &str) -> String {
        digest(&read(text.as_bytes()).unwrap())
    }

    #[test]
    fn order_spaces_and_spellings_do_not_count() {
        for (one, other) in [
            (
                r#"{"a": 1, "b": [true, null]}"#,
                r#"{"b":[true,null],"a":1.0}"#,
            ),
            (r#""\u00e4\/""#, "\"\u{e4}/\""),
            ("-0.0", "0"),
            ("1e2", "100"),
        ] {
            assert_eq!(digest_of(one), digest_of(other), "{one} {other}");
        }
        for (one, other) in [
            ("[1,2]", "[2,1]"),
            ("[12]", "[1,2]"),
            (r#"{"a":1}"#, r#"{"a":"1"}"#),
            ("1.5", "1"),
            ("9007199254740993", "9007199254740992"),
            ("null", "false"),
        ] {
            assert_ne!(digest_of(one), digest_of(other), "{one} {other}");
        }
    }

    #[test]
    fn an_expected_text_is_that_text_or_the_value_whose_json_it_is() {
        let text = |text: &str| JsonValue::Text(text.to_owned());
        for (found, expected, same) in [
            ("42", JsonValue::Number(42), true),
            ("42.0", JsonValue::Number(42), true),
            (r#""42""#, JsonValue::Number(42), false),
            (r#""EUR""#, text("EUR"), true),
            (r#""true""#, text("true"), true),
            ("true", text("true"), true),
            ("1.50", text("1.5"), true),
            ("null", text("null"), true),
            ("[1, 2]", text("[1,2]"), true),
            ("false", text("true"), false),
        ] {
            let value = read(found.as_bytes()).unwrap();
            assert_eq!(is(&value, &expected), same, "{found} {expected:?}");
        }
    }

    #[test]
    fn types_are_json_whatever_their_parameters_and_case() {
        for json in [
            "application/json",
            "Application/JSON; charset=utf-8",
            "application/problem+json",
        ] {
            assert!(is_json(json), "{json}");
        }
        for other in ["", "text/plain", "application/jsonp", "json"] {
            assert!(!is_json(other), "{other}");
        }
    }

    #[test]
    fn bytes_that_are_no_json_or_too_many_are_not_read() {
        assert_eq!(read(b"{"), None);
        assert_eq!(read(&b"[".repeat(200)), None);
        assert_eq!(read(&b" ".repeat(MAX + 1)), None);
    }
}
