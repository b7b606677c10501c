//! Which kernel this process sees: the node's, or one that a sandbox puts between.

use std::fs::read_to_string;

const VERSION: &str = "/proc/version";
/// gVisor's, in all of its versions so far: it says that it was built when it was not.
const BUILD_OF_GVISOR: &str = "#1 SMP Sun Jan 10 15:06:54 PST 2016";

/// Its name, or that it does not tell.
pub fn seen() -> &'static str {
    named(&read_to_string(VERSION).unwrap_or_default())
}

fn named(version: &str) -> &'static str {
    if version.contains(BUILD_OF_GVISOR) || version.contains("gvisor") {
        "gvisor"
    } else if version.starts_with("Linux version ") {
        "linux"
    } else {
        "unknown"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_in_user_space_is_told_from_linux() {
        for (version, name) in [
            (
                "Linux version 4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016\n",
                "gvisor",
            ),
            (
                "Linux version 6.12.1 (b@h) (gcc (Debian 14.2.0-19) 14.2.0) #1 SMP PREEMPT_DYNAMIC\n",
                "linux",
            ),
            ("", "unknown"),
        ] {
            assert_eq!(named(version), name);
        }
    }
}
