//! Names of objects.

/// Returns the name of an object, or what is wrong with it.
pub fn object_name(text: &str) -> Result<String, String> {
    let firm = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let ends = text.starts_with(firm) && text.ends_with(firm);
    if ends && text.len() <= 253 && text.chars().all(|c| firm(c) || ".-".contains(c)) {
        return Ok(text.to_owned());
    }
    Err(format!(
        "'{text}' is no name of an object: use lower-case letters, digits, dashes and dots, with a letter or digit at both ends"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_letters_digits_dashes_and_dots() {
        assert!(object_name("wasmtime-v1.2").is_ok());
        for wrong in ["", "A", "a_b", "-a", "a-"] {
            assert!(
                object_name(wrong).unwrap_err().contains("lower-case"),
                "{wrong}"
            );
        }
    }
}
