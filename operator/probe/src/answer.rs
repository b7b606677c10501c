//! Is it the right answer? A response and an expectation in, a judgement out. Pure.

use serde_json::Value;
use wasmbench_api::run::{Expectation, JsonValue};
use wasmbench_model::digest::sha256;
use wasmbench_model::wire::document::Answer;

use crate::http::Response;
use crate::json;

/// Length of an excerpt, in characters.
const EXCERPT: usize = 64;

/// An answer and what is wrong with it, if anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// The answer as received.
    pub answer: Answer,
    /// A message on what was expected and what came instead.
    pub wrong: Option<String>,
}

/// Compares an answer with what is expected of it.
pub fn judge(response: &Response, expect: &Expectation, variant_prefix: &str) -> Judged {
    let stripped = response.body.strip_prefix(variant_prefix.as_bytes());
    let body = stripped.unwrap_or(&response.body);
    let answer = Answer {
        status: response.status,
        body_bytes: response.body.len() as u64,
        body_sha256: sha256(body),
        json_sha256: says_json(response, body).map(|value| json::digest(&value)),
        excerpt: excerpt(body),
    };
    let expected = if response.status != expect.status {
        Some(format!("status {}", expect.status))
    } else if stripped.is_none() {
        Some(format!(
            "a body that begins with the variant's prefix {}",
            quoted(variant_prefix)
        ))
    } else {
        let by_type = wrong_type(&response.content_type, expect);
        by_type.or_else(|| wrong_body(body, expect))
    };
    let redirect = response
        .location
        .as_deref()
        .map(|target| format!(", a redirect to {}, which is not followed", quoted(target)));
    let wrong = expected.map(|expected| {
        format!(
            "expected {expected}, but the answer was status {} with a body of {} bytes: {}{}",
            answer.status,
            answer.body_bytes,
            quoted(&answer.excerpt),
            redirect.unwrap_or_default(),
        )
    });
    Judged { answer, wrong }
}

/// The body of an answer that says that it is JSON.
fn says_json(response: &Response, body: &[u8]) -> Option<Value> {
    json::is_json(&response.content_type)
        .then(|| json::read(body))
        .flatten()
}

/// What is expected of the type; `None` if the answer's meets it.
fn wrong_type(found: &str, expect: &Expectation) -> Option<String> {
    let expected = expect.content_type.as_deref()?;
    let without_spaces = |text: &str| text.replace(' ', "").to_ascii_lowercase();
    let is_met = if expected.contains(';') {
        without_spaces(expected) == without_spaces(found)
    } else {
        json::essence(expected) == json::essence(found)
    };
    let found = if found.is_empty() { "none" } else { found };
    (!is_met).then(|| format!("the type {} instead of {}", quoted(expected), quoted(found)))
}

/// What is expected of the body; `None` if the body meets it.
fn wrong_body(body: &[u8], expect: &Expectation) -> Option<String> {
    let Expectation {
        body: whole,
        body_prefix,
        body_suffix,
        ..
    } = expect;
    if let Some(whole) = whole.as_deref().filter(|whole| body != whole.as_bytes()) {
        return Some(format!("the body {}", quoted(whole)));
    }
    if let Some(prefix) = body_prefix
        .as_deref()
        .filter(|p| !body.starts_with(p.as_bytes()))
    {
        return Some(format!("a body that begins with {}", quoted(prefix)));
    }
    if let Some(suffix) = body_suffix
        .as_deref()
        .filter(|s| !body.ends_with(s.as_bytes()))
    {
        return Some(format!("a body that ends with {}", quoted(suffix)));
    }
    wrong_json(body, expect)
}

/// The first value that is expected in a body of JSON and is not there.
fn wrong_json(body: &[u8], expect: &Expectation) -> Option<String> {
    if expect.json.is_empty() {
        return None;
    }
    let Some(read) = json::read(body) else {
        return Some("JSON of at most 1 MiB".to_owned());
    };
    let mut values = expect.json.iter();
    let (place, value) = values.find(|(place, value)| {
        let found = read.pointer(place);
        !found.is_some_and(|found| json::is(found, value))
    })?;
    let value = match value {
        JsonValue::Number(number) => number.to_string(),
        JsonValue::Text(text) => quoted(text),
    };
    let found = read.pointer(place).map(|found| quoted(&found.to_string()));
    let found = found.unwrap_or_else(|| "nothing".to_owned());
    Some(format!("{value} at {place} instead of {found}"))
}

/// The beginning of a text in quotes, with control characters replaced.
fn quoted(text: &str) -> String {
    let truncated = excerpt(text.as_bytes());
    let more = if text.chars().count() > EXCERPT {
        "..."
    } else {
        ""
    };
    format!("'{truncated}'{more}")
}

fn excerpt(body: &[u8]) -> String {
    // A character has at most four bytes; the rest need not be looked at.
    let head = &body[..body.len().min(4 * EXCERPT)];
    let visible = |c: char| match c {
        '\n' | '\r' | '\t' => ' ',
        c if c.is_control() => char::REPLACEMENT_CHARACTER,
        c => c,
    };
    String::from_utf8_lossy(head)
        .chars()
        .take(EXCERPT)
        .map(visible)
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn response(status: u16, body: &[u8]) -> Response {
        Response {
            status,
            body: body.to_vec(),
            content_type: String::new(),
            location: None,
        }
    }

    fn typed(content_type: &str, body: &str) -> Response {
        Response {
            content_type: content_type.to_owned(),
            ..response(200, body.as_bytes())
        }
    }

    fn wrong(body: &str, expect: &Expectation, prefix: &str) -> String {
        judge(&response(200, body.as_bytes()), expect, prefix)
            .wrong
            .unwrap_or_default()
    }

    fn body(text: &str) -> Expectation {
        Expectation {
            body: Some(text.to_owned()),
            ..Expectation::default()
        }
    }

    #[test]
    fn the_whole_body_is_compared() {
        assert_eq!(wrong("hello", &body("hello"), ""), "");
        let message = wrong("hellooo", &body("hello"), "");
        assert_eq!(
            message,
            "expected the body 'hello', but the answer was status 200 with a body of 7 bytes: 'hellooo'"
        );
    }

    #[test]
    fn prefix_and_suffix_are_both_needed() {
        let expect = Expectation {
            body_prefix: Some("a".into()),
            body_suffix: Some("z".into()),
            ..Expectation::default()
        };
        assert_eq!(wrong("a-z", &expect, ""), "");
        assert!(wrong("b-z", &expect, "").contains("begins with 'a'"));
        assert!(wrong("a-y", &expect, "").contains("ends with 'z'"));
    }

    #[test]
    fn the_variants_prefix_is_taken_off_and_must_be_there() {
        assert_eq!(wrong("wasm:hello", &body("hello"), "wasm:"), "");
        assert!(wrong("hello", &body("hello"), "wasm:").contains("the variant's prefix 'wasm:'"));
        let with = judge(&response(200, b"wasm:hello"), &body("hello"), "wasm:").answer;
        let without = judge(&response(200, b"hello"), &body("hello"), "").answer;
        assert_eq!(with.body_sha256, without.body_sha256);
        assert_eq!((with.body_bytes, with.excerpt.as_str()), (10, "hello"));
    }

    #[test]
    fn another_status_is_wrong_whatever_the_body() {
        let judged = judge(&response(503, b"hello"), &body("hello"), "");
        assert!(
            judged
                .wrong
                .unwrap()
                .starts_with("expected status 200, but the answer was status 503")
        );
        let expect = Expectation {
            status: 404,
            ..Expectation::default()
        };
        assert_eq!(judge(&response(404, b"?"), &expect, "").wrong, None);
    }

    #[test]
    fn a_redirect_is_named_with_its_target() {
        let moved = Response {
            location: Some("https://example.com/login".into()),
            ..response(302, b"")
        };
        let wrong = judge(&moved, &Expectation::default(), "").wrong.unwrap();
        assert!(
            wrong.ends_with("a redirect to 'https://example.com/login', which is not followed"),
            "{wrong}"
        );
    }

    #[test]
    fn line_breaks_in_an_excerpt_are_spaces() {
        let judged = judge(&response(200, b"a\r\nb\x01"), &Expectation::default(), "");
        assert_eq!(judged.answer.excerpt, "a  b\u{fffd}");
    }

    #[test]
    fn the_digest_is_sha256_in_hex() {
        let answer = judge(&response(200, b"abc"), &Expectation::default(), "").answer;
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(answer.body_sha256, expected);
    }

    #[test]
    fn the_type_is_compared_without_parameters_unless_they_are_expected() {
        let wrong = |found: &str, expected: &str| {
            let expect = Expectation {
                content_type: Some(expected.to_owned()),
                ..Expectation::default()
            };
            judge(&typed(found, "{}"), &expect, "").wrong
        };
        assert_eq!(
            wrong("Application/JSON;charset=utf-8", "application/json"),
            None
        );
        assert_eq!(
            wrong("text/html; charset=UTF-8", "text/html;charset=utf-8"),
            None
        );
        assert!(wrong("text/html", "text/html;charset=utf-8").is_some());
        let message = wrong("", "application/json").unwrap();
        assert!(
            message.contains("type 'application/json' instead of 'none'"),
            "{message}"
        );
    }

    #[test]
    fn values_are_looked_up_in_json_and_the_first_wrong_one_is_named() {
        let expect: Expectation =
            serde_json::from_str(r#"{"json": {"/total": 42, "/items/0": "pen", "/paid": "true"}}"#)
                .unwrap();
        let wrong = |body: &str| {
            judge(&typed("", body), &expect, "")
                .wrong
                .unwrap_or_default()
        };
        assert_eq!(
            wrong(r#"{"paid": true, "items": ["pen"], "total": 42.0}"#),
            ""
        );
        let other = wrong(r#"{"paid": true, "items": ["ink"], "total": 42}"#);
        assert!(
            other.contains("expected 'pen' at /items/0 instead of '\"ink\"'"),
            "{other}"
        );
        let none = wrong(r#"{"items": ["pen"], "total": 42}"#);
        assert!(none.contains("at /paid instead of nothing"), "{none}");
        assert!(wrong("hello").contains("JSON"));
    }

    #[test]
    fn answers_are_the_same_by_value_only_if_both_say_that_they_are_json() {
        let answer = |content_type: &str, body: &str| {
            let expect = Expectation::default();
            judge(&typed(content_type, body), &expect, "").answer
        };
        let (one, other) = (r#"{"a":1,"b":2}"#, r#"{"b": 2, "a": 1}"#);
        let json = answer("application/json", one);
        assert!(json.is_same(&answer("application/json", other)));
        assert!(!json.is_same(&answer("text/plain", other)));
        assert!(json.is_same(&answer("text/plain", one)), "to the last byte");
        assert!(!json.is_same(&answer("application/json", "{}")));
    }

    proptest! {
        #[test]
        fn an_excerpt_is_short_and_printable(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
            let text = excerpt(&bytes);
            prop_assert!(text.chars().count() <= EXCERPT);
            prop_assert!(!text.chars().any(char::is_control));
        }
    }
}
