//! The only request that `/strict` takes. Pure.

/// Its method.
pub const METHOD: &str = "POST";
/// Its headers.
pub const HEADERS: [(&str, &str); 3] = [
    ("host", "shop.example.com"),
    ("content-type", "application/json"),
    ("x-api-key", "let me in"),
];
/// Its body.
pub const BODY: &[u8] = br#"{"items": [1, 2, 3], "name": "pen"}"#;
/// The answer, and the same with its keys in another order.
pub const ANSWERS: [&str; 2] = [
    r#"{"total":42,"paid":true,"currency":"EUR"}"#,
    r#"{"currency":"EUR","total":42,"paid":true}"#,
];

/// The first difference from the right request; `None` if there is none. `values` returns all values
/// of a header.
pub fn difference<'a>(
    method: &str,
    values: impl Fn(&str) -> Vec<&'a [u8]>,
    body: &[u8],
) -> Option<&'static str> {
    if method != METHOD {
        return Some("the method");
    }
    let wrong = |(name, value): &(&'static str, &str)| values(name) != [value.as_bytes()];
    if let Some((name, _)) = HEADERS.iter().find(|header| wrong(header)) {
        return Some(*name);
    }
    (body != BODY).then_some("the body")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn differs(method: &str, change: (&str, &[&[u8]]), body: &[u8]) -> Option<&'static str> {
        let values = |name: &str| {
            let right = HEADERS.iter().find(|(header, _)| *header == name);
            match change {
                (changed, values) if changed == name => values.to_vec(),
                _ => right
                    .map(|(_, value)| vec![value.as_bytes()])
                    .unwrap_or_default(),
            }
        };
        difference(method, values, body)
    }

    #[test]
    fn only_the_right_request_is_taken() {
        assert_eq!(differs("POST", ("", &[]), BODY), None);
        assert_eq!(differs("PUT", ("", &[]), BODY), Some("the method"));
        assert_eq!(differs("POST", ("", &[]), b"{}"), Some("the body"));
        let (address, host): (&[u8], &[u8]) = (b"10.0.0.1:8080", b"shop.example.com");
        for values in [vec![], vec![address], vec![host, host]] {
            assert_eq!(differs("POST", ("host", &values), BODY), Some("host"));
        }
    }
}
