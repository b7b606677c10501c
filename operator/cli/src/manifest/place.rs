//! The line at which a field stands in YAML or JSON.
//!
//! The parser keeps no lines with its values, but an error has one. So the document is read up to the
//! field, where reading ends with an error, whose line is the answer.

use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// One step from a value to one inside.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(usize),
}

/// The line of `field`, such as `spec.variants[0].name`, in a document of `text`; of what it would
/// stand in if it is missing. `None` if even that is not there.
pub fn line_of(text: &str, document: usize, field: &str) -> Option<usize> {
    let steps = steps(field);
    (0..=steps.len())
        .rev()
        .find_map(|length| line(text, document, &steps[..length]))
}

fn line(text: &str, document: usize, steps: &[Step]) -> Option<usize> {
    let document = serde_yaml::Deserializer::from_str(text).nth(document)?;
    let error = document.deserialize_any(Locate(steps)).err()?;
    Some(error.location()?.line())
}

fn steps(field: &str) -> Vec<Step> {
    let parts = field.split(['.', '[']).filter(|part| !part.is_empty());
    let step = |part: &str| {
        let index = part
            .strip_suffix(']')
            .and_then(|number| number.parse().ok());
        index.map_or_else(|| Step::Key(part.to_owned()), Step::Index)
    };
    parts.map(step).collect()
}

/// Reads up to the value at the end of these steps, and fails there. Scalars fail of themselves.
struct Locate<'a>(&'a [Step]);

impl<'de> DeserializeSeed<'de> for Locate<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Locate<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map or a list")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Some((Step::Key(name), rest)) = self.0.split_first() else {
            return Err(here());
        };
        let is_last = rest.is_empty();
        while let Some(is_on_the_way) = map.next_key_seed(Key { name, is_last })? {
            if is_on_the_way {
                map.next_value_seed(Locate(rest))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Some((Step::Index(index), rest)) = self.0.split_first() else {
            return Err(here());
        };
        for _ in 0..*index {
            if list.next_element::<IgnoredAny>()?.is_none() {
                return Ok(());
            }
        }
        list.next_element_seed(Locate(rest))?;
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }
}

/// Reads a key, and fails at the one at the end of the way.
struct Key<'a> {
    name: &'a str,
    is_last: bool,
}

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: de::Error>(self, key: &str) -> Result<bool, E> {
        match (key == self.name, self.is_last) {
            (true, true) => Err(here()),
            (is_on_the_way, _) => Ok(is_on_the_way),
        }
    }
}

fn here<E: de::Error>() -> E {
    E::custom("here")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "a:\n  b:\n    - c: 1\n      d: x\n    - {c: 2,\n       d: y}\n---\na: {b: 3}\n";

    #[test]
    fn a_field_is_found_at_its_key_and_an_item_where_it_begins() {
        for (field, line) in [
            ("a", 1),
            ("a.b", 2),
            ("a.b[0]", 3),
            ("a.b[0].d", 4),
            ("a.b[1]", 5),
            ("a.b[1].d", 6),
        ] {
            assert_eq!(line_of(TEXT, 0, field), Some(line), "{field}");
        }
        assert_eq!(line_of(TEXT, 1, "a.b"), Some(8));
    }

    #[test]
    fn a_missing_field_is_looked_for_where_it_belongs() {
        assert_eq!(line_of(TEXT, 0, "a.b[0].e"), Some(3));
        assert_eq!(line_of(TEXT, 0, "a.b[7].c"), Some(2));
        assert_eq!(line_of(TEXT, 0, "a.b[1].c.d"), Some(5));
        assert_eq!(line_of(TEXT, 7, "a"), None);
        assert_eq!(line_of("{\n \"a\": {\n  \"b\": 1}}", 0, "a.b"), Some(3));
    }
}
