//! Which numbers JSON leaves out.

/// Whether a count is zero, and its field therefore left out.
pub const fn is_zero(count: &u32) -> bool {
    *count == 0
}
