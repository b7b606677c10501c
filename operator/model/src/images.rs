//! The references of the images that the chart installs, and the names of the `RuntimeClasses` that some
//! of them need. Which images there are is in the catalogue.

use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::variants::catalogue::catalogue;
use crate::variants::presets::Shim;

/// The image of `wasmbench-probe` and the load generator.
pub const PROBE: &str = "probe";
/// The image of the echo server behind the proxy workload.
pub const UPSTREAM: &str = "upstream";

/// References of all images of the catalogue.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Images {
    /// By name in the catalogue.
    #[serde(deserialize_with = "one_for_each_image")]
    pub references: BTreeMap<String, String>,
    /// Pull policy of all these images.
    #[serde(default = "if_not_present")]
    pub pull_policy: String,
}

impl Images {
    /// All images as they are in one registry, with one tag.
    pub fn in_registry(registry: &str, tag: &str) -> Self {
        let images = catalogue().map_or(&[][..], |catalogue| &catalogue.images);
        let reference = |name: &String| (name.clone(), format!("{registry}/{name}:{tag}"));
        Self {
            references: images.iter().map(|row| reference(&row.name)).collect(),
            pull_policy: if_not_present(),
        }
    }

    /// The reference of the image of this name; empty if the catalogue has no such image.
    pub fn reference(&self, name: &str) -> &str {
        self.references.get(name).map_or("", String::as_str)
    }
}

/// Reads the references, and refuses names that are not in the catalogue, and images without one.
fn one_for_each_image<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, String>, D::Error> {
    let references: BTreeMap<String, String> = Deserialize::deserialize(deserializer)?;
    let images = &catalogue().map_err(D::Error::custom)?.images;
    if let Some(image) = images
        .iter()
        .find(|row| !references.contains_key(&row.name))
    {
        let name = &image.name;
        return Err(D::Error::custom(format!(
            "the image '{name}' has no reference"
        )));
    }
    let is_known = |name: &String| images.iter().any(|row| row.name == *name);
    match references.keys().find(|name| !is_known(name)) {
        Some(name) => Err(D::Error::custom(format!("there is no image '{name}'"))),
        None => Ok(references),
    }
}

/// Names of the `RuntimeClasses`, by shim. The administrator chooses them.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct RuntimeClasses {
    /// `RuntimeClass` of the wasmtime shim.
    pub wasmtime: String,
    /// `RuntimeClass` of the WasmEdge shim.
    pub wasmedge: String,
}

impl RuntimeClasses {
    /// The name of this shim's.
    pub fn name(&self, shim: Shim) -> &str {
        match shim {
            Shim::Wasmtime => &self.wasmtime,
            Shim::Wasmedge => &self.wasmedge,
        }
    }
}

impl Default for RuntimeClasses {
    fn default() -> Self {
        Self {
            wasmtime: "wasmtime".into(),
            wasmedge: "wasmedge".into(),
        }
    }
}

fn if_not_present() -> String {
    "IfNotPresent".into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refused(name: &str, reference: serde_json::Value) -> String {
        let mut images = json!(Images::in_registry("example.com", "1"));
        images["references"][name] = reference;
        if images["references"][name].is_null() {
            images["references"].as_object_mut().unwrap().remove(name);
        }
        let read: Result<Images, _> = serde_json::from_value(images);
        read.unwrap_err().to_string()
    }

    #[test]
    fn every_image_needs_a_reference_and_no_other_has_one() {
        let images = Images::in_registry("example.com", "1");
        assert_eq!(images.reference(PROBE), "example.com/probe:1");
        assert_eq!(images.reference(UPSTREAM), "example.com/upstream:1");
        let read: Images = serde_json::from_value(json!(images)).unwrap();
        assert_eq!(read, images);
        assert_eq!(
            refused(PROBE, json!(null)),
            "the image 'probe' has no reference"
        );
        assert_eq!(refused("prob", json!("a:1")), "there is no image 'prob'");
    }
}
