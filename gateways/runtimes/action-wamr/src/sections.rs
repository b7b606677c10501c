//! What the runtime does not limit by itself, read from the sections of a module that it has
//! validated. Pure.

use action_host::engine::{MAX_TABLE_ELEMENTS, MAX_TABLES};

const TABLES: u8 = 4;
const MEMORIES: u8 = 5;
const START: u8 = 8;
/// Magic number and version.
const HEADER_BYTES: usize = 8;

/// Rejects a module whose tables are too large, or that would run before its time is watched. Returns
/// with how many pages its memory begins.
pub fn check(module: &[u8]) -> Result<u32, String> {
    let mut pages = 0;
    let mut rest = module.get(HEADER_BYTES..).unwrap_or_default();
    while let Some((id, content)) = section(&mut rest) {
        match id {
            START => {
                return Err("the module has a start section: build it as a WASI command".into());
            }
            MEMORIES => pages = memory_pages(content).unwrap_or(u32::MAX),
            TABLES => check_tables(content)?,
            _ => {}
        }
    }
    Ok(pages)
}

/// The runtime takes modules of one memory at most.
fn memory_pages(mut content: &[u8]) -> Option<u32> {
    match number(&mut content)? {
        0 => Some(0),
        _ => limits(&mut content).map(|(minimum, _)| minimum),
    }
}

fn check_tables(mut content: &[u8]) -> Result<(), String> {
    let count = number(&mut content).unwrap_or_default();
    if usize::try_from(count).is_ok_and(|count| count > MAX_TABLES) {
        return Err(format!("the module has more than {MAX_TABLES} tables"));
    }
    for _ in 0..count {
        // The type of its elements.
        content = content.get(1..).unwrap_or_default();
        let elements = limits(&mut content).map(|(minimum, maximum)| maximum.max(Some(minimum)));
        let is_small = |most: Option<u32>| {
            most.and_then(|most| usize::try_from(most).ok())
                .is_some_and(|most| most <= MAX_TABLE_ELEMENTS)
        };
        if !elements.is_some_and(is_small) {
            return Err(format!(
                "a table of the module has more than {MAX_TABLE_ELEMENTS} elements"
            ));
        }
    }
    Ok(())
}

/// The next section: its number, and its content.
fn section<'a>(rest: &mut &'a [u8]) -> Option<(u8, &'a [u8])> {
    let (id, after) = rest.split_first()?;
    *rest = after;
    let size = usize::try_from(number(rest)?).ok()?;
    let (content, after) = rest.split_at_checked(size)?;
    *rest = after;
    Some((*id, content))
}

/// Limits: a minimum, and a maximum if the first byte says so.
fn limits(rest: &mut &[u8]) -> Option<(u32, Option<u32>)> {
    let flags = number(rest)?;
    let minimum = number(rest)?;
    let maximum = if flags & 1 == 1 {
        Some(number(rest)?)
    } else {
        None
    };
    Some((minimum, maximum))
}

/// An unsigned number in LEB128.
fn number(rest: &mut &[u8]) -> Option<u32> {
    let mut value = 0_u64;
    for shift in (0..35).step_by(7) {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return u32::try_from(value).ok();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(text: &str) -> Result<u32, String> {
        check(&wat::parse_str(text).unwrap())
    }

    #[test]
    fn the_pages_with_which_a_memory_begins_are_those_of_the_module() {
        let module = r#"(module (import "env" "f" (func)) (table 300 300 funcref) (memory 4096)
          (func (export "_start")) (data (i32.const 0) "text"))"#;
        assert_eq!(checked(module), Ok(4096));
        assert_eq!(checked("(module)"), Ok(0));
    }

    #[test]
    fn large_tables_and_a_start_section_are_refused() {
        for (module, message) in [
            ("(module (table 100001 funcref))", "elements"),
            ("(module (table 1 100001 funcref))", "elements"),
            (
                "(module (table 1 funcref) (table 1 funcref) (table 1 funcref) (table 1 funcref) (table 1 funcref))",
                "more than 4 tables",
            ),
            ("(module (func $f) (start $f))", "start section"),
        ] {
            let error = checked(module).unwrap_err();
            assert!(error.contains(message), "{module}: {error}");
        }
    }

    #[test]
    fn no_truncated_module_causes_a_panic() {
        let module = wat::parse_str("(module (memory 1) (table 1 1 funcref) (func))").unwrap();
        for length in 0..module.len() {
            let _ = check(&module[..length]);
        }
    }
}
