//! Users' own images under a RuntimeClass: what a spec does not reveal about them. A Wasm shim
//! built on the runwasi library starts a program or a script as an ordinary container, so an
//! ordinary image works there, and its numbers are those of a container. Only an image's manifest
//! shows whether it is one, and neither plan nor operator reads that. Pure.

use wasmbench_api::run::{BenchmarkRunSpec, OwnContainer, TWIN};

/// One note for each variant that runs the user's own image under a RuntimeClass: what is not
/// known, and where to look.
pub fn notes(spec: &BenchmarkRunSpec) -> Vec<String> {
    let own = |class: bool| {
        let variants = spec.variants.iter().filter(|variant| variant.name != TWIN);
        let own =
            variants.filter_map(|variant| Some((&*variant.name, variant.container.as_ref()?)));
        own.filter(move |(_, own)| own.runtime_class_name.is_some() == class)
    };
    own(true)
        .map(|(name, container)| {
            let same = own(false).find(|(_, other)| other.image == container.image);
            same.map_or_else(
                || unknown(name, container),
                |(other, _)| shared_image(name, container, other),
            )
        })
        .collect()
}

fn class(container: &OwnContainer) -> &str {
    container.runtime_class_name.as_deref().unwrap_or_default()
}

fn unknown(name: &str, container: &OwnContainer) -> String {
    let (class, image) = (class(container), &container.image);
    format!(
        "{name}: whether {image} is WebAssembly. If RuntimeClass {class} is that of a Wasm shim, an ordinary image runs there as an \
         ordinary container, and that is what is measured. It is WebAssembly if `crane manifest {image}` names a layer \
         of a type that ends in wasm, or `crane config {image}` an entrypoint that ends in .wasm"
    )
}

fn shared_image(name: &str, container: &OwnContainer, other: &str) -> String {
    let class = class(container);
    format!(
        "{name}: it has the image of {other}, which runs without a RuntimeClass. An image for which that works is an ordinary one: \
         if RuntimeClass {class} is that of a Wasm shim, {name} runs as an ordinary container too, and no WebAssembly is \
         measured. Name the image of a Wasm build"
    )
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn messages(variants: &Value) -> Vec<String> {
        let spec = json!({
            "variants": variants,
            "workloads": [{"name": "hello"}],
            "sweeps": {"warmLatency": {}},
        });
        notes(&serde_json::from_value(spec).expect("a spec"))
    }

    #[test]
    fn a_users_image_under_a_runtime_class_may_be_an_ordinary_one() {
        let found = messages(&json!([
            {"name": "plain", "container": {"image": "a/server:1"}},
            {"name": "shim", "container": {"image": "a/server-wasm:1", "runtimeClassName": "wasmtime"}},
        ]));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("shim: whether a/server-wasm:1 is WebAssembly"));
        assert!(found[0].contains("crane manifest a/server-wasm:1"));
    }

    #[test]
    fn an_image_shared_with_an_ordinary_container_is_no_webassembly() {
        let found = messages(&json!([
            {"name": "plain", "container": {"image": "a/server:1"}},
            {"name": "shim", "container": {"image": "a/server:1", "runtimeClassName": "wasmtime"}},
        ]));
        assert!(found[0].contains("it has the image of plain"), "{found:?}");
    }

    #[test]
    fn presets_and_ordinary_containers_get_no_note() {
        let found = messages(&json!([
            {"name": "plain", "container": {"image": "a/server:1"}},
            {"name": "shim", "preset": "wasmtime-shim"},
        ]));
        assert!(found.is_empty(), "{found:?}");
    }
}
