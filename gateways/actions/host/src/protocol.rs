//! The bodies of the protocol: JSON in, code or parameters out. Pure.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The marker that the protocol's log readers wait for after each call, on both streams.
pub const END_MARKER: &str = "XXX_THE_END_OF_A_WHISK_ACTIVATION_XXX";
/// Longest result, in bytes, as in the protocol.
const MAX_ANSWER_BYTES: usize = 1024 * 1024;

#[derive(Deserialize)]
struct Init {
    value: InitValue,
}

#[derive(Deserialize)]
struct InitValue {
    code: Option<String>,
    #[serde(default)]
    binary: bool,
}

#[derive(Deserialize)]
struct Run {
    #[serde(default)]
    value: Map<String, Value>,
}

/// The code of a `POST /init`.
pub fn code(body: &[u8]) -> Result<Vec<u8>, String> {
    let init: Init = serde_json::from_slice(body).map_err(|error| {
        format!("the body is no {{\"value\": {{\"binary\": true, \"code\": ...}}}}: {error}")
    })?;
    let Some(code) = init.value.code.filter(|code| !code.is_empty()) else {
        return Err("value.code is missing: send the code in base64".into());
    };
    if !init.value.binary {
        return Err("value.binary is not true: source code cannot be initialised here, send compiled code in base64".into());
    }
    let decoded = BASE64_STANDARD.decode(code);
    decoded.map_err(|error| format!("value.code is no base64: {error}"))
}

/// The parameters of a `POST /run`, as the JSON that a function reads.
pub fn parameters(body: &[u8]) -> Result<Vec<u8>, String> {
    let run: Run = serde_json::from_slice(body)
        .map_err(|error| format!("the body is no {{\"value\": {{...}}}}: {error}"))?;
    Ok(Value::Object(run.value).to_string().into_bytes())
}

/// Splits a function's output into what precedes its last line, and that line.
pub fn log_and_answer(output: &[u8]) -> (&[u8], &[u8]) {
    let text = output.trim_ascii_end();
    let newline = text.iter().rposition(|byte| *byte == b'\n');
    text.split_at(newline.map_or(0, |at| at + 1))
}

/// The result of a function: the last line of its output, which must be a JSON object.
pub fn answer(output: &[u8]) -> Result<Vec<u8>, String> {
    let (_, line) = log_and_answer(output);
    if line.len() > MAX_ANSWER_BYTES {
        return Err("the function's answer is longer than 1 MiB".into());
    }
    match serde_json::from_slice(line) {
        Ok(Value::Object(_)) => Ok(line.to_vec()),
        Ok(_) | Err(_) => Err("the last line that the function printed is no JSON object".into()),
    }
}

/// The body of an error response.
pub fn error(message: &str) -> Vec<u8> {
    json!({ "error": message }).to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn code_is_base64_and_declared_binary() {
        let body =
            br#"{"value": {"name": "x", "main": "main", "binary": true, "code": "AGFzbQ=="}}"#;
        assert_eq!(code(body).unwrap(), b"\0asm");
        for (body, message) in [
            (&b"{}"[..], "the body is no"),
            (b"[", "the body is no"),
            (br#"{"value": {"binary": true}}"#, "value.code is missing"),
            (
                br#"{"value": {"binary": true, "code": ""}}"#,
                "value.code is missing",
            ),
            (
                br#"{"value": {"code": "AGFzbQ=="}}"#,
                "value.binary is not true",
            ),
            (
                br#"{"value": {"binary": true, "code": "?"}}"#,
                "value.code is no base64",
            ),
        ] {
            assert!(code(body).unwrap_err().starts_with(message), "{message}");
        }
    }

    #[test]
    fn parameters_are_the_object_in_the_member_value() {
        let read = parameters(br#"{"value": {"work": "hash"}, "deadline": "1"}"#);
        assert_eq!(read.unwrap(), br#"{"work":"hash"}"#);
        assert_eq!(parameters(b"{}").unwrap(), b"{}");
        assert!(parameters(br#"{"value": 1}"#).is_err());
    }

    #[test]
    fn the_last_line_is_the_answer() {
        assert_eq!(answer(b"log\n{\"a\": 1}\n").unwrap(), b"{\"a\": 1}");
        for output in [&b""[..], b"log", b"{}\nlog\n", b"[1]"] {
            assert!(answer(output).is_err(), "{output:?}");
        }
    }

    #[test]
    fn lines_before_the_last_are_log() {
        for (output, log, answer) in [
            (&b"a\nb\n{}\n"[..], &b"a\nb\n"[..], &b"{}"[..]),
            (b"{}", b"", b"{}"),
            (b"", b"", b""),
        ] {
            assert_eq!(log_and_answer(output), (log, answer));
        }
    }

    proptest! {
        #[test]
        fn no_body_or_output_causes_a_panic(bytes: Vec<u8>) {
            let _ = (code(&bytes), parameters(&bytes), answer(&bytes));
        }
    }
}
