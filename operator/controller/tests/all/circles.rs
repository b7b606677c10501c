//! No files of a crate need each other, so that a reader of one of them knows what to read first.
//! Cargo proves that the crates are layers; this test proves the same within each crate.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use regex::Regex;

/// A module, as its path from the root of its crate.
type Module = Vec<String>;

/// A crate's source, by module, without its unit tests.
struct Source {
    texts: BTreeMap<Module, String>,
    /// Names that a module re-exports, and where they come from.
    offered: BTreeMap<(Module, String), Module>,
}

fn module_of(root: &Path, file: &Path) -> Module {
    let relative = file.strip_prefix(root).unwrap().with_extension("");
    let parts = relative.iter().map(|part| part.to_string_lossy().into());
    let mut module: Module = parts.collect();
    if matches!(
        module.last().map(String::as_str),
        Some("mod" | "lib" | "main")
    ) {
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

/// `a::{b, c::{d, self}}` as `a::b`, `a::c::d` and `a::c`.
fn flat(tree: &str) -> Vec<String> {
    let (mut depth, mut parts) = (0, vec![String::new()]);
    for letter in tree.chars() {
        depth += i32::from(letter == '{') - i32::from(letter == '}');
        if letter == ',' && depth == 0 {
            parts.push(String::new());
        } else {
            parts.last_mut().unwrap().push(letter);
        }
    }
    let parts = parts.iter().map(|part| part.trim());
    let parts = parts.filter(|part| !part.is_empty());
    let paths = parts.flat_map(|part| match part.split_once('{') {
        Some((head, rest)) => {
            let inner = rest.rsplit_once('}').unwrap().0;
            flat(inner)
                .iter()
                .map(|tail| format!("{head}{tail}"))
                .collect()
        }
        None => vec![part.split(" as ").next().unwrap().to_owned()],
    });
    paths
        .map(|path| path.trim_end_matches("::self").to_owned())
        .collect()
}

impl Source {
    fn read(root: &Path) -> Self {
        let mut files = vec![];
        rust_files(root, &mut files);
        let text = |file: &PathBuf| {
            let text = std::fs::read_to_string(file).unwrap();
            let end = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
            let code = text[..end]
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"));
            code.collect::<Vec<_>>().join("\n")
        };
        let texts = files.iter().map(|file| (module_of(root, file), text(file)));
        let mut source = Self {
            texts: texts.collect(),
            offered: BTreeMap::new(),
        };
        let modules: Vec<Module> = source.texts.keys().cloned().collect();
        for module in modules {
            for (path, is_offered) in source.uses(&module) {
                if is_offered && let Some(name) = path.last().cloned() {
                    source.offered.insert((module.clone(), name), path);
                }
            }
        }
        source
    }

    /// What a module uses of its own crate, as paths from the crate's root, and whether it
    /// re-exports it.
    fn uses(&self, module: &Module) -> Vec<(Module, bool)> {
        let statement = Regex::new(r"(?m)^\s*(pub(?:\([^)]*\))? )?use ([^;]+);").unwrap();
        let inline = Regex::new(r"\bcrate((?:::\w+)+)").unwrap();
        let text = &self.texts[module];
        let split = |path: &str| -> Module {
            path.split("::")
                .map(|part| part.trim().to_owned())
                .collect()
        };
        let mut found = vec![];
        for one in statement.captures_iter(text) {
            for path in flat(&one[2].replace('\n', " ")) {
                found.extend(
                    self.absolute(module, &split(&path))
                        .map(|path| (path, one.get(1).is_some())),
                );
            }
        }
        let inline = inline.captures_iter(text);
        found.extend(inline.map(|one| (split(one[1].trim_start_matches("::")), false)));
        found
    }

    fn absolute(&self, module: &Module, path: &[String]) -> Option<Module> {
        let child = [module.as_slice(), &path[..1]].concat();
        let ups = path.iter().take_while(|part| *part == "super").count();
        match path[0].as_str() {
            "crate" => Some(path[1..].to_vec()),
            "self" => Some([module.as_slice(), &path[1..]].concat()),
            "super" => Some([&module[..module.len() - ups], &path[ups..]].concat()),
            _ if self.texts.contains_key(&child) => Some([module.as_slice(), path].concat()),
            _ => None,
        }
    }

    /// The module in which an item is defined.
    fn home(&self, path: &Module) -> Module {
        let lengths = (0..=path.len()).rev();
        let known = lengths.map(|length| path[..length].to_vec());
        let module = known
            .into_iter()
            .find(|module| self.texts.contains_key(module))
            .unwrap();
        let name = path.get(module.len());
        let elsewhere = name.and_then(|name| self.offered.get(&(module.clone(), name.clone())));
        match elsewhere {
            Some(origin) if origin != path => {
                self.home(&[origin.as_slice(), &path[module.len() + 1..]].concat())
            }
            _ => module,
        }
    }

    /// The files that each file needs. Declaring a child module does not count.
    fn needs(&self) -> BTreeMap<Module, BTreeSet<Module>> {
        let of = |module: &Module| {
            let uses = self
                .uses(module)
                .into_iter()
                .map(|(path, _)| self.home(&path));
            let is_child = |other: &Module| other.len() > module.len() && other.starts_with(module);
            let others =
                uses.filter(|other| other != module && !other.is_empty() && !is_child(other));
            others.collect()
        };
        let modules = self.texts.keys().filter(|module| !module.is_empty());
        modules.map(|module| (module.clone(), of(module))).collect()
    }
}

/// What is left after repeatedly removing all modules that need nothing or that nothing needs.
fn tangled(mut needs: BTreeMap<Module, BTreeSet<Module>>) -> BTreeMap<Module, BTreeSet<Module>> {
    loop {
        let left: BTreeSet<Module> = needs.keys().cloned().collect();
        for of in needs.values_mut() {
            of.retain(|module| left.contains(module));
        }
        let needed: BTreeSet<Module> = needs.values().flatten().cloned().collect();
        let before = needs.len();
        needs.retain(|module, of| !of.is_empty() && needed.contains(module));
        if needs.len() == before {
            return needs;
        }
    }
}

/// The folders of all crates: what the workspace names, and what has sources in `gateways/*`.
fn crates(repository: &Path) -> BTreeSet<String> {
    let manifest = std::fs::read_to_string(repository.join("Cargo.toml")).unwrap();
    let (_, members) = manifest.split_once("members = [").unwrap();
    let (members, _) = members.split_once(']').unwrap();
    let mut found = BTreeSet::new();
    for member in members.split('"').filter(|name| name.contains('/')) {
        let Some(folder) = member.strip_suffix("/*") else {
            found.insert(member.to_owned());
            continue;
        };
        for entry in std::fs::read_dir(repository.join(folder)).unwrap() {
            let entry = entry.unwrap();
            if entry.path().join("src").is_dir() {
                found.insert(format!("{folder}/{}", entry.file_name().display()));
            }
        }
    }
    found
}

#[test]
fn no_files_of_a_crate_need_each_other() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let crates = crates(&repository);
    assert!(crates.contains("operator/core") && crates.contains("gateways/http"));
    let (mut modules, mut arrows) = (0, 0);
    for name in crates {
        let source = Source::read(&repository.join(&name).join("src"));
        let needs = source.needs();
        modules += needs.len();
        arrows += needs.values().map(BTreeSet::len).sum::<usize>();
        let circle = tangled(needs);
        assert!(circle.is_empty(), "{name}: {circle:#?}");
    }
    assert!(arrows >= modules, "imports were not understood");
}

#[test]
fn a_circle_is_found_and_what_leads_to_it_or_from_it_is_none() {
    let needs = |of: &[(&str, &str)]| {
        let mut needs: BTreeMap<Module, BTreeSet<Module>> = BTreeMap::new();
        for (from, to) in of {
            needs.entry(vec![(*to).into()]).or_default();
            needs
                .entry(vec![(*from).into()])
                .or_default()
                .insert(vec![(*to).into()]);
        }
        needs
    };
    let line = [("a", "b"), ("b", "c"), ("a", "c")];
    assert!(tangled(needs(&line)).is_empty());
    let circle = [("a", "b"), ("b", "c"), ("c", "b"), ("c", "d")];
    let found = tangled(needs(&circle));
    let names: Vec<String> = found.into_keys().flatten().collect();
    assert_eq!(names, ["b", "c"]);
}
