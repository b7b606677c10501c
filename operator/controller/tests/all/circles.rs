//! No two files of a folder need each other, and no two folders of a folder, however many are in
//! between: so that it is clear what to read first. A folder needs what its files
//! need. Not counted is what `mod.rs` and the files next to it need of each other: it may call them
//! and hold what they share. Cargo proves that the crates are layers; this test proves the same
//! within each crate.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

/// A module, or an item of one, as its path from the root of its crate.
type Names = Vec<String>;

/// What a `use` imports.
static IMPORT: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?m)^\s*(?:pub(?:\([^)]*\))? )?use ([^;]+);").unwrap());

/// A path in code.
static PATH: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\b\w+(?:::\w+)+").unwrap());

/// What needs what.
type Needs = BTreeMap<String, BTreeSet<String>>;

/// A crate's source, without its tests.
struct Source {
    /// The text of each module.
    texts: BTreeMap<Names, String>,
    /// What the names mean that a module imports or re-exports.
    imports: BTreeMap<Names, BTreeMap<String, Names>>,
}

fn module_of(root: &Path, file: &Path) -> Names {
    let relative = file.strip_prefix(root).unwrap().with_extension("");
    let parts = relative.iter().map(|part| part.to_string_lossy().into());
    let mut module: Names = parts.collect();
    if matches!(module.last().unwrap().as_str(), "mod" | "lib" | "main") {
        module.pop();
    }
    module
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("tests") {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") && !path.ends_with("tests.rs") {
            found.push(path);
        }
    }
}

fn without_tests_and_comments(text: &str) -> String {
    let end = text.find("#[cfg(test)]\nmod tests {");
    let code = text[..end.unwrap_or(text.len())].lines();
    let code: Vec<&str> = code
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect();
    code.join("\n")
}

fn split(path: &str) -> Names {
    path.split("::")
        .map(|part| part.trim().to_owned())
        .collect()
}

/// `a::{b, c::{d as e, self}}` as `a::b`, `a::c::d` called `e`, and `a::c`.
fn flat(tree: &str) -> Vec<(Names, String)> {
    let (mut depth, mut parts) = (0, vec![String::new()]);
    for letter in tree.chars() {
        depth += i32::from(letter == '{') - i32::from(letter == '}');
        if letter == ',' && depth == 0 {
            parts.push(String::new());
        } else {
            parts.last_mut().unwrap().push(letter);
        }
    }
    let mut found = vec![];
    for part in parts.iter().filter(|part| !part.trim().is_empty()) {
        if let Some((head, rest)) = part.split_once('{') {
            let head = split(head.trim().trim_end_matches("::"));
            let inner = flat(rest.rsplit_once('}').unwrap().0);
            found.extend(inner.into_iter().map(|(tail, name)| {
                let is_self = tail == ["self"];
                let name = if is_self {
                    &head[head.len() - 1]
                } else {
                    &name
                };
                let tail = if is_self { &[] } else { tail.as_slice() };
                ([head.as_slice(), tail].concat(), name.clone())
            }));
        } else {
            let (path, alias) = part.split_once(" as ").unwrap_or((part, ""));
            let path = split(path);
            let name = [alias.trim(), path.last().unwrap()];
            let name = name.into_iter().find(|name| !name.is_empty()).unwrap();
            found.push((path.clone(), name.to_owned()));
        }
    }
    found
}

impl Source {
    fn read(root: &Path) -> Self {
        let mut files = vec![];
        rust_files(root, &mut files);
        Self::from_texts(files.iter().map(|file| {
            let text = std::fs::read_to_string(file).unwrap();
            (module_of(root, file), without_tests_and_comments(&text))
        }))
    }

    fn from_texts(texts: impl Iterator<Item = (Names, String)>) -> Self {
        let mut source = Self {
            texts: texts.collect(),
            imports: BTreeMap::new(),
        };
        let mut imports = BTreeMap::new();
        for (module, text) in &source.texts {
            let trees = IMPORT.captures_iter(text);
            let paths = trees.flat_map(|one| flat(&one[1].replace('\n', " ")));
            let known =
                paths.filter_map(|(path, name)| Some((name, source.absolute(module, &path)?)));
            imports.insert(module.clone(), known.collect());
        }
        source.imports = imports;
        source
    }

    /// A path in a module as a path from the root; `None` if it leads out of the crate.
    fn absolute(&self, module: &Names, path: &[String]) -> Option<Names> {
        let child = [module.as_slice(), &path[..1]].concat();
        let ups = path.iter().take_while(|part| *part == "super").count();
        match path[0].as_str() {
            "crate" => Some(path[1..].to_vec()),
            "self" => Some([module.as_slice(), &path[1..]].concat()),
            "super" => Some([&module[..module.len().checked_sub(ups)?], &path[ups..]].concat()),
            _ if self.texts.contains_key(&child) => Some([module.as_slice(), path].concat()),
            name => {
                let import = self.imports.get(module)?.get(name)?;
                Some([import.as_slice(), &path[1..]].concat())
            }
        }
    }

    /// The module in which an item is defined, whatever modules pass it on.
    fn home(&self, path: &Names) -> Names {
        let mut lengths = (0..=path.len()).rev();
        let module = lengths.find_map(|length| self.texts.get_key_value(&path[..length]));
        let module = module.unwrap().0;
        let name = path.get(module.len());
        match name.and_then(|name| self.imports.get(module)?.get(name)) {
            Some(origin) if origin != path => {
                self.home(&[origin.as_slice(), &path[module.len() + 1..]].concat())
            }
            _ => module.clone(),
        }
    }

    /// The modules that a module needs: by what it imports, and by paths in its code.
    fn needs(&self, module: &Names) -> BTreeSet<Names> {
        let in_code = PATH.find_iter(&self.texts[module]);
        let in_code = in_code.filter_map(|path| self.absolute(module, &split(path.as_str())));
        let used = self.imports[module].values().cloned().chain(in_code);
        used.map(|path| self.home(&path)).collect()
    }

    /// For each folder, what its files and folders need of each other.
    fn levels(&self) -> BTreeMap<Names, Needs> {
        let mut levels: BTreeMap<Names, Needs> = BTreeMap::new();
        for module in self.texts.keys() {
            for needed in self.needs(module) {
                let pairs = module.iter().zip(&needed);
                let common = pairs.take_while(|(one, other)| one == other).count();
                if let (Some(one), Some(other)) = (module.get(common), needed.get(common)) {
                    let level = levels.entry(module[..common].to_vec()).or_default();
                    level.entry(one.clone()).or_default().insert(other.clone());
                }
            }
        }
        levels
    }

    /// The circles, by the folder in which they are.
    fn circles(&self) -> BTreeMap<Names, Needs> {
        let levels = self.levels().into_iter();
        levels
            .map(|(level, needs)| (level, tangled(needs)))
            .filter(|(_, circle)| !circle.is_empty())
            .collect()
    }
}

/// What is left after repeatedly removing all that needs nothing or that nothing needs.
fn tangled(mut needs: Needs) -> Needs {
    loop {
        let left: BTreeSet<String> = needs.keys().cloned().collect();
        for of in needs.values_mut() {
            of.retain(|module| left.contains(module));
        }
        let needed: BTreeSet<String> = needs.values().flatten().cloned().collect();
        let before = needs.len();
        needs.retain(|module, of| !of.is_empty() && needed.contains(module));
        if needs.len() == before {
            return needs;
        }
    }
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The folders of all crates: what the workspace names, and what has sources in `gateways/*`.
fn crates() -> BTreeSet<String> {
    let manifest = std::fs::read_to_string(repository().join("Cargo.toml")).unwrap();
    let (_, members) = manifest.split_once("members = [").unwrap();
    let (members, _) = members.split_once(']').unwrap();
    let mut found = BTreeSet::new();
    for member in members.split('"').filter(|name| name.contains('/')) {
        let Some(folder) = member.strip_suffix("/*") else {
            found.insert(member.to_owned());
            continue;
        };
        for entry in std::fs::read_dir(repository().join(folder)).unwrap() {
            let entry = entry.unwrap();
            if entry.path().join("src").is_dir() {
                found.insert(format!("{folder}/{}", entry.file_name().display()));
            }
        }
    }
    found
}

#[test]
fn no_files_or_folders_of_a_crate_depend_on_each_other() {
    let crates = crates();
    assert!(crates.contains("operator/core") && crates.contains("gateways/http"));
    let (mut modules, mut arrows, mut circles) = (0, 0, BTreeMap::new());
    for name in crates {
        let source = Source::read(&repository().join(&name).join("src"));
        modules += source.texts.len();
        let levels = source.levels();
        arrows += levels.values().flat_map(BTreeMap::values).flatten().count();
        circles.insert(name, source.circles());
    }
    circles.retain(|_, found| !found.is_empty());
    assert!(circles.is_empty(), "{circles:#?}");
    assert!(arrows >= modules, "imports were not understood");
}

#[test]
fn each_layer_of_the_results_depends_on_lower_layers_only() {
    let root = repository().join("operator/results/src");
    let lib = std::fs::read_to_string(root.join("lib.rs")).unwrap();
    let item = Regex::new(r"(?m)^//! \d\. \[`(\w+)`\]").unwrap();
    let storeys: Vec<String> = item
        .captures_iter(&lib)
        .map(|one| one[1].to_owned())
        .collect();
    let source = Source::read(&root);
    let folders: BTreeSet<&String> = source.texts.keys().filter_map(|m| m.first()).collect();
    assert_eq!(folders, storeys.iter().collect());
    let height = |name: &String| storeys.iter().position(|storey| storey == name);
    for (storey, needed) in &source.levels()[&vec![]] {
        for below in needed {
            assert!(height(below) < height(storey), "{storey} needs {below}");
        }
    }
}

/// A crate of these modules, and where in it circles are.
fn circles_of(modules: &[(&str, &str)]) -> Vec<String> {
    let texts = modules.iter();
    let texts = texts.map(|(path, text)| (split(path), (*text).to_owned()));
    let root = (vec![], String::new());
    let circles = Source::from_texts(texts.chain([root]))
        .circles()
        .into_iter();
    let names = |(level, circle): (Names, Needs)| {
        let circle: Vec<String> = circle.into_keys().collect();
        format!("{}: {}", level.join("::"), circle.join(" "))
    };
    circles.map(names).collect()
}

#[test]
fn a_cycle_is_found_without_what_leads_to_it_or_from_it() {
    let line = [
        ("a", "use crate::b::{B as C, x};\nuse crate::c;"),
        ("b", "crate::c::f()"),
        ("c", ""),
    ];
    assert!(circles_of(&line).is_empty());
    let circle = [
        ("a", "use crate::b;"),
        ("b", "crate::c::f()"),
        ("c", "use super::{b::{self}, d};"),
        ("d", ""),
    ];
    assert_eq!(circles_of(&circle), [": b c"]);
}

#[test]
fn a_call_is_followed_through_a_module_that_passes_it_on() {
    let files = [
        ("s", "pub use rows::judged;"),
        ("s::rows", "use crate::s::low;\nfn f() { low::status() }"),
        ("s::low", "pub use self::deep::status;"),
        ("s::low::deep", "use crate::s::judged;"),
    ];
    assert_eq!(circles_of(&files), ["s: low rows"]);
}

#[test]
fn folders_can_form_a_cycle_when_their_files_form_none() {
    let files = [
        ("a::one", "use crate::b::one::B;"),
        ("a::two", ""),
        ("b::one", ""),
        ("b::two", "use crate::a::two::A;"),
    ];
    assert_eq!(circles_of(&files), [": a b"]);
}
