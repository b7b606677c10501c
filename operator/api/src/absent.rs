//! Which numbers are left out of JSON.

/// Whether a count is zero, which needs no field.
pub const fn is_zero(count: &u32) -> bool {
    *count == 0
}
