//! `kubectl wasmbench report`: the report of a run, computed again from its records.

use std::collections::BTreeMap;
use std::path::Path;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::ResourceExt;
use wasmbench_api::{BenchmarkRun, labels};
use wasmbench_model::version::{self, VERSION};
use wasmbench_report::across::Versus;
use wasmbench_report::export::github::github;
use wasmbench_report::export::junit::junit;
use wasmbench_report::files::{
    COMPARISONS_CSV, ENVIRONMENT_JSON, REPORT_HTML, REPORT_MD, SUMMARY_CSV, SUMMARY_JSON,
    report_files_of,
};
use wasmbench_results::judge::expectations::not_decided;
use wasmbench_results::summary::Summary;

use crate::args::{ClusterArgs, Output, ReportArgs};
use crate::cluster::Cluster;
use crate::error::Error;
use crate::read::{Source, finished, summary_in_cluster, summary_of};
use crate::recompute::first_difference;
use crate::{BUILD, files, print};

/// A run, the results of its records, and its stored report if it was read.
type Found = (BenchmarkRun, Summary, Option<ConfigMap>);

/// Prints the report in one of its forms, or compares all of its files with the stored ones.
pub async fn run(cluster: &ClusterArgs, args: &ReportArgs) -> Result<u8, Error> {
    let source = Source::open(cluster, args.records_from.as_deref()).await?;
    let (run, summary, stored) = match &source {
        Source::Files(directory) => from_files(directory, cluster.namespace.as_deref(), args)?,
        Source::Cluster(cluster) => from_cluster(cluster, args).await?,
    };
    if args.check {
        check(&run, &report_files_of(&summary)?, stored)?;
        return Ok(0);
    }
    let versus = if args.output == Output::Github && args.baseline.is_none() {
        versus(&source, &run, &summary).await
    } else {
        None
    };
    print(&shown(&summary, versus.as_ref(), args.output)?)?;
    Ok(0)
}

fn shown(summary: &Summary, versus: Option<&Versus>, output: Output) -> Result<String, Error> {
    let file = |name: &str| -> Result<String, Error> {
        Ok(report_files_of(summary)?.remove(name).unwrap_or_default())
    };
    match output {
        Output::Md => file(REPORT_MD),
        Output::Html => file(REPORT_HTML),
        Output::Json => file(SUMMARY_JSON),
        Output::Csv => file(SUMMARY_CSV),
        Output::Comparisons => file(COMPARISONS_CSV),
        Output::Environment => file(ENVIRONMENT_JSON),
        Output::Junit => Ok(junit(summary)),
        Output::Github => Ok(github(summary, versus)),
    }
}

/// The comparison with the run that the spec names, or why it failed; `None` if the spec names
/// none.
async fn versus(source: &Source, run: &BenchmarkRun, summary: &Summary) -> Option<Versus> {
    let name = run.spec.baseline_run_name.as_deref()?;
    let before = source.read(name, run.namespace().as_deref()).await;
    let before = match &before {
        Ok((earlier, summary)) => Ok((&earlier.spec, summary)),
        Err(error) => Err(not_read(error, run)),
    };
    Some(Versus::new(name, before, (&run.spec, summary)))
}

/// Why the earlier run could not be read. It may be gone by now, but the status still has what was
/// found when this run ended.
fn not_read(error: &Error, run: &BenchmarkRun) -> String {
    let status = run
        .status
        .as_ref()
        .and_then(|status| status.versus_run.as_ref());
    match status.filter(|versus| versus.compared) {
        Some(versus) => format!("{error}. When this run ended: {}", versus.message),
        None => error.to_string(),
    }
}

fn from_files(
    directory: &Path,
    namespace: Option<&str>,
    args: &ReportArgs,
) -> Result<Found, Error> {
    let saved = files::saved(directory, &args.name, namespace)?;
    finished(&saved.run, args.partial)?;
    let run = with_baseline(&saved.run, args.baseline.as_deref())?;
    let summary = compared_instead(summary_of(&run, &saved.records)?, &saved.run);
    Ok((saved.run, summary, saved.report))
}

async fn from_cluster(cluster: &Cluster, args: &ReportArgs) -> Result<Found, Error> {
    let run = cluster.run(&args.name).await?;
    finished(&run, args.partial)?;
    let compared = with_baseline(&run, args.baseline.as_deref())?;
    let summary = compared_instead(summary_in_cluster(cluster, &compared).await?, &run);
    let stored = if args.check {
        Some(cluster.report(&run).await?)
    } else {
        None
    };
    Ok((run, summary, stored))
}

/// The run as if `baseline` had been its baseline. What is of its own baseline alone is not computed: the
/// twin, and expectations.
fn with_baseline(run: &BenchmarkRun, baseline: Option<&str>) -> Result<BenchmarkRun, Error> {
    let mut run = run.clone();
    let Some(baseline) = baseline.filter(|name| *name != run.spec.baseline_name()) else {
        return Ok(run);
    };
    if !run.spec.variants.iter().any(|one| one.name == baseline) {
        let names: Vec<&str> = run
            .spec
            .variants
            .iter()
            .map(|one| one.name.as_str())
            .collect();
        return Err(Error::NoSuchVariant {
            name: baseline.to_owned(),
            known: names.join(", "),
        });
    }
    run.spec.baseline = Some(baseline.to_owned());
    run.spec.noise_floor = Some(false);
    run.spec.expectations.clear();
    Ok(run)
}

/// Notes in the summary that its baseline is not that of `run`, whose expectations are therefore not decided.
fn compared_instead(mut summary: Summary, run: &BenchmarkRun) -> Summary {
    let planned = run.spec.baseline_name();
    if summary.baseline != planned {
        summary.expectations = not_decided(&run.spec, &summary.baseline);
        summary.planned_baseline = Some(planned.to_owned());
    }
    summary
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

/// Explains a difference. If the same build computed both reports, the stored one does not match
/// its records; otherwise the builds may simply differ. `annotations` are those of the stored
/// report, and `own` is the tag of this build.
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
        wrote: version::describe(wrote, build),
        own: version::describe(VERSION, own),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(version: Option<&str>, build: Option<&str>, own: Option<&str>) -> String {
        let noted = [
            (labels::OPERATOR_VERSION, version),
            (labels::OPERATOR_BUILD, build),
        ]
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
    fn builds_without_a_tag_are_not_assumed_to_be_the_same() {
        for (version, build, own, text) in [
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
            assert!(message.contains(text), "{message}");
            assert!(message.contains("another build"), "{message}");
        }
    }
}
