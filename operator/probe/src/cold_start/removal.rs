//! Removes the subject's image from the node before a sample that must pull it, unless someone else
//! needs it: an image that others run, or could not pull again, stays.

use std::time::Duration;

use tokio::time::{Instant, sleep};
use wasmbench_model::wire::cold_start::IMAGE_REMOVAL_SECONDS;
use wasmbench_model::wire::failure::{Failure, FailureReason};

use super::failure;
use super::runtime::unavailable;
use super::sample::Course;
use crate::containerd::Containerd;
use crate::containerd::cri::{NodeImage, User};
use crate::containerd::images::full_name;
use crate::output::progress;

/// Within a minute, the kubelet removes what is left of an ended pod.
const ENDED_PATIENCE: Duration = Duration::from_secs(IMAGE_REMOVAL_SECONDS as u64 - 10);
/// A pod of the previous trial may still be terminating.
const RUNNING_PATIENCE: Duration = Duration::from_secs(15);
const PAUSE: Duration = Duration::from_millis(200);

/// What to do with an image next.
#[derive(Debug, PartialEq, Eq)]
enum Next {
    /// The image has to stay, for this reason.
    Stay(String),
    /// These containers of our own ended pods hold the image: they go first.
    Clear(Vec<String>),
    /// Someone else's pod uses it.
    Wait { pod: String, has_ended: bool },
    /// Nobody uses it.
    Remove,
}

/// Which pods are ours: those in this namespace whose names begin with the prefix.
struct Own<'a> {
    namespace: &'a str,
    prefix: String,
}

impl Course<'_> {
    /// Removes the image; returns whether it was there.
    pub(super) async fn remove_image(&self, containerd: &Containerd) -> Result<bool, Failure> {
        let began = Instant::now();
        let meta = &self.request.pod.metadata;
        let own = Own {
            namespace: meta.namespace.as_deref().unwrap_or_default(),
            prefix: format!("{}-", meta.name.as_deref().unwrap_or_default()),
        };
        let mut was_there = false;
        let mut obstacle = "it is there again: see what else pulls it onto the node".to_owned();
        let failed = |error| unavailable(&error);
        while let Some(image) = containerd.node_image(self.image()).await.map_err(failed)? {
            if began.elapsed() > ENDED_PATIENCE {
                return Err(must_stay(&obstacle));
            }
            was_there = true;
            let users = containerd.users(&image.id).await.map_err(failed)?;
            match next(&image, self.image(), &users, &own) {
                Next::Stay(why) => return Err(must_stay(&why)),
                Next::Wait { pod, has_ended }
                    if !has_ended && began.elapsed() > RUNNING_PATIENCE =>
                {
                    return Err(must_stay(&in_use(&pod)));
                }
                Next::Wait { pod, .. } => obstacle = in_use(&pod),
                Next::Clear(left) => {
                    // The kubelet may remove them at the same moment, which makes one of the two
                    // fail.
                    for id in left {
                        if let Err(error) = containerd.remove_container(&id).await {
                            obstacle = format!("what a sample before left is in the way ({error})");
                            progress(&obstacle);
                        }
                    }
                }
                Next::Remove => {
                    containerd.remove_image(&image.id).await.map_err(failed)?;
                    continue;
                }
            }
            sleep(PAUSE).await;
        }
        Ok(was_there)
    }
}

fn next(image: &NodeImage, requested: &str, users: &[User], own: &Own<'_>) -> Next {
    if let Some(why) = must_remain(image, requested) {
        return Next::Stay(why);
    }
    let is_own =
        |user: &&User| user.namespace == own.namespace && user.pod.starts_with(&own.prefix);
    let others = users.iter().filter(|user| !is_own(user));
    // A running pod comes first: the wait for it is shorter.
    if let Some(other) = others.min_by_key(|user| user.has_ended) {
        return Next::Wait {
            pod: format!("{}/{}", other.namespace, other.pod),
            has_ended: other.has_ended,
        };
    }
    if users.is_empty() {
        return Next::Remove;
    }
    // The pods of earlier samples are gone from the API: nobody starts these containers again.
    Next::Clear(users.iter().map(|user| user.id.clone()).collect())
}

/// Why the image must remain, whoever uses it.
fn must_remain(image: &NodeImage, requested: &str) -> Option<String> {
    if image.pinned {
        return Some("it is pinned on the node: use another image".into());
    }
    let names = || image.tags.iter().chain(&image.digests);
    let requested = full_name(requested);
    if let Some(other) = names().find(|name| repository(name) != repository(&requested)) {
        return Some(format!(
            "the node has it as {other}, too, which would go with it: remove that name from the node \
             (crictl rmi), or use an image of its own"
        ));
    }
    image.digests.is_empty().then(|| {
        "it was put onto the node by hand and not pulled, so that perhaps nobody could pull it again: if its \
         registry has it, remove it from the node once (crictl rmi)"
            .into()
    })
}

/// A full name without tag and digest.
fn repository(name: &str) -> &str {
    let name = name.split('@').next().unwrap_or_default();
    match name.rsplit_once(':') {
        Some((before, tag)) if !tag.contains('/') => before,
        Some(_) | None => name,
    }
}

fn in_use(pod: &str) -> String {
    format!(
        "pod {pod} on this node uses it: remove that pod, measure on another node (spec.placement), or use an \
         image of its own"
    )
}

fn must_stay(why: &str) -> Failure {
    let message = format!("the class NodeCold needs the image removed from the node, and {why}");
    failure(FailureReason::ImageNotRemovable, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUESTED: &str = "host:5000/team/a:1";

    fn image(tags: &[&str], digests: &[&str]) -> NodeImage {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        NodeImage {
            id: "sha256:i".into(),
            tags: owned(tags),
            digests: owned(digests),
            ..NodeImage::default()
        }
    }

    fn pulled() -> NodeImage {
        image(&[REQUESTED], &["host:5000/team/a@sha256:m"])
    }

    fn user(namespace: &str, pod: &str, has_ended: bool) -> User {
        User {
            id: format!("container of {pod}"),
            namespace: namespace.into(),
            pod: pod.into(),
            has_ended,
        }
    }

    fn next_of(image: &NodeImage, users: &[User]) -> Next {
        let own = Own {
            namespace: "team-a",
            prefix: "cold-".into(),
        };
        next(image, REQUESTED, users, &own)
    }

    fn reason(image: &NodeImage) -> String {
        let next = next_of(image, &[]);
        let Next::Stay(why) = next else {
            panic!("{next:?}");
        };
        why
    }

    #[test]
    fn an_unused_image_is_removed() {
        assert_eq!(next_of(&pulled(), &[]), Next::Remove);
        let two_tags = image(
            &[REQUESTED, "host:5000/team/a:2"],
            &["host:5000/team/a@sha256:m"],
        );
        assert_eq!(next_of(&two_tags, &[]), Next::Remove);
    }

    #[test]
    fn an_image_without_digest_with_another_name_or_pinned_stays() {
        assert!(reason(&image(&[REQUESTED], &[])).contains("by hand"));
        let other = image(
            &["localhost/a:1", REQUESTED],
            &["host:5000/team/a@sha256:m"],
        );
        assert!(
            reason(&other).contains("localhost/a:1"),
            "{}",
            reason(&other)
        );
        let pinned = NodeImage {
            pinned: true,
            ..pulled()
        };
        assert!(reason(&pinned).contains("pinned"));
    }

    #[test]
    fn containers_of_earlier_samples_go_first_and_others_are_waited_for() {
        let own = [
            user("team-a", "cold-0-0", true),
            user("team-a", "cold-0-1", true),
        ];
        let ids = own.iter().map(|user| user.id.clone()).collect();
        assert_eq!(next_of(&pulled(), &own), Next::Clear(ids));
        for (namespace, pod, has_ended) in [
            ("team-b", "cold-0-0", true),
            ("team-a", "server", false),
            ("team-a", "colder", true),
        ] {
            let users = [own[0].clone(), user(namespace, pod, has_ended)];
            let pod = format!("{namespace}/{pod}");
            assert_eq!(next_of(&pulled(), &users), Next::Wait { pod, has_ended });
        }
    }

    #[test]
    fn a_running_container_of_others_counts_before_an_ended_one() {
        let users = [user("b", "ended", true), user("b", "runs", false)];
        let pod = "b/runs".to_owned();
        let wait = Next::Wait {
            pod,
            has_ended: false,
        };
        assert_eq!(next_of(&pulled(), &users), wait);
    }

    #[test]
    fn a_repository_is_a_name_without_tag_and_digest() {
        for (name, expected) in [
            ("host:5000/a:1", "host:5000/a"),
            ("host:5000/a", "host:5000/a"),
            ("host:5000/a@sha256:00", "host:5000/a"),
            ("host/a:1@sha256:00", "host/a"),
        ] {
            assert_eq!(repository(name), expected);
        }
    }
}
