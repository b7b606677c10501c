//! Computes the summary from records, exactly as the operator does.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::ResourceExt;
use sha2::{Digest, Sha256};
use wasmbench_api::BenchmarkRun;
use wasmbench_model::store;
use wasmbench_model::wire::schema::OtherSchema;
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::collect::{Collector, RunInput};

use crate::error::Error;
use crate::warn;

/// A summary in the making.
pub struct Recomputation {
    name: String,
    collector: Collector,
    entries: usize,
    /// The schema of records that were left out, if some have another one.
    other: Option<OtherSchema>,
}

impl Recomputation {
    /// The summary of `run`, without any records yet.
    pub fn new(run: &BenchmarkRun) -> Result<Self, Error> {
        let name = run.name_any();
        let status = run.status.as_ref();
        let seed = status
            .and_then(|status| status.seed)
            .or(run.spec.seed)
            .ok_or_else(|| Error::NotAccepted(name.clone()))?;
        Ok(Self {
            name,
            collector: Collector::new(RunInput::new(run, seed)),
            entries: 0,
            other: None,
        })
    }

    /// Adds the records of a `ConfigMap`, after checking them against its checksums. Those of another
    /// schema are left out: the operator measured their trials again, unless it was of that version.
    /// An entry that is not a record is skipped with a warning, because the operator skips it too.
    pub fn add(&mut self, map: &ConfigMap) -> Result<(), Error> {
        if let Err(other) = store::check_schema(map.annotations()) {
            self.other = Some(other);
            return Ok(());
        }
        let sums = checksums(map);
        for (entry, bytes) in map.binary_data.iter().flatten() {
            let sum = store::hex(&Sha256::digest(&bytes.0));
            if sums
                .get(entry.as_str())
                .is_some_and(|expected| *expected != sum)
            {
                return Err(Error::Changed {
                    entry: entry.clone(),
                    map: map.name_any(),
                });
            }
            self.entries += 1;
            match store::decode(&bytes.0) {
                Ok(record) => self.collector.add(&record),
                Err(error) => warn(&format!(
                    "entry {entry} of ConfigMap {} is left out: {error}",
                    map.name_any()
                )),
            }
        }
        Ok(())
    }

    /// The summary of all records added so far.
    pub fn summary(&self) -> Result<Summary, Error> {
        if self.entries > 0 {
            return Ok(self.collector.finish());
        }
        let name = self.name.clone();
        Err(match self.other.clone() {
            Some(other) => Error::OtherSchema(name, other),
            None => Error::NoRecords(name),
        })
    }
}

/// The checksums of a `ConfigMap` by entry, from its lines `SUM  ENTRY`.
fn checksums(map: &ConfigMap) -> BTreeMap<&str, &str> {
    let text = map
        .data
        .iter()
        .flatten()
        .find(|(key, _)| *key == store::SUMS_KEY);
    let lines = text.map(|(_, text)| text.lines()).into_iter().flatten();
    lines
        .filter_map(|line| line.split_once("  "))
        .map(|(sum, entry)| (entry, sum))
        .collect()
}

/// The first difference between the files computed from the records and the stored ones, in words.
/// Stored files that this version does not compute are ignored.
pub fn first_difference(
    computed: &BTreeMap<String, String>,
    stored: &BTreeMap<String, String>,
) -> Option<String> {
    computed
        .iter()
        .find_map(|(name, computed)| match stored.get(name) {
            None => Some(format!("{name} is missing in it")),
            Some(stored) if stored == computed => None,
            Some(stored) => Some(difference(name, computed, stored)),
        })
}

fn difference(name: &str, computed: &str, stored: &str) -> String {
    let (mut ours, mut theirs) = (computed.lines(), stored.lines());
    let mut number = 0;
    loop {
        number += 1;
        match (ours.next(), theirs.next()) {
            (Some(one), Some(other)) if one == other => {}
            (None, None) => return format!("{name} differs in its line ends"),
            (one, other) => {
                let shown = |line: Option<&str>| line.map_or_else(|| "nothing".into(), around);
                return format!(
                    "line {number} of {name} is {} in the stored report and {} from the records",
                    shown(other),
                    shown(one)
                );
            }
        }
    }
}

/// A line in quotes, truncated to what a terminal can show.
fn around(line: &str) -> String {
    const SHOWN: usize = 100;
    let cut: String = line.trim().chars().take(SHOWN).collect();
    let dots = if line.trim().chars().count() > SHOWN {
        "..."
    } else {
        ""
    };
    format!("'{cut}{dots}'")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(text: &str) -> BTreeMap<String, String> {
        BTreeMap::from([("summary.csv".to_owned(), text.to_owned())])
    }

    #[test]
    fn equal_files_have_no_difference() {
        assert_eq!(first_difference(&files("a\nb\n"), &files("a\nb\n")), None);
    }

    #[test]
    fn a_difference_is_named_by_file_and_line() {
        assert_eq!(
            first_difference(&files("a\nb\n"), &files("a\nc\n")).unwrap(),
            "line 2 of summary.csv is 'c' in the stored report and 'b' from the records"
        );
        assert_eq!(
            first_difference(&files("a\nb\n"), &files("a\n")).unwrap(),
            "line 2 of summary.csv is nothing in the stored report and 'b' from the records"
        );
        assert_eq!(
            first_difference(&files("a\n"), &files("a")).unwrap(),
            "summary.csv differs in its line ends"
        );
    }

    #[test]
    fn a_missing_file_is_named_and_an_unknown_one_ignored() {
        let stored = BTreeMap::from([("report.html".to_owned(), String::new())]);
        let difference = first_difference(&files("a"), &stored).unwrap();
        assert_eq!(difference, "summary.csv is missing in it");
        assert_eq!(first_difference(&BTreeMap::new(), &stored), None);
    }
}
