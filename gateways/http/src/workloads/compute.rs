//! CPU work in exact amounts: no step can be left out, because the next one needs it.

use sha2::{Digest, Sha256};

/// The last digest of a chain of SHA-256 that begins with 32 zero bytes.
pub fn sha256_chain(iterations: u32) -> [u8; 32] {
    (0..iterations).fold([0; 32], |digest, _| Sha256::digest(digest).into())
}

/// The same with BLAKE3, for which no processor has special instructions.
pub(super) fn blake3_chain(iterations: u32) -> [u8; 32] {
    (0..iterations).fold([0; 32], |digest, _| blake3::hash(&digest).into())
}

/// The Fibonacci number `n` by plain recursion: calls and additions, no memory.
pub(super) fn fibonacci(n: u32) -> u64 {
    // No number is ever this large. But because an addition may saturate, the compiler cannot turn
    // one of the two calls into a loop, which would halve the work.
    if n < 2 {
        n.into()
    } else {
        fibonacci(n - 1).saturating_add(fibonacci(n - 2))
    }
}

/// Appends bytes to `text` in hexadecimal.
pub(super) fn append_hex(bytes: &[u8], text: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for byte in bytes {
        text.push(DIGITS[usize::from(byte >> 4)]);
        text.push(DIGITS[usize::from(byte & 15)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        let mut text = Vec::new();
        append_hex(bytes, &mut text);
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn zero_iterations_give_32_zero_bytes_and_one_gives_their_digest() {
        assert_eq!(sha256_chain(0), [0; 32]);
        let known = "66687aadf862bd776c8fc18b8e9f8e20089714856ee233b3902a591d0d5f2925";
        assert_eq!(hex(&sha256_chain(1)), known);
        assert_eq!(blake3_chain(0), [0; 32]);
        let known = "2ada83c1819a5372dae1238fc1ded123c8104fdaa15862aaee69428a1820fcda";
        assert_eq!(hex(&blake3_chain(1)), known);
    }

    #[test]
    fn fibonacci_numbers_are_the_known_ones() {
        let found: Vec<u64> = (0..=10).map(fibonacci).collect();
        assert_eq!(found, [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55]);
        assert_eq!(fibonacci(20), 6765);
    }
}
