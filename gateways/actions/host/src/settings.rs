//! Settings from the environment.

/// Returns the environment variable `WASMBENCH_{name}`, or `usual` if it is not set.
pub fn setting(name: &str, usual: &str) -> String {
    std::env::var(format!("WASMBENCH_{name}")).unwrap_or_else(|_| usual.to_owned())
}
