//! `kubectl wasmbench report`: the report of a run, computed again from its records.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::ResourceExt;
use wasmbench_api::BenchmarkRun;
use wasmbench_core::results::report::{
    ENVIRONMENT_JSON, REPORT_HTML, REPORT_MD, SUMMARY_CSV, SUMMARY_JSON,
};
use wasmbench_core::status::is_finished;

use crate::args::{ClusterArgs, Output, ReportArgs};
use crate::cluster::Cluster;
use crate::error::Error;
use crate::recompute::{Recomputation, first_difference};
use crate::{files, live, print};

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
    match first_difference(computed, &stored.data.unwrap_or_default()) {
        Some(difference) => Err(Error::Differs(difference)),
        None => print(&format!(
            "The stored report of {} is the one that its records give: {} files, byte for byte.\n",
            run.name_any(),
            computed.len()
        )),
    }
}
