//! `docs/mistakes.md` names one test for every mistake, and every test that it names exists.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The fewest names that the page may have: it must not pass if it lost its tables or if its links
/// have another form.
const FEWEST_NAMES: usize = 65;

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

fn page() -> String {
    std::fs::read_to_string(docs().join("mistakes.md")).unwrap()
}

/// The rows of all tables, without their headers.
fn rows(page: &str) -> Vec<&str> {
    let lines = page.lines().filter(|line| line.starts_with('|'));
    lines
        .filter(|line| !line.starts_with("|---") && !line.starts_with("| Mistake |"))
        .collect()
}

/// Name and file of every link to a test: ``[`a_name`](../a/file.rs)``.
fn named(text: &str) -> Vec<(&str, &str)> {
    let links = text.split("[`").skip(1);
    let links = links.filter_map(|link| link.split_once("`]("));
    let links = links.filter_map(|(name, rest)| Some((name, rest.split_once(')')?.0)));
    links.filter(|(name, _)| is_name(name)).collect()
}

fn is_name(text: &str) -> bool {
    let is_word = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_word && (text.contains('_') || is_of_go(text))
}

/// Whether a test of this name is one in Go.
fn is_of_go(name: &str) -> bool {
    name.starts_with("Test") && !name.contains('_')
}

/// Whether there is a test of this name: in Rust, a function with an attribute right before it that
/// makes it one.
fn is_test(code: &str, name: &str) -> bool {
    if is_of_go(name) {
        return code.contains(&format!("func {name}(t *testing.T)"));
    }
    let Some((before, _)) = code.split_once(&format!("fn {name}(")) else {
        return false;
    };
    let mut lines = before.lines().rev().take(6);
    lines.any(|line| line.contains("#[test]") || line.contains("#[tokio::test"))
}

/// What is wrong with a link, if anything is.
fn fault(name: &str, path: &str) -> Option<String> {
    match std::fs::read_to_string(docs().join(path)) {
        Ok(code) if is_test(&code, name) => None,
        Ok(_) => Some(format!("{path} has no test {name}")),
        Err(error) => Some(format!("{path}, for the test {name}: {error}")),
    }
}

#[test]
fn every_test_that_the_page_names_exists() {
    let page = page();
    let listed = named(&page);
    let faults: BTreeSet<String> = listed
        .iter()
        .filter_map(|(name, path)| fault(name, path))
        .collect();
    assert!(faults.is_empty(), "docs/mistakes.md: {faults:#?}");
    let names: BTreeSet<&str> = listed.iter().map(|(name, _)| *name).collect();
    assert!(names.len() >= FEWEST_NAMES, "only {} names", names.len());
}

#[test]
fn every_row_of_the_page_names_one_test() {
    let page = page();
    let rows = rows(&page);
    assert!(!rows.is_empty(), "docs/mistakes.md has no table");
    let others: Vec<&&str> = rows.iter().filter(|row| named(row).len() != 1).collect();
    assert!(others.is_empty(), "docs/mistakes.md: {others:#?}");
}
