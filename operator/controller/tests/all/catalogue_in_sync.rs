//! What people read about images and presets agrees with the chart's `catalogue.json`. With `BLESS=1`
//! in the environment, these tests first write what is generated from it.

use std::fmt::Write as _;

use wasmbench_model::variants::catalogue::{Catalogue, Image, catalogue};
use wasmbench_model::variants::presets::Mode;

use crate::support::chart::repository;

/// Asserts that between the lines `begin` and `end` the file has exactly this text.
fn is_in_sync(file: &str, begin: &str, end: &str, wanted: &str) {
    let path = repository().join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    let from = text
        .find(begin)
        .unwrap_or_else(|| panic!("{file}: {begin}"))
        + begin.len();
    let to = from
        + text[from..]
            .find(end)
            .unwrap_or_else(|| panic!("{file}: {end}"));
    if std::env::var_os("BLESS").is_some_and(|value| !value.is_empty()) {
        let blessed = format!("{}{wanted}{}", &text[..from], &text[to..]);
        std::fs::write(&path, blessed).unwrap();
    } else {
        assert_eq!(
            &text[from..to],
            wanted,
            "{file} does not match catalogue.json: run `make generate` and commit the result"
        );
    }
}

/// What runs an image: presets by name, or its own description.
fn purpose(catalogue: &Catalogue, image: &Image) -> String {
    let presets = catalogue.presets.iter();
    let presets = presets.filter(|preset| preset.images().any(|name| name == image.name));
    let presets = presets.map(|preset| match &preset.interpreter_image {
        Some(other) if *other == image.name => {
            format!(
                "`{}` with `compile: Interpreter`",
                <&str>::from(preset.name)
            )
        }
        Some(_) | None => format!("`{}`", <&str>::from(preset.name)),
    });
    let presets: Vec<String> = presets.collect();
    image.purpose.clone().unwrap_or_else(|| presets.join(", "))
}

#[test]
fn the_readme_of_the_chart_lists_the_images() {
    let catalogue = catalogue().unwrap();
    let mut table = String::new();
    for image in &catalogue.images {
        let build: &str = image.build.into();
        let purpose = purpose(catalogue, image);
        writeln!(table, "| `{}` | {purpose} | `{build}` |", image.name).unwrap();
    }
    let begin = "| image | what runs it, or what it is | group |\n|---|---|---|\n";
    let end = "\n`hack/images load` builds";
    is_in_sync("charts/wasmbench/README.md", begin, end, &table);
}

#[test]
fn the_annotation_for_artifact_hub_lists_all_images() {
    let mut list = String::new();
    for image in &catalogue().unwrap().images {
        let (name, version) = (&image.name, env!("CARGO_PKG_VERSION"));
        writeln!(list, "    - name: {name}").unwrap();
        writeln!(list, "      image: localhost/wasmbench/{name}:{version}").unwrap();
        if image.wasm {
            writeln!(list, "      whitelisted: true").unwrap();
        }
    }
    let begin = "\n  artifacthub.io/images: |\n";
    let end = "  artifacthub.io/links: |\n";
    is_in_sync("charts/wasmbench/Chart.yaml", begin, end, &list);
}

/// The text of the page in `docs/variants` that a row of `docs/variants.md` links to.
fn linked_page(row: &str) -> String {
    let (_, link) = row
        .split_once("](variants/")
        .unwrap_or_else(|| panic!("no link to docs/variants in {row}"));
    let (file, _) = link.split_once(".md").unwrap();
    let path = repository().join(format!("docs/variants/{file}.md"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn every_preset_has_a_row_that_links_to_a_page_with_its_heading() {
    let page = std::fs::read_to_string(repository().join("docs/variants.md")).unwrap();
    for preset in &catalogue().unwrap().presets {
        let name = <&str>::from(preset.name);
        let mut rows = page.lines().filter(|line| line.starts_with("| "));
        let in_row = |row: &&str| {
            row.contains(&format!("`preset: {name}`")) || row.contains(&format!("or `{name}`"))
        };
        let row = rows
            .find(in_row)
            .unwrap_or_else(|| panic!("no row has {name}"));
        if let (Mode::Choice([first, second]), true) = (preset.mode, row.contains("compile:")) {
            let modes = format!("{{compile: {first:?}}}` or `{second:?}`");
            assert!(row.contains(&modes), "{modes} is not in {row}");
        }
        let linked = linked_page(row);
        let mut headings = linked.lines().filter(|line| line.starts_with('#'));
        let heading = format!("`{name}`");
        assert!(headings.any(|line| line.contains(&heading)), "{heading}");
    }
}

/// What `hack/images needed` prints for these manifests.
fn needed(manifests: &[&str]) -> Vec<String> {
    let mut command = std::process::Command::new(repository().join("hack/images"));
    let command = command.current_dir(repository()).arg("needed");
    let output = command.args(manifests).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let names = String::from_utf8(output.stdout).unwrap();
    names.lines().map(ToOwned::to_owned).collect()
}

#[test]
fn the_demo_builds_the_images_of_its_sample_and_no_others() {
    let demo = std::fs::read_to_string(repository().join("hack/demo")).unwrap();
    let sample = "manifests/samples/quickstart.yaml";
    assert!(demo.contains(&format!("sample={sample}")));
    assert!(demo.contains(r#"mapfile -t images < <(hack/images needed "$sample")"#));
    assert_eq!(
        needed(&[sample]),
        ["operator", "probe", "embedded", "native"]
    );
    // The echo server belongs to no preset.
    let with_upstream = needed(&["manifests/samples/gateway-overhead.yaml"]);
    assert_eq!(with_upstream.last().unwrap(), "upstream");
}
