//! What the kubelet says about a waiting container, whoever created its pod, and whether waiting
//! longer can help. Pure.

/// What containerd or the kubelet says when a response took too long: it retries, and a busy node
/// gets there in the end.
const TOO_SLOW: [&str; 2] = ["DeadlineExceeded", "context deadline exceeded"];

/// What the kernel says about a program that it cannot execute.
const NO_PROGRAM: &str = "exec format error";

/// What is wrong with a container that will never run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hopeless {
    /// Its image cannot be obtained.
    Image,
    /// It cannot be created or started from its image.
    Container,
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
            let remedy =
                not_executable(message).unwrap_or("check the image's entrypoint, user and runtime");
            let text = format!("{reason}: {message}: {remedy}");
            Some((Hopeless::Container, text))
        }
        _ => None,
    }
}

/// What to do if a container `said` that the node cannot execute its program; `None` if it said
/// something else.
pub fn not_executable(said: &str) -> Option<&'static str> {
    let remedy = "the image's program is for another architecture than the node's, or a script without '#!': \
                  build the image for the node's kubernetes.io/arch, or choose nodes of the image's by \
                  spec.placement.nodeSelector";
    said.contains(NO_PROGRAM).then_some(remedy)
}

/// The message for an image that cannot be obtained.
pub fn no_image(reason: &str, message: &str) -> String {
    format!("{reason}: {message}: check the image's name and the node's access to it")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_container_with_an_error_is_given_up_and_a_slow_runtime_waited_for() {
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
    fn a_program_for_another_processor_is_told_with_what_to_do() {
        let said = "failed to start: exec /app: exec format error";
        let (_, text) = hopeless("RunContainerError", said).unwrap();
        assert!(
            text.contains(said) && text.contains("kubernetes.io/arch"),
            "{text}"
        );
    }
}
