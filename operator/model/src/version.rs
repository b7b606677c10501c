//! Which build of wasmbench something is. Binaries have their build's tag (the environment variable
//! `WASMBENCH_BUILD` at compile time, which `hack/images` sets to a digest of the sources); this
//! crate does not, so that a new tag recompiles little.

/// Version of all crates.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A version with the tag of its build: `0.1.0 (build 3f2a91c05d7e)`.
pub fn describe(version: &str, build: Option<&str>) -> String {
    match tag(build) {
        Some(tag) => format!("{version} (build {tag})"),
        None => format!("{version} (build without a tag)"),
    }
}

/// The tag of a build that has one.
pub fn tag(build: Option<&str>) -> Option<&str> {
    build.filter(|tag| !tag.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_without_a_tag_is_marked() {
        assert_eq!(describe("0.1.0", Some("3f2a")), "0.1.0 (build 3f2a)");
        for none in [None, Some("")] {
            assert_eq!(describe("0.1.0", none), "0.1.0 (build without a tag)");
        }
    }
}
