//! Settings from the environment.

/// A variable of the environment, or what is usual.
pub fn setting(name: &str, usual: &str) -> String {
    std::env::var(format!("WASMBENCH_{name}")).unwrap_or_else(|_| usual.to_owned())
}
