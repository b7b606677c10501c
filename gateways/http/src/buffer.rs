//! Bytes that are appended at one end and consumed at the other.

/// A queue of bytes in contiguous memory.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    bytes: Vec<u8>,
    start: usize,
}

impl Buffer {
    pub fn unread(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    pub fn len(&self) -> usize {
        self.bytes.len() - self.start
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The end to append to.
    pub fn tail(&mut self) -> &mut Vec<u8> {
        // Moved only if the consumed part is the larger one, so fewer bytes are moved than were
        // consumed.
        if self.start > self.bytes.len() / 2 {
            self.bytes.drain(..self.start);
            self.start = 0;
        }
        &mut self.bytes
    }

    pub fn consume(&mut self, count: usize) {
        self.start += count.min(self.len());
        if self.start == self.bytes.len() {
            self.bytes.clear();
            self.start = 0;
            // A connection that once carried a large body does not keep its memory.
            self.bytes.shrink_to(KEPT_CAPACITY);
        }
    }

    pub fn clear(&mut self) {
        self.consume(self.len());
    }
}

/// Capacity that an empty buffer keeps: 64 MiB over 4,096 connections, and room for any usual head.
const KEPT_CAPACITY: usize = 16 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_leave_in_the_order_they_came() {
        let mut buffer = Buffer::default();
        buffer.tail().extend_from_slice(b"abcdef");
        buffer.consume(4);
        buffer.tail().extend_from_slice(b"gh");
        assert_eq!(buffer.unread(), b"efgh");
        buffer.consume(100);
        assert!(buffer.is_empty());
    }
}
