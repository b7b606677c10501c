//! The images and the presets, as the chart's `catalogue.json` lists them. The chart, the scripts that
//! build images and the tests read the same file. Nothing is checked in a cluster.

use std::sync::LazyLock;

use serde::Deserialize;
use wasmbench_api::run::{Preset, Variant};

use crate::variants::presets::Definition;

/// The chart has it, because Helm reads no other files.
const TEXT: &str = include_str!("../../../../charts/wasmbench/catalogue.json");

static CATALOGUE: LazyLock<serde_json::Result<Catalogue>> =
    LazyLock::new(|| serde_json::from_str(TEXT));

/// All images and presets.
#[derive(Deserialize, Debug)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Catalogue {
    /// What a release publishes, and the chart refers to.
    pub images: Vec<Image>,
    /// What only tests run.
    pub test_images: Vec<Image>,
    /// The presets.
    pub presets: Vec<Definition>,
}

/// An image, and how `hack/images` makes it.
#[derive(Deserialize, Debug)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Image {
    /// Its name: the last part of its reference, and the key of an override in the chart.
    pub name: String,
    /// What it is for, unless presets run it.
    pub purpose: Option<String>,
    /// When it is built.
    #[serde(default)]
    pub build: Build,
    /// Folder of its Containerfile; `None` for a single Wasm file.
    pub folder: Option<String>,
    /// The cargo package of its program; `None` if the runtime's folder contains it.
    pub package: Option<String>,
    /// The program, as cargo names it.
    pub binary: Option<String>,
    /// Path of the program in the build context; by default its name.
    pub entry: Option<String>,
    /// The runtime that it contains, by its name in `hack/runtime`.
    pub runtime: Option<String>,
    /// The guests that it contains, by their names in `hack/wasm`.
    #[serde(default)]
    pub guests: Vec<String>,
    /// Whether it is a single Wasm file, and no file system.
    #[serde(default)]
    pub wasm: bool,
}

/// When `hack/images` builds an image.
#[derive(Deserialize, Clone, Copy, Debug, Default, PartialEq, Eq, strum::IntoStaticStr)]
#[serde(rename_all = "camelCase")]
#[strum(serialize_all = "camelCase")]
pub enum Build {
    /// Unless others are named.
    Usual,
    /// If named: its runtime is large, or has to be downloaded.
    Quick,
    /// If named: its runtime takes minutes to compile.
    Slow,
    /// Only if named by itself.
    #[default]
    Named,
}

/// The catalogue. It was read when the program was built, so that an error is a mistake in the file,
/// which a test finds.
pub fn catalogue() -> Result<&'static Catalogue, &'static serde_json::Error> {
    CATALOGUE.as_ref()
}

/// The row of a preset; a test shows that each has one.
pub fn definition(preset: Preset) -> Option<&'static Definition> {
    let mut rows = catalogue().ok()?.presets.iter();
    rows.find(|row| row.name == preset)
}

/// The row of a variant's preset; `None` for the user's own container.
pub fn definition_of(variant: &Variant) -> Option<&'static Definition> {
    variant.preset.and_then(definition)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use strum::IntoEnumIterator as _;

    use super::*;
    use crate::variants::presets::Serves;

    #[test]
    fn every_preset_has_one_row_whose_images_are_listed() {
        let catalogue = catalogue().unwrap();
        let images: BTreeSet<&str> = catalogue.images.iter().map(|row| &*row.name).collect();
        assert_eq!(images.len(), catalogue.images.len());
        for preset in Preset::iter() {
            let rows = catalogue.presets.iter().filter(|row| row.name == preset);
            let [row] = rows.collect::<Vec<_>>()[..] else {
                panic!("{preset:?} does not have one row");
            };
            for image in row.images() {
                assert!(images.contains(image), "{preset:?} runs no image '{image}'");
            }
        }
    }

    #[test]
    fn only_kernel_servers_take_checks_that_let_a_module_leave_its_memory() {
        let catalogue = catalogue().unwrap();
        for row in &catalogue.presets {
            let is_unsafe = row.bounds_checks.iter().any(|checks| checks.is_unsafe());
            let serves_kernels = row.serves == Serves::Kernels;
            assert!(serves_kernels || !is_unsafe, "{:?}", row.name);
            let name: &str = row.name.into();
            assert_eq!(name.starts_with("kernel-"), serves_kernels, "{name}");
            assert_eq!(row.threads, serves_kernels, "{name}");
            let default = row.bounds_checks.first();
            assert!(!default.is_some_and(|checks| checks.is_unsafe()), "{name}");
        }
    }

    #[test]
    fn every_image_is_run_by_a_preset_or_has_a_stated_purpose() {
        let catalogue = catalogue().unwrap();
        let run: BTreeSet<&str> = catalogue
            .presets
            .iter()
            .flat_map(Definition::images)
            .collect();
        for image in catalogue.images.iter().chain(&catalogue.test_images) {
            let is_run = run.contains(&*image.name);
            assert_ne!(is_run, image.purpose.is_some(), "{}", image.name);
        }
    }

    #[test]
    fn every_image_is_a_wasm_file_or_has_a_containerfile() {
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let catalogue = catalogue().unwrap();
        for image in catalogue.images.iter().chain(&catalogue.test_images) {
            let folder = image
                .folder
                .as_deref()
                .map(|folder| repository.join(folder));
            let has_file = folder.is_some_and(|folder| folder.join("Containerfile").exists());
            assert_ne!(has_file, image.wasm, "{}", image.name);
            assert_eq!(
                image.package.is_some(),
                image.binary.is_some(),
                "{}",
                image.name
            );
        }
    }
}
