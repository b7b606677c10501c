//! No page for users has a place that is still to be filled in: a figure that nobody has measured.

use std::path::{Path, PathBuf};

/// How such a place is marked.
const MARK: &str = "TODO";

/// The fewest pages of the docs: the test must not pass because it looked elsewhere.
const FEWEST_PAGES: usize = 80;

fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            pages(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
}

#[test]
fn no_page_has_a_place_that_is_still_to_be_filled_in() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = vec![root.join("README.md")];
    pages(&root.join("docs"), &mut found);
    assert!(found.len() >= FEWEST_PAGES, "only {} pages", found.len());
    let open: Vec<String> = found
        .iter()
        .flat_map(|page| {
            let text = std::fs::read_to_string(page).unwrap();
            let lines = text.lines().zip(1..);
            let open = lines.filter(|(line, _)| line.contains(MARK));
            open.map(|(line, number)| format!("{}:{number}: {line}", page.display()))
                .collect::<Vec<String>>()
        })
        .collect();
    assert!(open.is_empty(), "{open:#?}");
}
