//! JSON that people can read and that stays small: indented down to the fields of a list's entries,
//! compact below. The types determine numbers and order, so the same value always gives the same
//! bytes.

use std::io;

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

/// Levels of objects and arrays whose contents get their own lines: document, list, entry.
const INDENTED_LEVELS: usize = 3;

/// `value` as JSON with a newline at the end.
pub fn pretty(value: &impl Serialize) -> Result<String, serde_json::Error> {
    let mut bytes = vec![];
    let formatter = Shallow {
        level: 0,
        empty: true,
    };
    value.serialize(&mut Serializer::with_formatter(&mut bytes, formatter))?;
    bytes.push(b'\n');
    // serde_json writes only UTF-8, so nothing is ever replaced here.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

struct Shallow {
    level: usize,
    empty: bool,
}

impl Shallow {
    fn open<W: io::Write + ?Sized>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.level += 1;
        self.empty = true;
        writer.write_all(bracket)
    }

    fn next<W: io::Write + ?Sized>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.empty = false;
        writer.write_all(if first { b"" } else { b"," })?;
        if self.level <= INDENTED_LEVELS {
            self.line(writer)
        } else {
            Ok(())
        }
    }

    fn close<W: io::Write + ?Sized>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        let indented = self.level <= INDENTED_LEVELS && !self.empty;
        self.level = self.level.saturating_sub(1);
        self.empty = false;
        if indented {
            self.line(writer)?;
        }
        writer.write_all(bracket)
    }

    fn line<W: io::Write + ?Sized>(&self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b"\n")?;
        (0..self.level).try_for_each(|_| writer.write_all(b" "))
    }
}

impl Formatter for Shallow {
    /// Whole numbers are written without `.0`: most byte counts and many rates are whole.
    fn write_f64<W: io::Write + ?Sized>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        write!(writer, "{value}")
    }

    fn begin_array<W: io::Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open(writer, b"[")
    }

    fn end_array<W: io::Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(writer, b"]")
    }

    fn begin_array_value<W: io::Write + ?Sized>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.next(writer, first)
    }

    fn begin_object<W: io::Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open(writer, b"{")
    }

    fn end_object<W: io::Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(writer, b"}")
    }

    fn begin_object_key<W: io::Write + ?Sized>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.next(writer, first)
    }

    fn begin_object_value<W: io::Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(if self.level <= INDENTED_LEVELS {
            b": "
        } else {
            b":"
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn lists_of_objects_are_indented_and_their_columns_are_not() {
        let value =
            json!({"cells": [{"rps": {"low": 1, "high": 2}, "trials": [1, 2]}], "none": []});
        let expected = "{\n \"cells\": [\n  {\n   \"rps\": {\"high\":2,\"low\":1},\n   \
                        \"trials\": [1,2]\n  }\n ],\n \"none\": []\n}\n";
        assert_eq!(pretty(&value).unwrap(), expected);
    }

    #[test]
    fn pretty_json_reads_back_as_the_same_value() {
        let value = json!({"a": [[], {}, [{"b": [{"c": "\"\n"}]}]], "d": null, "e": 0.1});
        assert_eq!(
            serde_json::from_str::<Value>(&pretty(&value).unwrap()).unwrap(),
            value
        );
    }
}
