//! Runs, records and reports from files that `kubectl get ... -o json` or `-o yaml` wrote.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::ResourceExt;
use serde_json::Value;
use wasmbench_api::{BenchmarkRun, labels};

use crate::error::Error;

pub use crate::objects::objects;

/// A run with everything that was saved with it.
#[derive(Clone, Debug)]
pub struct Saved {
    /// The run.
    pub run: BenchmarkRun,
    /// Its `ConfigMaps` with records, by name.
    pub records: Vec<ConfigMap>,
    /// Its stored report.
    pub report: Option<ConfigMap>,
}

/// Reads the run `name` and what belongs to it from the files of `directory`; `namespace` chooses
/// between runs of the same name.
pub fn saved(directory: &Path, name: &str, namespace: Option<&str>) -> Result<Saved, Error> {
    let (mut runs, mut maps) = (vec![], vec![]);
    for path in object_files(directory)? {
        let objects = objects(&read(&path)?).map_err(|message| Error::NotObjects {
            path: path.clone(),
            message,
        })?;
        for object in objects {
            sort_in(object, &mut runs, &mut maps).map_err(|error| Error::NotObjects {
                path: path.clone(),
                message: error,
            })?;
        }
    }
    let run = choose(runs, directory, name, namespace)?;
    let uid = run.uid().unwrap_or_default();
    maps.retain(|map: &ConfigMap| map.labels().get(labels::RUN_UID) == Some(&uid));
    maps.sort_by_key(ResourceExt::name_any);
    // The same object may have been saved twice.
    maps.dedup_by_key(|map| map.name_any());
    let is = |map: &ConfigMap, component: &str| {
        map.labels()
            .get(labels::COMPONENT)
            .is_some_and(|value| value == component)
    };
    let report = maps
        .iter()
        .find(|map| is(map, labels::COMPONENT_REPORT))
        .cloned();
    maps.retain(|map| is(map, labels::COMPONENT_RECORDS));
    Ok(Saved {
        run,
        records: maps,
        report,
    })
}

/// The text of a file; `-` is standard input.
pub fn read(path: &Path) -> Result<String, Error> {
    let text = if path == Path::new("-") {
        std::io::read_to_string(std::io::stdin())
    } else {
        fs::read_to_string(path)
    };
    text.map_err(|source| {
        let path = path.to_owned();
        if source.kind() == ErrorKind::InvalidData {
            Error::NotText(path)
        } else {
            Error::File { path, source }
        }
    })
}

/// The namespace that a file and the option name, unless they differ; `None` if neither names one.
pub fn namespace<'a>(
    of_file: Option<&'a str>,
    option: Option<&'a str>,
) -> Result<Option<&'a str>, Error> {
    match (of_file, option) {
        (Some(file), Some(option)) if file != option => Err(Error::OtherNamespace {
            file: file.to_owned(),
            option: option.to_owned(),
        }),
        _ => Ok(of_file.or(option)),
    }
}

fn object_files(directory: &Path) -> Result<Vec<PathBuf>, Error> {
    let failed = |source| Error::File {
        path: directory.to_owned(),
        source,
    };
    let mut paths = vec![];
    for entry in fs::read_dir(directory).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let known = ["json", "yaml", "yml"];
        if path
            .extension()
            .is_some_and(|e| known.iter().any(|known| e == *known))
        {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

fn sort_in(
    object: Value,
    runs: &mut Vec<BenchmarkRun>,
    maps: &mut Vec<ConfigMap>,
) -> Result<(), String> {
    let kind = object
        .get("kind")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned();
    match kind.as_str() {
        "BenchmarkRun" => {
            runs.push(serde_json::from_value(object).map_err(|error| error.to_string())?);
        }
        "ConfigMap" => {
            maps.push(serde_json::from_value(object).map_err(|error| error.to_string())?);
        }
        // Anything else that was saved along with them.
        _ => {}
    }
    Ok(())
}

fn choose(
    mut runs: Vec<BenchmarkRun>,
    directory: &Path,
    name: &str,
    namespace: Option<&str>,
) -> Result<BenchmarkRun, Error> {
    runs.retain(|run| {
        run.name_any() == name
            && namespace.is_none_or(|wanted| run.namespace().is_some_and(|found| found == wanted))
    });
    let (directory, name) = (directory.display().to_string(), name.to_owned());
    if runs
        .windows(2)
        .any(|pair| pair[0].namespace() != pair[1].namespace())
    {
        return Err(Error::Ambiguous { directory, name });
    }
    runs.pop().ok_or(Error::NotSaved { directory, name })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_another_encoding_is_to_be_saved_anew_and_a_missing_one_to_be_named() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("run.yaml");
        let message = |path: &Path| read(path).unwrap_err().to_string();
        assert!(
            message(&path).contains("check the path"),
            "{}",
            message(&path)
        );
        let utf16: Vec<u8> = "\u{feff}kind: BenchmarkRun"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        fs::write(&path, utf16).unwrap();
        assert!(
            message(&path).ends_with("save it as UTF-8"),
            "{}",
            message(&path)
        );
    }

    #[test]
    fn a_number_that_does_not_fit_is_not_said_to_be_no_yaml() {
        let directory = tempfile::tempdir().unwrap();
        let text = "kind: BenchmarkRun\nspec: {blocks: 99999999999999999999}\n";
        fs::write(directory.path().join("run.yaml"), text).unwrap();
        let error = saved(directory.path(), "fast", None).unwrap_err();
        let message = error.to_string();
        assert!(matches!(error, Error::NotObjects { .. }), "{message}");
        assert!(!message.contains("neither"), "{message}");
    }
}
