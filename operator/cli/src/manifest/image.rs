//! References of images, by the rules of the registries: what the CRD's pattern lets through and no
//! kubelet can pull.

/// How to write a reference.
const EXAMPLE: &str = "write it like registry.example.com/team/service:1.0";
/// The names by which kubectl takes objects that have pods, before the slash.
const KINDS: [&str; 20] = [
    "cronjob",
    "cronjobs",
    "daemonset",
    "daemonsets",
    "deploy",
    "deployment",
    "deployments",
    "deployments.apps",
    "ds",
    "job",
    "jobs",
    "pod",
    "pods",
    "replicaset",
    "rs",
    "service",
    "services",
    "statefulset",
    "statefulsets",
    "svc",
];

/// Why `text` is no reference of an image, with a remedy; `None` if it is one.
pub fn wrong(text: &str) -> Option<String> {
    let begins = text.starts_with(|c: char| c.is_ascii_alphanumeric());
    let allowed = |c: char| c.is_ascii_alphanumeric() || "._:/@-".contains(c);
    if !begins || text.len() > 512 || !text.chars().all(allowed) || text.contains("://") {
        return Some(format!("'{text}' is no reference of an image: {EXAMPLE}"));
    }
    let lower = repository(text).to_ascii_lowercase();
    (lower != repository(text)).then(|| {
        format!("'{text}': no registry has a repository with upper-case letters; write it in lower case: {lower}")
    })
}

/// Why `text` names an object rather than an image; `None` if it does not. `deploy/shop` would be the
/// image `shop` of somebody called `deploy`.
pub fn names_an_object(text: &str) -> Option<String> {
    let (kind, name) = text.split_once('/')?;
    let is_object = KINDS.contains(&kind) && !name.contains(['/', ':', '@']);
    is_object.then(|| {
        let remedy = remedy(kind, text);
        format!("'{text}' is an object of the cluster and no image: {remedy}")
    })
}

/// How to name an image instead of the object `text` of this kind.
fn remedy(kind: &str, text: &str) -> String {
    let pod = match kind {
        "service" | "services" | "svc" => {
            return "to measure what is behind it as it is, write --from deployment/NAME"
                .to_owned();
        }
        "pod" | "pods" => "{.spec",
        "cronjob" | "cronjobs" => "{.spec.jobTemplate.spec.template.spec",
        _ => "{.spec.template.spec",
    };
    format!(
        "give the image of its container, which this shows: kubectl get {text} -o jsonpath='{pod}.containers[*].image}}'"
    )
}

/// The reference without registry, tag and digest.
fn repository(text: &str) -> &str {
    let text = text.split('@').next().unwrap_or_default();
    let text = match text.rsplit_once(':') {
        Some((before, tag)) if !tag.contains('/') => before,
        _ => text,
    };
    match text.split_once('/') {
        Some((registry, rest)) if registry.contains(['.', ':']) || registry == "localhost" => rest,
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_is_lower_case_and_its_registry_and_tag_need_not_be() {
        for right in [
            "nginx",
            "localhost:5000/a/b:RC1",
            "Registry.example.com/team/service:1.0-RC",
            "team/service@sha256:12",
        ] {
            assert_eq!(wrong(right), None, "{right}");
        }
        for upper in [
            "Nginx",
            "registry.example.com/Team/service:1.0",
            "Team/service",
        ] {
            let message = wrong(upper).unwrap();
            assert!(message.contains("write it in lower case"), "{message}");
        }
        for none in ["", "https://a/b", "a b", "-a", "a\nb"] {
            assert!(wrong(none).unwrap().contains("service:1.0"), "{none}");
        }
    }

    #[test]
    fn an_object_has_a_command_that_shows_its_image_and_a_service_has_none() {
        for (object, shown_by) in [
            (
                "pod/shop-0",
                "kubectl get pod/shop-0 -o jsonpath='{.spec.containers[*].image}'",
            ),
            (
                "job/shop",
                "kubectl get job/shop -o jsonpath='{.spec.template.spec.containers[*].image}'",
            ),
            (
                "cronjob/shop",
                "-o jsonpath='{.spec.jobTemplate.spec.template.spec.containers[*].image}'",
            ),
            ("svc/shop", "write --from deployment/NAME"),
        ] {
            let message = names_an_object(object).unwrap();
            assert!(message.ends_with(shown_by), "{message}");
        }
    }

    #[test]
    fn an_object_is_distinguished_from_an_image() {
        for object in ["deploy/shop", "deployments.apps/shop", "pod/shop-0"] {
            assert!(
                names_an_object(object).unwrap().contains("no image"),
                "{object}"
            );
        }
        for image in [
            "shop",
            "team/shop",
            "docker.io/deploy/shop",
            "deploy/shop:1.0",
        ] {
            assert_eq!(names_an_object(image), None, "{image}");
        }
    }
}
