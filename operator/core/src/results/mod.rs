//! Records to numbers, tables and reports. Pure: text and plain data in, text and plain data out.
