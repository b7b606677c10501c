//! Lists and maps with a largest length that no genuine history exceeds. An element may take a
//! hundred times its text in memory, so the length of the text is no bound by itself.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// A list of at most `MOST` elements; a longer one is an error, and its rest is not read.
pub fn list<'de, const MOST: usize, T, D>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    deserializer.deserialize_seq(Few::<MOST, Vec<T>>(PhantomData))
}

/// The same for a map of texts.
pub fn map<'de, const MOST: usize, D>(deserializer: D) -> Result<BTreeMap<String, String>, D::Error>
where
    D: Deserializer<'de>,
{
    deserializer.deserialize_map(Few::<MOST, BTreeMap<String, String>>(PhantomData))
}

struct Few<const MOST: usize, T>(PhantomData<T>);

fn expecting(most: usize, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(formatter, "at most {most} elements")
}

impl<'de, const MOST: usize, T: Deserialize<'de>> Visitor<'de> for Few<MOST, Vec<T>> {
    type Value = Vec<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        expecting(MOST, formatter)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Self::Value, A::Error> {
        let mut found = vec![];
        while let Some(element) = elements.next_element()? {
            if found.len() == MOST {
                return Err(A::Error::invalid_length(MOST + 1, &self));
            }
            found.push(element);
        }
        Ok(found)
    }
}

impl<'de, const MOST: usize> Visitor<'de> for Few<MOST, BTreeMap<String, String>> {
    type Value = BTreeMap<String, String>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        expecting(MOST, formatter)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut found = BTreeMap::new();
        while let Some((key, value)) = entries.next_entry()? {
            if found.len() == MOST {
                return Err(A::Error::invalid_length(MOST + 1, &self));
            }
            found.insert(key, value);
        }
        Ok(found)
    }
}
