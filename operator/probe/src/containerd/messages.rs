//! The messages of containerd's API that the probe needs, with only the fields that it needs.
//! Written by hand from containerd's `.proto` files, so that no code has to be generated; other
//! fields are skipped on reading.

use std::collections::HashMap;

/// `google.protobuf.Timestamp`.
#[derive(Clone, Copy, PartialEq, Eq, prost::Message)]
pub struct Timestamp {
    #[prost(int64, tag = "1")]
    pub seconds: i64,
    #[prost(int32, tag = "2")]
    pub nanos: i32,
}

impl Timestamp {
    /// Nanoseconds since the Unix epoch.
    pub fn unix_nanoseconds(&self) -> i64 {
        let seconds = self.seconds.saturating_mul(1_000_000_000);
        seconds.saturating_add(self.nanos.into())
    }
}

/// `google.protobuf.Any`.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct Any {
    #[prost(string, tag = "1")]
    pub type_url: String,
    #[prost(bytes = "vec", tag = "2")]
    pub value: Vec<u8>,
}

/// `google.protobuf.Empty`.
#[derive(Clone, Copy, PartialEq, Eq, prost::Message)]
pub struct Empty {}

/// `google.protobuf.FieldMask`.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct FieldMask {
    #[prost(string, repeated, tag = "1")]
    pub paths: Vec<String>,
}

/// `containerd.services.events.v1.SubscribeRequest`, and every other request that is a list of
/// filters, one of which must match.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct Filters {
    #[prost(string, repeated, tag = "1")]
    pub filters: Vec<String>,
}

/// `containerd.types.Envelope`.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct Envelope {
    #[prost(message, optional, tag = "1")]
    pub timestamp: Option<Timestamp>,
    #[prost(string, tag = "2")]
    pub namespace: String,
    #[prost(string, tag = "3")]
    pub topic: String,
    #[prost(message, optional, tag = "4")]
    pub event: Option<Any>,
}

/// `containerd.events.TaskCreate`, `TaskStart`, `ContainerCreate` and `ImageCreate`: all begin with
/// the container's id or the image's name.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct About {
    #[prost(string, tag = "1")]
    pub name: String,
}

/// `containerd.events.TaskExit`.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct TaskExit {
    #[prost(string, tag = "1")]
    pub container_id: String,
    /// Which process of the container; the container's own process has the container's id.
    #[prost(string, tag = "2")]
    pub id: String,
    #[prost(message, optional, tag = "5")]
    pub exited_at: Option<Timestamp>,
}

/// `containerd.services.containers.v1.Container`.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct Container {
    #[prost(string, tag = "1")]
    pub id: String,
    #[prost(map = "string, string", tag = "2")]
    pub labels: HashMap<String, String>,
    #[prost(string, tag = "3")]
    pub image: String,
}

/// `containerd.services.containers.v1.ListContainersResponse`.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct Containers {
    #[prost(message, repeated, tag = "1")]
    pub containers: Vec<Container>,
}

/// `containerd.types.Descriptor`.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct Descriptor {
    #[prost(string, tag = "1")]
    pub media_type: String,
    #[prost(string, tag = "2")]
    pub digest: String,
}

/// `containerd.services.images.v1.Image`.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct Image {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(message, optional, tag = "3")]
    pub target: Option<Descriptor>,
}

/// `containerd.services.images.v1.ListImagesResponse`.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct Images {
    #[prost(message, repeated, tag = "1")]
    pub images: Vec<Image>,
}

/// `containerd.services.content.v1.Info`.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct Content {
    #[prost(string, tag = "1")]
    pub digest: String,
    #[prost(map = "string, string", tag = "5")]
    pub labels: HashMap<String, String>,
}

/// `containerd.services.content.v1.ListContentResponse`.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct Contents {
    #[prost(message, repeated, tag = "1")]
    pub info: Vec<Content>,
}

/// `containerd.services.content.v1.UpdateRequest`.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct UpdateContent {
    #[prost(message, optional, tag = "1")]
    pub info: Option<Content>,
    #[prost(message, optional, tag = "2")]
    pub update_mask: Option<FieldMask>,
}

/// `containerd.services.content.v1.DeleteContentRequest`.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct DeleteContent {
    #[prost(string, tag = "1")]
    pub digest: String,
}

/// `containerd.services.content.v1.ReadContentRequest`, for all of the content.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct ReadContent {
    #[prost(string, tag = "1")]
    pub digest: String,
}

/// `containerd.services.content.v1.ReadContentResponse`.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct ReadPart {
    #[prost(bytes = "vec", tag = "2")]
    pub data: Vec<u8>,
}

/// `containerd.events.SnapshotCommit`.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct SnapshotCommit {
    #[prost(string, tag = "2")]
    pub name: String,
}

/// CRI's `runtime.v1.ImageSpec`.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct ImageSpec {
    /// Name or id.
    #[prost(string, tag = "1")]
    pub image: String,
}

/// `runtime.v1.ImageStatusRequest`, and `RemoveImageRequest`, which has no `verbose`.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct OfImage {
    #[prost(message, optional, tag = "1")]
    pub image: Option<ImageSpec>,
    #[prost(bool, tag = "2")]
    pub verbose: bool,
}

/// `runtime.v1.ImageStatusResponse`.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct ImageStatus {
    #[prost(message, optional, tag = "1")]
    pub image: Option<KubeletImage>,
    #[prost(map = "string, string", tag = "2")]
    pub info: HashMap<String, String>,
}

/// `runtime.v1.Image`.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct KubeletImage {
    #[prost(string, tag = "1")]
    pub id: String,
    #[prost(string, repeated, tag = "2")]
    pub tags: Vec<String>,
    #[prost(string, repeated, tag = "3")]
    pub digests: Vec<String>,
    #[prost(bool, tag = "8")]
    pub pinned: bool,
}

/// `runtime.v1.Container`.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct KubeletContainer {
    #[prost(string, tag = "1")]
    pub id: String,
    /// Id of the image.
    #[prost(string, tag = "5")]
    pub image: String,
    /// `runtime.v1.ContainerState`.
    #[prost(int32, tag = "6")]
    pub state: i32,
    #[prost(map = "string, string", tag = "8")]
    pub labels: HashMap<String, String>,
}

/// `runtime.v1.ListContainersResponse`.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct KubeletContainers {
    #[prost(message, repeated, tag = "1")]
    pub containers: Vec<KubeletContainer>,
}

/// `runtime.v1.RemoveContainerRequest`.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct RemoveContainer {
    #[prost(string, tag = "1")]
    pub id: String,
}
