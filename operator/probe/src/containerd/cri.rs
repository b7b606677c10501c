//! containerd's CRI services, which the kubelet uses, over the same socket: which containers use an
//! image, and the removal of an image with all its names. Using them keeps the kubelet's view true.

use std::time::Duration;

use serde_json::Value;

use super::messages::{
    Empty, ImageSpec, ImageStatus, KubeletContainer, KubeletContainers, OfImage, RemoveContainer,
};
use super::{Containerd, Error};

/// Removing an image removes its files, of which there may be many.
const REMOVAL: Duration = Duration::from_mins(1);
/// `CONTAINER_EXITED`.
const EXITED: i32 = 2;

/// An image of the node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeImage {
    /// Digest of its configuration.
    pub id: String,
    /// Its names with tags.
    pub tags: Vec<String>,
    /// Its names with digests: those under which it was pulled.
    pub digests: Vec<String>,
    /// Whether it is marked as not to be removed.
    pub pinned: bool,
    /// Digests of its uncompressed layers, from the lowest; empty if it has no file system, as in
    /// Wasm images.
    pub layers: Vec<String>,
}

/// A container that was made from an image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct User {
    /// Its id.
    pub id: String,
    /// Namespace of its pod.
    pub namespace: String,
    /// Name of its pod.
    pub pod: String,
    /// Whether its process has ended.
    pub has_ended: bool,
}

impl Containerd {
    /// Returns the image with this name, as written in a pod; `None` if the node does not have it.
    pub async fn node_image(&self, name: &str) -> Result<Option<NodeImage>, Error> {
        let path = "/runtime.v1.ImageService/ImageStatus";
        let question = OfImage {
            image: Some(ImageSpec { image: name.into() }),
            verbose: true,
        };
        let status: ImageStatus = self.ask(path, question).await?;
        Ok(node_image(status))
    }

    /// Returns the containers made from the image with this id, even those whose pods are gone.
    pub async fn users(&self, image: &str) -> Result<Vec<User>, Error> {
        let path = "/runtime.v1.RuntimeService/ListContainers";
        let all: KubeletContainers = self.ask(path, Empty {}).await?;
        let mine = all.containers.into_iter().filter(|one| one.image == image);
        Ok(mine.map(user).collect())
    }

    /// Removes what is left of a container.
    pub async fn remove_container(&self, id: &str) -> Result<(), Error> {
        let path = "/runtime.v1.RuntimeService/RemoveContainer";
        let question = RemoveContainer { id: id.into() };
        let _: Empty = self.ask_within(REMOVAL, path, question).await?;
        Ok(())
    }

    /// Removes the image with this id, all its names, and everything of it that no other image or
    /// container needs. containerd responds when it is done.
    pub async fn remove_image(&self, id: &str) -> Result<(), Error> {
        let path = "/runtime.v1.ImageService/RemoveImage";
        let question = OfImage {
            image: Some(ImageSpec { image: id.into() }),
            verbose: false,
        };
        let _: Empty = self.ask_within(REMOVAL, path, question).await?;
        Ok(())
    }
}

fn node_image(status: ImageStatus) -> Option<NodeImage> {
    let image = status.image?;
    let info = status.info.get("info").map(String::as_str);
    let info: Value = serde_json::from_str(info.unwrap_or_default()).unwrap_or_default();
    let layers = info["imageSpec"]["rootfs"]["diff_ids"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str);
    Some(NodeImage {
        layers: layers.map(str::to_owned).collect(),
        id: image.id,
        tags: image.tags,
        digests: image.digests,
        pinned: image.pinned,
    })
}

fn user(container: KubeletContainer) -> User {
    let label = |key: &str| container.labels.get(key).cloned().unwrap_or_default();
    User {
        namespace: label("io.kubernetes.pod.namespace"),
        pod: label("io.kubernetes.pod.name"),
        has_ended: container.state == EXITED,
        id: container.id,
    }
}

#[cfg(test)]
mod tests {
    use super::super::messages::KubeletImage;
    use super::*;

    #[test]
    fn an_image_is_read_with_its_layers_or_without_any() {
        let info = r#"{"chainID":"sha256:c","imageSpec":{"rootfs":{"type":"layers","diff_ids":["sha256:a","sha256:b"]}}}"#;
        let image = KubeletImage {
            id: "sha256:i".into(),
            digests: vec!["host/a@sha256:m".into()],
            ..KubeletImage::default()
        };
        let status = |info: &str| ImageStatus {
            image: Some(image.clone()),
            info: [("info".to_owned(), info.to_owned())].into(),
        };
        let found = node_image(status(info)).unwrap();
        assert_eq!(found.layers, ["sha256:a", "sha256:b"]);
        assert_eq!(found.digests, ["host/a@sha256:m"]);
        for none in [
            "",
            "no JSON",
            "{}",
            r#"{"imageSpec":{"rootfs":{"diff_ids":7}}}"#,
        ] {
            assert_eq!(node_image(status(none)).unwrap().layers, [""; 0], "{none}");
        }
        assert_eq!(node_image(ImageStatus::default()), None);
    }

    #[test]
    fn a_container_is_known_by_its_pod_and_whether_it_ended() {
        let container = KubeletContainer {
            id: "c".into(),
            image: "sha256:i".into(),
            state: EXITED,
            labels: [
                ("io.kubernetes.pod.namespace".into(), "team-a".into()),
                ("io.kubernetes.pod.name".into(), "p-1-0".into()),
            ]
            .into(),
        };
        let ended = user(container.clone());
        assert_eq!(
            (ended.namespace.as_str(), ended.pod.as_str()),
            ("team-a", "p-1-0")
        );
        assert!(ended.has_ended);
        assert!(
            !user(KubeletContainer {
                state: 1,
                ..container
            })
            .has_ended
        );
    }
}
