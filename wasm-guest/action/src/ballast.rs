//! Code that a module has in addition to its work: functions of a realistic size, all different,
//! one of which can be called. The compiler can omit none, because which one is unknown to it.

use std::hint::black_box;

/// A function that changes its numbers in a way of its own.
pub type Piece = fn(&mut [u64; 8]) -> u64;

/// Steps of a piece. The digits of the piece's number determine the kind of each step.
const STEPS: u64 = 6;

/// Returns what the piece with this number makes of it; numbers beyond the last start over.
pub fn call(ballast: &[Piece], number: u64) -> u64 {
    let count = ballast.len() as u64;
    // It is below the count, which is a length.
    let index = usize::try_from(number % count.max(1)).unwrap_or_default();
    let mut state = [number; 8];
    ballast
        .get(index)
        .map_or(0, |piece| black_box(*piece)(&mut state))
}

/// The piece with this number.
#[inline(never)]
pub fn piece<const NUMBER: u64>(state: &mut [u64; 8]) -> u64 {
    let mut step = 0;
    while step < STEPS {
        let constant = mixed(NUMBER ^ (step << 32));
        match (NUMBER >> (2 * step)) & 3 {
            0 => rotate(state, constant),
            1 => sort(state, constant),
            2 => digits(state, constant),
            _ => divide(state, constant),
        }
        step += 1;
    }
    state.iter().fold(NUMBER, |sum, word| sum ^ word)
}

#[inline(always)]
#[expect(
    clippy::inline_always,
    reason = "each piece is to have it with its constant"
)]
fn rotate(state: &mut [u64; 8], constant: u64) {
    for (index, word) in state.iter_mut().enumerate() {
        let turn = u32::try_from(index).unwrap_or_default() + 1;
        *word = (*word ^ constant.rotate_left(turn)).wrapping_mul(constant | 1);
    }
}

#[inline(always)]
#[expect(
    clippy::inline_always,
    reason = "each piece is to have it with its constant"
)]
fn sort(state: &mut [u64; 8], constant: u64) {
    for index in 1..state.len() {
        if state[index - 1] ^ constant > state[index] {
            state.swap(index - 1, index);
        }
    }
}

#[inline(always)]
#[expect(
    clippy::inline_always,
    reason = "each piece is to have it with its constant"
)]
fn digits(state: &mut [u64; 8], constant: u64) {
    let mut rest = state[0] ^ constant;
    while rest > constant & 0xffff {
        let digit = rest % 10;
        state[(digit & 7) as usize] ^= digit.wrapping_add(constant);
        rest /= 10;
    }
}

#[inline(always)]
#[expect(
    clippy::inline_always,
    reason = "each piece is to have it with its constant"
)]
fn divide(state: &mut [u64; 8], constant: u64) {
    let [first, second, rest @ ..] = state;
    if *second > constant {
        *first = first.wrapping_add(*second / ((constant & 0xff) + 3));
    } else {
        *second = second.wrapping_sub(*first % ((constant & 0xfff) + 7));
    }
    for word in rest {
        *word = word.wrapping_add(*first & constant);
    }
}

/// The finalizer of SplitMix64: neighbouring numbers give unrelated ones.
const fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const ALL: [Piece; 4] = [piece::<0>, piece::<1>, piece::<2>, piece::<3>];

    #[test]
    fn each_piece_is_a_different_function_and_numbers_wrap_around() {
        let answers: BTreeSet<u64> = ALL.iter().map(|piece| piece(&mut [7; 8])).collect();
        assert_eq!(answers.len(), ALL.len());
        assert_eq!(call(&ALL, 0), piece::<0>(&mut [0; 8]));
        assert_eq!(call(&ALL, 5), piece::<1>(&mut [5; 8]));
        assert_eq!(call(&[], 3), 0);
    }
}
