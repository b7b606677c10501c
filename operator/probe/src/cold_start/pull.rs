//! The pull of the subject's image in a sample, from containerd's events and the kubelet's
//! messages. Read when the sample is over.

use std::collections::{BTreeMap, BTreeSet};

use wasmbench_model::digest::sha256;
use wasmbench_model::wire::cold_start::{ImagePull, PulledLayers};

use super::sample::Course;
use crate::containerd::events::{Happened, RuntimeEvent};
use crate::containerd::images::full_name;
use crate::output::progress;

/// What containerd reported about a pull. Empty if the image was already there.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct PullEvents {
    /// containerd's name of the image.
    name: String,
    image: Option<i64>,
    unpacked: BTreeSet<String>,
    containers: BTreeMap<usize, i64>,
}

impl PullEvents {
    /// Returns an empty record of the image that a pod names `image`.
    pub fn new(image: &str) -> Self {
        Self {
            name: full_name(image),
            ..Self::default()
        }
    }

    /// Notes an event; `pod` is the index of the pod whose container it belongs to, if any.
    pub fn note(&mut self, event: &RuntimeEvent, pod: Option<usize>) {
        match event.happened {
            Happened::ImageCreated if event.of == self.name => {
                self.image.get_or_insert(event.at);
            }
            Happened::LayerUnpacked => {
                self.unpacked.insert(event.of.clone());
            }
            Happened::Recorded => {
                if let Some(pod) = pod {
                    self.containers.entry(pod).or_insert(event.at);
                }
            }
            Happened::ImageCreated | Happened::Created | Happened::Started | Happened::Exited => {}
        }
    }

    /// When the image was complete, in nanoseconds since the Unix epoch.
    pub fn image(&self) -> Option<i64> {
        self.image
    }

    /// When containerd recorded the container of a pod, in nanoseconds since the Unix epoch.
    pub fn container(&self, pod: usize) -> Option<i64> {
        self.containers.get(&pod).copied()
    }

    /// Counts these layers, listed from the lowest, and how many of them were unpacked.
    fn layers(&self, layers: &[String]) -> PulledLayers {
        let names = chains(layers);
        let unpacked = names.iter().filter(|name| self.unpacked.contains(*name));
        let count = |layers: usize| u32::try_from(layers).unwrap_or(u32::MAX);
        PulledLayers {
            all: count(layers.len()),
            unpacked: count(unpacked.count()),
        }
    }
}

impl Course<'_> {
    /// What became of the layers of the image, if it was pulled and has any.
    pub(super) async fn pulled_layers(&self, pull: &PullEvents) -> Option<PulledLayers> {
        let containerd = &self.runtime.as_ref()?.containerd;
        pull.image?;
        let image = containerd.node_image(self.image()).await;
        let image = image.unwrap_or_else(|error| {
            progress(&format!("the image's layers are not known: {error}"));
            None
        })?;
        (!image.layers.is_empty()).then(|| pull.layers(&image.layers))
    }
}

/// The names of unpacked layers, each including all layers below it: OCI's chain IDs.
fn chains(layers: &[String]) -> Vec<String> {
    let mut chain: Option<String> = None;
    let next = |layer: &String| {
        let next = match &chain {
            None => layer.clone(),
            Some(below) => format!("sha256:{}", sha256(format!("{below} {layer}").as_bytes())),
        };
        chain = Some(next.clone());
        next
    };
    layers.iter().map(next).collect()
}

/// Parses the kubelet's event about a successful pull, from the image name on:
/// `"a" in 1.2s (1.3s including waiting). Image size: 42 bytes.`
pub fn parse_message(message: &str) -> Option<ImagePull> {
    let (_, rest) = message.rsplit_once("\" in ")?;
    let (took, rest) = rest.split_once(" (")?;
    let (waited, rest) = rest.split_once(" including waiting)")?;
    let size = rest.split_once("Image size: ").and_then(|(_, rest)| {
        let (size, _) = rest.split_once(" bytes")?;
        size.parse().ok()
    });
    Some(ImagePull {
        milliseconds: milliseconds(took)?,
        with_waiting_milliseconds: milliseconds(waited)?,
        image_bytes: size,
    })
}

/// Whole milliseconds of a duration as Go prints it: `1h2m3.5s`, `250ms`, `0s`.
fn milliseconds(text: &str) -> Option<u64> {
    let mut rest = text;
    let mut sum = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| c != '.' && !c.is_ascii_digit())?;
        let number: f64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let end = rest.find(|c: char| c == '.' || c.is_ascii_digit());
        let (unit, after) = rest.split_at(end.unwrap_or(rest.len()));
        rest = after;
        sum += number
            * match unit {
                "h" => 3_600_000.0,
                "m" => 60_000.0,
                "s" => 1000.0,
                "ms" => 1.0,
                "µs" => 1e-3,
                "ns" => 1e-6,
                _ => return None,
            };
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a duration without a sign"
    )]
    let whole = (sum + 1e-6) as u64;
    (!text.is_empty()).then_some(whole)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn event(of: &str, happened: Happened, at: i64) -> RuntimeEvent {
        let of = of.to_owned();
        RuntimeEvent { of, happened, at }
    }

    #[test]
    fn the_first_event_of_the_image_and_those_of_the_pods_count() {
        let mut pull = PullEvents::new("team/a:1");
        for (event, pod) in [
            (event("docker.io/other:1", Happened::ImageCreated, 1), None),
            (event("docker.io/team/a:1", Happened::ImageCreated, 2), None),
            (event("docker.io/team/a:1", Happened::ImageCreated, 3), None),
            (event("c", Happened::Recorded, 4), Some(1)),
            (event("s", Happened::Recorded, 5), None),
            (event("c", Happened::Created, 6), Some(0)),
        ] {
            pull.note(&event, pod);
        }
        assert_eq!(pull.image(), Some(2));
        assert_eq!((pull.container(0), pull.container(1)), (None, Some(4)));
    }

    #[test]
    fn layers_already_there_are_distinguished_from_unpacked_ones() {
        let layers = ["sha256:a", "sha256:b"].map(str::to_owned);
        let upper = format!("sha256:{}", sha256(b"sha256:a sha256:b"));
        let mut pull = PullEvents::new("a");
        let count = |pull: &PullEvents| (pull.layers(&layers).all, pull.layers(&layers).unpacked);
        assert_eq!(count(&pull), (2, 0));
        pull.note(&event("sha256:b", Happened::LayerUnpacked, 1), None);
        assert_eq!(count(&pull), (2, 0), "another image's lowest layer");
        pull.note(&event(&upper, Happened::LayerUnpacked, 2), None);
        assert_eq!(count(&pull), (2, 1));
        pull.note(&event("sha256:a", Happened::LayerUnpacked, 3), None);
        assert_eq!(count(&pull), (2, 2));
    }

    #[test]
    fn the_kubelets_message_about_a_pull_is_parsed() {
        let message = r#""h:5000/a in b:1" in 234ms (1m2.345s including waiting). Image size: 4227376 bytes."#;
        let pull = ImagePull {
            milliseconds: 234,
            with_waiting_milliseconds: 62_345,
            image_bytes: Some(4_227_376),
        };
        assert_eq!(parse_message(message), Some(pull));
        // Before Kubernetes 1.30 there was no size.
        let old = parse_message(r#""a" in 1.2s (1.2s including waiting)"#).unwrap();
        assert_eq!((old.milliseconds, old.image_bytes), (1200, None));
        for none in [
            "",
            "\"a\"",
            "\"a\" in a while",
            "\"a\" in 1s (2 including waiting)",
        ] {
            assert_eq!(parse_message(none), None, "{none}");
        }
    }

    #[test]
    fn durations_are_read_as_go_prints_them() {
        for (text, expected) in [
            ("0s", Some(0)),
            ("7ms", Some(7)),
            ("1.001s", Some(1001)),
            ("1h0m0.5s", Some(3_600_500)),
            ("999.9µs", Some(0)),
            ("", None),
            ("5", None),
            ("s", None),
            ("-1s", None),
            ("1d", None),
        ] {
            assert_eq!(milliseconds(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_message_is_parsed_without_a_panic(message in "\\PC{0,80}", took in "[0-9.hmnsµ]{0,12}") {
            let _ = parse_message(&message);
            let _ = milliseconds(&took);
        }

        #[test]
        fn milliseconds_survive_being_printed(whole in 0u64..60_000) {
            let text = format!("{}.{:03}s", whole / 1000, whole % 1000);
            prop_assert_eq!(milliseconds(&text), Some(whole));
        }
    }
}
