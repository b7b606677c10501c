//! A table whose keys are never mistaken for one another.
//!
//! One wake-up of the loop can bring an event for a socket that an earlier event of the same
//! wake-up has closed, and whose place is already taken again. The generation in the key
//! distinguishes the two.

/// A place in a [`Slab`] and the generation of the value in it. Fits in 62 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    index: u32,
    generation: u32,
}

impl Key {
    pub fn to_bits(self) -> u64 {
        u64::from(self.generation) << 32 | u64::from(self.index)
    }

    #[expect(clippy::cast_possible_truncation, reason = "the two halves of to_bits")]
    pub fn from_bits(bits: u64) -> Self {
        Self {
            index: bits as u32,
            generation: (bits >> 32) as u32,
        }
    }
}

struct Place<T> {
    generation: u32,
    value: Option<T>,
}

/// Values under keys that are assigned on insertion.
pub(crate) struct Slab<T> {
    places: Vec<Place<T>>,
    free: Vec<u32>,
}

impl<T> Slab<T> {
    pub fn new() -> Self {
        Self {
            places: Vec::new(),
            free: Vec::new(),
        }
    }

    pub fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// The key that the next [`Slab::insert`] will return.
    pub fn next_key(&self) -> Key {
        match self.free.last() {
            Some(&index) => Key {
                index,
                generation: self.places[index as usize].generation,
            },
            None => Key {
                index: index_of(self.places.len()),
                generation: 0,
            },
        }
    }

    pub fn insert(&mut self, value: T) -> Key {
        let key = self.next_key();
        match self.free.pop() {
            Some(index) => self.places[index as usize].value = Some(value),
            None => self.places.push(Place {
                generation: 0,
                value: Some(value),
            }),
        }
        key
    }

    pub fn get_mut(&mut self, key: Key) -> Option<&mut T> {
        let place = self.places.get_mut(key.index as usize)?;
        if place.generation == key.generation {
            place.value.as_mut()
        } else {
            None
        }
    }

    pub fn remove(&mut self, key: Key) -> Option<T> {
        let place = self.places.get_mut(key.index as usize)?;
        if place.generation != key.generation {
            return None;
        }
        let value = place.value.take()?;
        // 30 bits: the highest two bits of a token belong to its owner.
        place.generation = place.generation.wrapping_add(1) & (u32::MAX >> 2);
        self.free.push(key.index);
        Some(value)
    }

    pub fn iter(&self) -> impl Iterator<Item = (Key, &T)> {
        self.places.iter().enumerate().filter_map(|(index, place)| {
            let key = Key {
                index: index_of(index),
                generation: place.generation,
            };
            place.value.as_ref().map(|value| (key, value))
        })
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the cap of connections is far below 2^32"
)]
fn index_of(index: usize) -> u32 {
    index as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_of_a_removed_value_does_not_find_its_successor() {
        let mut slab = Slab::new();
        let first = slab.insert('a');
        assert_eq!(slab.remove(first), Some('a'));
        let expected = slab.next_key();
        let second = slab.insert('b');
        assert_eq!(expected, second);
        assert_eq!(slab.get_mut(first), None);
        assert_eq!(slab.remove(first), None);
        assert_eq!(
            slab.get_mut(Key::from_bits(second.to_bits())),
            Some(&mut 'b')
        );
        assert_eq!(slab.len(), 1);
    }
}
