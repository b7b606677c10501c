//! Which numbers JSON leaves out, and which stand for those that it leaves out.

/// Whether a count is zero, and its field therefore left out.
pub const fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// The default `N` of a field, as serde asks for it.
pub const fn number<const N: u32>() -> u32 {
    N
}
