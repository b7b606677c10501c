//! Which numbers are left out of JSON.

/// Whether a count is zero, which needs no field.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls it with a reference"
)]
pub const fn is_zero(count: &u32) -> bool {
    *count == 0
}
