//! What the API server reports about an object that it refuses, and the kubelet about a waiting container,
//! whoever created its pod, and whether waiting longer can help. Pure.

use crate::quote::quotation;

/// What the API server reports when a namespace's quota currently leaves no room. It has no separate
/// reason code for that.
const OVER_QUOTA: &str = "exceeded quota";

/// A namespace accepts pods only once the cluster has created its service account: when namespace
/// and run are applied together, that happens after the run is created.
const NO_ACCOUNT_YET: &str = "error looking up service account";

/// What containerd or the kubelet reports when a response took too long: it retries, and a busy node
/// gets there in the end.
const TOO_SLOW: [&str; 2] = ["DeadlineExceeded", "context deadline exceeded"];

/// Parts of messages of the kubelet and containerd about an image with something missing, and what to do.
const REMEDIES: [(&str, &str); 4] = [
    (
        "non-numeric user",
        "the kubelet does not look up names: set container.runAsUser (and runAsGroup) to the user's number, or write \
         it into the image (USER 1000:1000)",
    ),
    (
        "image will run as root",
        "a service does not run as root here: set container.runAsUser to a number of 1 or more with which it works, or \
         write it into the image (USER 1000:1000)",
    ),
    (
        "no command specified",
        "the image names no program: set container.command",
    ),
    NOT_EXECUTABLE,
];
/// What the kernel reports about a program that it cannot execute, and what to do.
const NOT_EXECUTABLE: (&str, &str) = (
    "exec format error",
    "the image's program is for another architecture than the node's, or a script without '#!': build the image for \
     the node's kubernetes.io/arch, or choose nodes of the image's by spec.placement.nodeSelector",
);
/// Parts of messages about an image that exists, but not for the node.
const OTHER_PLATFORM: [&str; 3] = [
    "no match for platform",
    "no matching manifest for",
    "no image found in manifest list for",
];
/// What to do about that.
const PLATFORM: &str = "the image has no manifest for the node's platform, such as linux/amd64: build it for the node's \
    kubernetes.io/arch, too, or choose nodes of the image's by spec.placement.nodeSelector";
/// What to do about anything else.
const CHECK: &str = "check the image's entrypoint, user and runtime";

/// What is wrong with a container that will never run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hopeless {
    /// Its image cannot be obtained.
    Image,
    /// It cannot be created or started from its image.
    Container,
}

/// Whether the API server refuses an object because the quota has no room for it now.
pub fn is_over_quota(code: u16, message: &str) -> bool {
    code == 403 && message.contains(OVER_QUOTA)
}

/// Whether the API server refuses an object for good (policy, an invalid field).
pub fn is_refused(code: u16, message: &str) -> bool {
    let mut passing = [NO_ACCOUNT_YET, OVER_QUOTA].iter();
    matches!(code, 400 | 403 | 422) && !passing.any(|words| message.contains(words))
}

/// Why a container that waits for this `reason` will never run, and what to check; `None` if it
/// still may.
pub fn hopeless(reason: &str, message: &str) -> Option<(Hopeless, String)> {
    match reason {
        "ImagePullBackOff" | "InvalidImageName" | "ErrImageNeverPull" | "ImageInspectError" => {
            Some((Hopeless::Image, no_image(reason, message)))
        }
        "CreateContainerConfigError"
        | "CreateContainerError"
        | "RunContainerError"
        | "StartError"
            if !TOO_SLOW.iter().any(|slow| message.contains(slow)) =>
        {
            let known = REMEDIES.iter().find(|(text, _)| message.contains(text));
            let remedy = known.map_or(CHECK, |(_, remedy)| *remedy);
            Some((Hopeless::Container, with_remedy(reason, message, remedy)))
        }
        _ => None,
    }
}

/// What to do if the `output` of a container shows that the node cannot execute its program; `None`
/// if it shows something else.
pub fn not_executable(output: &str) -> Option<&'static str> {
    let (text, remedy) = NOT_EXECUTABLE;
    output.contains(text).then_some(remedy)
}

/// What to do about a container that ended for this `reason` of the kubelet while it should serve.
pub fn crash_remedy(reason: &str) -> &'static str {
    match reason {
        "OOMKilled" => "raise the memory limit",
        _ => "see why it does not keep serving",
    }
}

/// The message for an image that cannot be obtained.
pub fn no_image(reason: &str, message: &str) -> String {
    let platform = platform(message);
    let is_other = OTHER_PLATFORM.iter().any(|text| message.contains(text));
    match (is_other, platform) {
        (true, Some(platform)) => {
            let remedy = PLATFORM.replace("the node's platform, such as linux/amd64", platform);
            with_remedy(reason, message, &remedy)
        }
        (true, None) => with_remedy(reason, message, PLATFORM),
        (false, _) => with_remedy(
            reason,
            message,
            "check the image's name and the node's access to it",
        ),
    }
}

fn with_remedy(reason: &str, message: &str, remedy: &str) -> String {
    if message.is_empty() {
        return format!("{reason}: {remedy}");
    }
    format!("{reason}: {}: {remedy}", quotation(message))
}

/// The platform that a message names, such as `linux/amd64`.
fn platform(message: &str) -> Option<&str> {
    let mut words = message.split(|c: char| c.is_whitespace() || ",:;()\"'".contains(c));
    words.find(|word| word.starts_with("linux/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn container_errors_are_final_but_a_slow_runtime_is_waited_for() {
        let found = |reason, message| hopeless(reason, message).map(|(what, _)| what);
        assert_eq!(found("ImagePullBackOff", ""), Some(Hopeless::Image));
        let refused = found("CreateContainerError", "no command specified");
        assert_eq!(refused, Some(Hopeless::Container));
        for slow in [
            "context deadline exceeded",
            "rpc error: code = DeadlineExceeded desc = context deadline exceeded",
        ] {
            assert_eq!(found("CreateContainerError", slow), None, "{slow}");
        }
        assert_eq!(found("ContainerCreating", ""), None);
    }

    #[test]
    fn a_program_for_another_processor_is_reported_with_a_remedy() {
        let said = "failed to start: exec /app: exec format error";
        let (_, text) = hopeless("RunContainerError", said).unwrap();
        assert!(
            text.contains(said) && text.contains("kubernetes.io/arch"),
            "{text}"
        );
    }

    #[test]
    fn an_image_for_another_platform_is_no_matter_of_its_name() {
        let of_containerd = no_image(
            "ErrImagePull",
            "no match for platform in manifest: not found",
        );
        assert!(of_containerd.contains("no manifest for the node's platform, such as linux/amd64"));
        let of_docker = "no matching manifest for linux/arm64/v8 in the manifest list entries";
        let text = no_image("ErrImagePull", of_docker);
        assert!(
            text.contains("the image has no manifest for linux/arm64/v8: build it"),
            "{text}"
        );
        assert!(!text.contains("check the image's name"), "{text}");
        let other = no_image("ErrImagePull", "not found");
        assert!(other.contains("check the image's name"), "{other}");
    }

    #[test]
    fn a_remedy_is_short_enough_to_survive_where_its_quotation_does_not() {
        let shown = 300;
        let remedies = REMEDIES.iter().map(|(_, remedy)| *remedy);
        for remedy in remedies.chain([PLATFORM, CHECK]) {
            let message = with_remedy("a", &"x".repeat(2000), remedy);
            assert!(
                crate::quote::shorten(&message, shown).ends_with(remedy),
                "{remedy}"
            );
        }
    }

    #[test]
    fn missing_image_settings_are_remedied_by_fields_of_the_run() {
        for (reason, message, remedy) in [
            (
                "CreateContainerConfigError",
                "container has runAsNonRoot and image has non-numeric user (node), cannot verify user is non-root",
                "container.runAsUser",
            ),
            (
                "CreateContainerConfigError",
                "container has runAsNonRoot and image will run as root (pod: a, container: subject)",
                "container.runAsUser",
            ),
            (
                "CreateContainerError",
                "failed to create containerd container: no command specified",
                "container.command",
            ),
        ] {
            let (_, text) = hopeless(reason, message).unwrap();
            assert!(text.contains(message) && text.contains(remedy), "{text}");
        }
    }
}
