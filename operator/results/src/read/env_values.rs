//! Values of environment variables stay in the run. Reports are attached to tickets, so they name the variables and hold
//! a digest of each value, from which one sees only whether two runs had the same.

use sha2::{Digest, Sha256};
use wasmbench_api::run::Variant;
use wasmbench_model::store::hex;

/// Hex digits of a digest: enough to see a change, too few to be sure of a guessed value.
const DIGITS: usize = 8;

/// The variants with a digest in place of each value of their environments.
pub fn digested(variants: &[Variant]) -> Vec<Variant> {
    let mut variants = variants.to_vec();
    let containers = variants.iter_mut().filter_map(|one| one.container.as_mut());
    for variable in containers.flat_map(|container| &mut container.env) {
        variable.value = digest(&variable.value);
    }
    variants
}

fn digest(value: &str) -> String {
    let digits: String = hex(&Sha256::digest(value.as_bytes()))
        .chars()
        .take(DIGITS)
        .collect();
    format!("sha256:{digits}")
}
