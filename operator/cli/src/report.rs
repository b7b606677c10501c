//! `kubectl wasmbench report`: the report of a run, computed again from its records.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::ResourceExt;
use wasmbench_api::{BenchmarkRun, labels};
use wasmbench_core::lifetime::is_finished;
use wasmbench_core::version::{self, VERSION};
use wasmbench_report::files::{
    COMPARISONS_CSV, ENVIRONMENT_JSON, REPORT_HTML, REPORT_MD, SUMMARY_CSV, SUMMARY_JSON,
};

use crate::args::{ClusterArgs, Output, ReportArgs};
use crate::cluster::Cluster;
use crate::error::Error;
use crate::recompute::{Recomputation, first_difference};
use crate::{BUILD, files, live, print};

/// Prints a file of the report, or compares all of them with the stored ones.
pub async fn run(cluster: &ClusterArgs, args: &ReportArgs) -> Result<u8, Error> {
    let (run, computed, stored) = match &args.records_from {
        Some(directory) => {
            let saved = files::saved(directory, &args.name, cluster.namespace.as_deref())?;
            check_finished(&saved.run, args)?;
            let mut recomputation = Recomputation::new(&saved.run)?;
            saved
                .records
                .iter()
                .try_for_each(|map| recomputation.add(map))?;
            (saved.run, recomputation.files()?, saved.report)
        }
        None => from_cluster(&Cluster::connect(cluster).await?, args).await?,
    };
    if args.check {
        check(&run, &computed, stored)?;
        return Ok(0);
    }
    let name = match args.output {
        Output::Md => REPORT_MD,
        Output::Html => REPORT_HTML,
        Output::Json => SUMMARY_JSON,
        Output::Csv => SUMMARY_CSV,
        Output::Comparisons => COMPARISONS_CSV,
        Output::Environment => ENVIRONMENT_JSON,
    };
    print(computed.get(name).map_or("", String::as_str))?;
    Ok(0)
}

type Found = (BenchmarkRun, BTreeMap<String, String>, Option<ConfigMap>);

async fn from_cluster(cluster: &Cluster, args: &ReportArgs) -> Result<Found, Error> {
    let run = cluster.run(&args.name).await?;
    check_finished(&run, args)?;
    let mut recomputation = Recomputation::new(&run)?;
    cluster
        .each_record_map(&run, |map| recomputation.add(map))
        .await?;
    let computed = recomputation.files()?;
    let stored = if args.check {
        Some(cluster.report(&run).await?)
    } else {
        None
    };
    Ok((run, computed, stored))
}

fn check_finished(run: &BenchmarkRun, args: &ReportArgs) -> Result<(), Error> {
    if args.partial {
        return Ok(());
    }
    finished(run)
}

/// An error unless `run` is finished.
pub fn finished(run: &BenchmarkRun) -> Result<(), Error> {
    if is_finished(run) {
        return Ok(());
    }
    Err(Error::NotFinished {
        name: run.name_any(),
        namespace: run.namespace().unwrap_or_default(),
        state: live::state(run).to_owned(),
    })
}

fn check(
    run: &BenchmarkRun,
    computed: &BTreeMap<String, String>,
    stored: Option<ConfigMap>,
) -> Result<(), Error> {
    let stored = stored.ok_or_else(|| Error::NoReport(run.name_any()))?;
    let none = BTreeMap::new();
    match first_difference(computed, stored.data.as_ref().unwrap_or(&none)) {
        Some(difference) => Err(differs(difference, stored.annotations(), BUILD)),
        None => print(&format!(
            "The stored report of {} is the one that its records give: {} files, byte for byte.\n",
            run.name_any(),
            computed.len()
        )),
    }
}

/// What a difference means: a report that does not belong to its records when the same build computed
/// both; else perhaps only that builds differ. `annotations` are those of the stored report, and `own` is
/// the tag of this build.
fn differs(difference: String, annotations: &BTreeMap<String, String>, own: Option<&str>) -> Error {
    let noted = |key: &str| annotations.get(key).map(String::as_str);
    let wrote = noted(labels::OPERATOR_VERSION).unwrap_or("of an unknown version");
    let build = noted(labels::OPERATOR_BUILD);
    let is_known = version::tag(own).is_some();
    if is_known && build == own && wrote == VERSION {
        return Error::Differs(difference);
    }
    Error::DiffersByBuild {
        difference,
        wrote: version::words(wrote, build),
        own: version::words(VERSION, own),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(version: Option<&str>, build: Option<&str>, own: Option<&str>) -> String {
        let noted = [
            (labels::OPERATOR_VERSION, version),
            (labels::OPERATOR_BUILD, build),
        ];
        let noted = noted
            .into_iter()
            .filter_map(|(key, value)| Some((key, value?)));
        let annotations = noted
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect();
        differs("line 2 is 'a'".to_owned(), &annotations, own).to_string()
    }

    #[test]
    fn the_same_build_must_give_the_same_report() {
        let message = message(Some(VERSION), Some("3f2a"), Some("3f2a"));
        assert_eq!(
            message,
            "the stored report is not the one that the records give: line 2 is 'a'"
        );
    }

    #[test]
    fn another_build_is_named_with_the_difference() {
        let message = message(Some(VERSION), Some("3f2a"), Some("77b0"));
        assert!(message.contains("line 2 is 'a'"), "{message}");
        let wrote = format!("The operator {VERSION} (build 3f2a) wrote it");
        assert!(message.contains(&wrote), "{message}");
        assert!(
            message.contains(&format!("this is {VERSION} (build 77b0)")),
            "{message}"
        );
    }

    #[test]
    fn builds_without_a_tag_are_not_taken_for_the_same() {
        for (version, build, own, words) in [
            (Some(VERSION), None, None, "build without a tag"),
            (Some(VERSION), None, Some("77b0"), "build without a tag"),
            (None, None, Some("77b0"), "of an unknown version"),
            (
                Some("0.0.9"),
                Some("77b0"),
                Some("77b0"),
                "0.0.9 (build 77b0) wrote it",
            ),
        ] {
            let message = message(version, build, own);
            assert!(message.contains(words), "{message}");
            assert!(message.contains("another build"), "{message}");
        }
    }
}
