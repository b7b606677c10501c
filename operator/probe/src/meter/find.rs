//! Finds a pod's cgroup by the pod's uid, wherever the kubelet keeps its tree: at the top
//! (`kubepods.slice`), below a parent (`kubelet/kubepods`), or nested in the cgroup of a node that
//! is a container itself (`docker/<id>/kubelet/...`).

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

/// kind in a nested runtime needs eight levels; the bound only stops a walk that went wrong.
const MAX_DEPTH: usize = 16;
/// A full node has some thousand cgroups.
const MAX_DIRECTORIES: usize = 50_000;
/// Most directories of one pod that are looked at.
const MAX_FOUND: usize = 8;

/// Directories of the pod below `root`, the shallowest first. The walk does not follow links and
/// does not enter what it has found.
pub fn pod_directories(root: &Path, uid: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    // Without a whole uid, `pod` or `-pod.slice` would match somebody else's.
    if uid.len() < 8
        || !uid
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    {
        return found;
    }
    let mut queue = VecDeque::from([(root.to_owned(), 0)]);
    let mut visited = 0;
    while let Some((directory, depth)) = queue.pop_front() {
        visited += 1;
        if visited > MAX_DIRECTORIES || found.len() >= MAX_FOUND {
            break;
        }
        for child in directories(&directory) {
            let name = child.file_name().unwrap_or_default().to_string_lossy();
            if is_pod(&name, uid) {
                found.push(child);
            } else if depth < MAX_DEPTH {
                queue.push_back((child, depth + 1));
            }
        }
    }
    found
}

/// The directories in a directory, sorted so that two walks find the same first one.
pub fn directories(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(directory) else {
        return Vec::new();
    };
    let is_directory = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    let mut paths: Vec<_> = entries
        .flatten()
        .filter(is_directory)
        .map(|entry| entry.path())
        .collect();
    paths.sort();
    paths
}

/// `pod<uid>` under the cgroupfs driver; `kubepods-<class>-pod<uid>.slice`, with underscores in
/// the uid, under the systemd driver.
pub fn is_pod(name: &str, uid: &str) -> bool {
    if name.strip_prefix("pod") == Some(uid) {
        return true;
    }
    let slice = name
        .strip_suffix(".slice")
        .and_then(|name| name.rsplit_once("-pod"));
    slice.is_some_and(|(_, written)| written == uid.replace('-', "_"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const UID: &str = "0f3c0a52-7f9e-4f6e-9d0a-2b0f5a3f1c11";

    #[test]
    fn the_names_of_both_drivers_are_recognised() {
        let systemd = "kubepods-burstable-pod0f3c0a52_7f9e_4f6e_9d0a_2b0f5a3f1c11.slice";
        assert!(is_pod(&format!("pod{UID}"), UID));
        assert!(is_pod(systemd, UID));
        assert!(is_pod(
            "kubepods-pod0f3c0a52_7f9e_4f6e_9d0a_2b0f5a3f1c11.slice",
            UID
        ));
        assert!(!is_pod(&format!("pod{UID}0"), UID));
        assert!(!is_pod(&format!("xpod{UID}"), UID));
        assert!(!is_pod(&format!("{systemd}.scope"), UID));
    }

    #[test]
    fn an_invalid_uid_matches_nothing() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("pod")).unwrap();
        fs::create_dir(root.path().join("kubepods-pod.slice")).unwrap();
        for uid in ["", "..", "../../..", "a/b/c/d/e/f", "short"] {
            assert!(pod_directories(root.path(), uid).is_empty(), "{uid}");
        }
    }

    #[test]
    fn links_are_not_followed() {
        let root = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(root.path(), root.path().join("loop")).unwrap();
        assert!(pod_directories(root.path(), UID).is_empty());
    }

    proptest! {
        #[test]
        fn a_pod_is_found_at_any_depth(path in "([a-z]{1,6}/){0,10}") {
            let root = tempfile::tempdir().unwrap();
            let pod = root.path().join(path).join(format!("pod{UID}"));
            fs::create_dir_all(pod.join("container")).unwrap();
            prop_assert_eq!(pod_directories(root.path(), UID), vec![pod]);
        }
    }
}
