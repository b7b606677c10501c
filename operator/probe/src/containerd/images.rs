//! Images in containerd's store: what they consist of, whether a shim keeps a compiled form of one,
//! and how to remove that form. Shims built on the runwasi library compile a Wasm layer once per
//! image and engine, and keep the result as content with labels.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use futures::StreamExt as _;
use serde_json::Value;
use wasmbench_model::wire::cold_start::{CompileCache, ImageParts};

use super::messages::{
    Content, Contents, DeleteContent, Empty, FieldMask, Filters, Image, Images, ReadContent,
    ReadPart, UpdateContent,
};
use super::{Containerd, Error};

/// Prefix of the labels by which content keeps other content alive.
const REFERENCE: &str = "containerd.io/gc.ref.content.";
/// Prefix of such labels from Wasm to its compiled form.
const COMPILED_REFERENCE: &str = "containerd.io/gc.ref.content.precompile.";
/// Prefix of runwasi's labels: on Wasm, they mean that a compiled form exists.
const COMPILED: &str = "runwasi.io/precompiled/";
/// Suffix of runwasi's labels on the compiled form itself.
const ORIGINAL: &str = "/original";
/// A manifest is a page of JSON.
const LARGEST_MANIFEST: usize = 1024 * 1024;

/// Content by digest.
type Store = BTreeMap<String, Content>;

impl Containerd {
    /// Returns the image with this name, as written in a pod; `None` if the node does not have it.
    async fn image(&self, name: &str) -> Result<Option<Image>, Error> {
        let filters = vec![format!("name==\"{}\"", full_name(name))];
        let path = "/containerd.services.images.v1.Images/List";
        let found: Images = self.ask(path, Filters { filters }).await?;
        Ok(found.images.into_iter().next())
    }

    /// Returns whether the image is compiled; `None` if the node does not have it.
    pub async fn compile_cache(&self, name: &str) -> Result<Option<CompileCache>, Error> {
        let Some(root) = digest_of(self.image(name).await?) else {
            return Ok(None);
        };
        let store = self.store().await?;
        let parts = parts(&store, &root);
        if parts.iter().any(|part| is_compiled(part)) {
            return Ok(Some(CompileCache::Warm));
        }
        let manifests = self.manifests(&root, &parts).await?;
        Ok(Some(if manifests.iter().any(names_wasm) {
            CompileCache::Cold
        } else {
            CompileCache::NothingToCompile
        }))
    }

    /// Returns what the image consists of; `None` if the node does not have it.
    pub async fn image_parts(&self, name: &str) -> Result<Option<ImageParts>, Error> {
        let Some(root) = digest_of(self.image(name).await?) else {
            return Ok(None);
        };
        let store = self.store().await?;
        let manifests = self.manifests(&root, &parts(&store, &root)).await?;
        Ok(manifests.iter().find_map(image_parts))
    }

    /// Makes every runtime forget its compiled form of the image; returns whether there was one.
    pub async fn forget_compiled(&self, name: &str) -> Result<bool, Error> {
        let Some(root) = digest_of(self.image(name).await?) else {
            return Ok(false);
        };
        let store = self.store().await?;
        let parts = parts(&store, &root);
        let compiled: Vec<String> = parts
            .iter()
            .filter(|part| is_compiled(part))
            .map(|part| part.digest.clone())
            .collect();
        for part in &parts {
            if let Some(labels) = without_compiled(&part.labels) {
                self.label(&part.digest, labels).await?;
            }
        }
        let any = !compiled.is_empty();
        for digest in compiled {
            let path = "/containerd.services.content.v1.Content/Delete";
            let _: Empty = self.ask(path, DeleteContent { digest }).await?;
        }
        Ok(any)
    }

    async fn label(&self, digest: &str, labels: HashMap<String, String>) -> Result<(), Error> {
        let update = UpdateContent {
            info: Some(Content {
                digest: digest.to_owned(),
                labels,
            }),
            update_mask: Some(FieldMask {
                paths: vec!["labels".into()],
            }),
        };
        let path = "/containerd.services.content.v1.Content/Update";
        let _: Empty = self.ask(path, update).await?;
        Ok(())
    }

    /// All content of the node.
    async fn store(&self) -> Result<Store, Error> {
        let path = "/containerd.services.content.v1.Content/List";
        let mut answers = self.follow::<_, Contents>(path, Filters::default()).await?;
        let mut store = Store::new();
        while let Some(answer) = answers.next().await {
            let infos = answer?.info.into_iter();
            store.extend(infos.map(|info| (info.digest.clone(), info)));
        }
        Ok(store)
    }

    /// The manifest of the image, or its index and those of the manifests in it that are on the
    /// node.
    async fn manifests(&self, root: &str, parts: &[&Content]) -> Result<Vec<Value>, Error> {
        let top = self.manifest(root).await?;
        let listed: Vec<String> = top["manifests"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|one| one["digest"].as_str())
            .filter(|digest| parts.iter().any(|part| part.digest == *digest))
            .map(str::to_owned)
            .collect();
        let mut found = vec![top];
        for digest in listed {
            found.push(self.manifest(&digest).await?);
        }
        Ok(found)
    }

    async fn manifest(&self, digest: &str) -> Result<Value, Error> {
        let path = "/containerd.services.content.v1.Content/Read";
        let digest = digest.to_owned();
        let mut answers = self
            .follow::<_, ReadPart>(path, ReadContent { digest })
            .await?;
        let mut bytes = vec![];
        while let Some(answer) = answers.next().await {
            bytes.extend(answer?.data);
            if bytes.len() > LARGEST_MANIFEST {
                return Ok(Value::Null);
            }
        }
        Ok(serde_json::from_slice(&bytes).unwrap_or_default())
    }
}

/// Digest of an image's manifest or index.
fn digest_of(image: Option<Image>) -> Option<String> {
    Some(image?.target?.digest)
}

/// Returns containerd's name for an image that a pod names `image`. If there is both a tag and a
/// digest, the digest counts.
pub fn full_name(image: &str) -> String {
    let untagged = image.split_once('@').map(|(name, digest)| {
        let (path, last) = name.rsplit_once('/').unwrap_or(("", name));
        let last = last.split(':').next().unwrap_or_default();
        let slash = if path.is_empty() { "" } else { "/" };
        format!("{path}{slash}{last}@{digest}")
    });
    let image = untagged.as_deref().unwrap_or(image);
    let (first, rest) = image.split_once('/').unwrap_or(("", image));
    let has_host = first.contains(['.', ':']) || first == "localhost";
    let named = match (has_host, rest == image) {
        (true, _) => image.to_owned(),
        (false, true) => format!("docker.io/library/{image}"),
        (false, false) => format!("docker.io/{image}"),
    };
    let last = named.rsplit('/').next().unwrap_or_default();
    if last.contains([':', '@']) {
        named
    } else {
        format!("{named}:latest")
    }
}

/// All content that `root` keeps alive, itself included.
fn parts<'a>(store: &'a Store, root: &str) -> Vec<&'a Content> {
    let mut visited = BTreeSet::new();
    let mut left = vec![root.to_owned()];
    let mut found = vec![];
    while let Some(digest) = left.pop() {
        let Some(content) = store.get(&digest) else {
            continue;
        };
        if !visited.insert(digest) {
            continue;
        }
        let references = content
            .labels
            .iter()
            .filter(|(key, _)| key.starts_with(REFERENCE));
        left.extend(references.map(|(_, digest)| digest.clone()));
        found.push(content);
    }
    found
}

/// Whether content is the compiled form of other content.
fn is_compiled(content: &Content) -> bool {
    let mut keys = content.labels.keys();
    keys.any(|key| key.starts_with(COMPILED) && key.ends_with(ORIGINAL))
}

/// The labels of Wasm without those that mark it as compiled; `None` if there are none.
fn without_compiled(labels: &HashMap<String, String>) -> Option<HashMap<String, String>> {
    let marks_compiled = |key: &str| {
        (key.starts_with(COMPILED) && !key.ends_with(ORIGINAL))
            || key.starts_with(COMPILED_REFERENCE)
    };
    let others: HashMap<String, String> = labels
        .iter()
        .filter(|(key, _)| !marks_compiled(key))
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect();
    (others.len() < labels.len()).then_some(others)
}

/// Whether a manifest has a layer with a Wasm media type.
fn names_wasm(manifest: &Value) -> bool {
    let mut layers = manifest["layers"].as_array().into_iter().flatten();
    layers.any(is_wasm)
}

fn is_wasm(layer: &Value) -> bool {
    let kind = layer["mediaType"].as_str();
    kind.is_some_and(|kind| kind.contains("wasm"))
}

/// What a manifest says that its image consists of; `None` for an index, and for what is no image
/// but a statement about one.
fn image_parts(manifest: &Value) -> Option<ImageParts> {
    let layers = manifest["layers"].as_array()?;
    let is_statement = |layer: &Value| {
        let kind = layer["mediaType"].as_str();
        kind.is_some_and(|kind| kind.contains("in-toto"))
    };
    if layers.iter().any(is_statement) {
        return None;
    }
    let wasm = layers.iter().filter(|layer| is_wasm(layer));
    let sizes: Vec<u64> = wasm.filter_map(|layer| layer["size"].as_u64()).collect();
    Some(ImageParts {
        layers: u32::try_from(layers.len()).unwrap_or(u32::MAX),
        wasm_bytes: (!sizes.is_empty()).then(|| sizes.into_iter().fold(0, u64::saturating_add)),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const ID: &str = "runwasi.io/precompiled/wasmtime/7664737217117641005";

    fn content(digest: &str, labels: &[(&str, &str)]) -> (String, Content) {
        let label = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        let content = Content {
            digest: digest.into(),
            labels: labels.iter().map(label).collect(),
        };
        (digest.to_owned(), content)
    }

    /// An image compiled by runwasi 1.0 as containerd 2.3 keeps it, next to another image.
    fn compiled() -> Store {
        Store::from([
            content(
                "manifest",
                &[
                    ("containerd.io/gc.ref.content.0", "layer"),
                    ("containerd.io/gc.ref.content.config", "config"),
                    ("containerd.io/gc.ref.content.precompile.0", "native"),
                    (ID, "true"),
                ],
            ),
            content(
                "layer",
                &[
                    ("containerd.io/gc.ref.content.precompile.0", "native"),
                    (ID, "native"),
                ],
            ),
            content("config", &[]),
            content("native", &[(&format!("{ID}/original"), "layer")]),
            content("other", &[("containerd.io/gc.ref.content.l.0", "apart")]),
            content("apart", &[(&format!("{ID}/original"), "elsewhere")]),
        ])
    }

    fn digests(parts: &[&Content]) -> BTreeSet<String> {
        parts.iter().map(|part| part.digest.clone()).collect()
    }

    #[test]
    fn an_image_is_what_its_manifest_keeps_alive() {
        let store = compiled();
        let all = ["config", "layer", "manifest", "native"].map(str::to_owned);
        assert_eq!(digests(&parts(&store, "manifest")), all.into());
        assert_eq!(parts(&store, "gone"), Vec::<&Content>::new());
    }

    #[test]
    fn references_in_a_circle_end() {
        let store = Store::from([
            content("a", &[("containerd.io/gc.ref.content.0", "b")]),
            content("b", &[("containerd.io/gc.ref.content.0", "a")]),
        ]);
        assert_eq!(parts(&store, "a").len(), 2);
    }

    #[test]
    fn forgetting_removes_every_trace_of_the_compiled_form_and_nothing_else() {
        let mut store = compiled();
        let compiled: Vec<&str> = store
            .values()
            .filter(|content| is_compiled(content))
            .map(|content| content.digest.as_str())
            .collect();
        assert_eq!(compiled, ["apart", "native"]);
        for digest in ["manifest", "layer"] {
            let labels = without_compiled(&store[digest].labels).expect("traces");
            store.get_mut(digest).unwrap().labels = labels;
        }
        let left = parts(&store, "manifest");
        let all = ["config", "layer", "manifest"].map(str::to_owned);
        assert_eq!(digests(&left), all.into());
        assert!(
            left.iter()
                .all(|part| without_compiled(&part.labels).is_none())
        );
        assert_eq!(without_compiled(&store["native"].labels), None);
    }

    #[test]
    fn a_wasm_manifest_is_recognised_by_its_layers() {
        let of = |kind: &str| json!({ "layers": [{ "mediaType": kind }] });
        assert!(names_wasm(&of("application/wasm")));
        assert!(names_wasm(&of(
            "application/vnd.bytecodealliance.wasm.component.layer.v0+wasm"
        )));
        assert!(!names_wasm(&of(
            "application/vnd.oci.image.layer.v1.tar+gzip"
        )));
        assert!(!names_wasm(&json!({ "manifests": [] })));
        assert!(!names_wasm(&Value::Null));
    }

    #[test]
    fn an_image_has_the_layers_of_its_manifest_and_the_size_of_its_wasm() {
        let layer = |kind: &str, size: u64| json!({ "mediaType": kind, "size": size });
        let tar = "application/vnd.oci.image.layer.v1.tar+gzip";
        let of = |layers: &[Value]| image_parts(&json!({ "layers": layers }));
        let parts = |layers, wasm_bytes| Some(ImageParts { layers, wasm_bytes });
        let wasm = [layer("application/wasm", 70), layer(tar, 5)];
        assert_eq!(of(&wasm), parts(2, Some(70)));
        assert_eq!(of(&[layer(tar, 5), layer(tar, 6)]), parts(2, None));
        assert_eq!(of(&[layer("application/vnd.in-toto+json", 9)]), None);
        assert_eq!(image_parts(&json!({ "manifests": [] })), None);
    }

    #[test]
    fn image_names_are_completed_as_by_the_kubelet() {
        for (short, full) in [
            ("a", "docker.io/library/a:latest"),
            ("a:1", "docker.io/library/a:1"),
            ("team/a:1", "docker.io/team/a:1"),
            ("localhost/a:1", "localhost/a:1"),
            ("host.example/a", "host.example/a:latest"),
            ("host:5000/team/a", "host:5000/team/a:latest"),
            ("host:5000/a@sha256:00", "host:5000/a@sha256:00"),
            ("host:5000/a:1@sha256:00", "host:5000/a@sha256:00"),
            ("a:1@sha256:00", "docker.io/library/a@sha256:00"),
        ] {
            assert_eq!(full_name(short), full);
        }
    }
}
