//! `kubectl wasmbench history`: the history of a schedule, which outlives its runs.

use wasmbench_report::history::{history_csv, history_html, history_text};
use wasmbench_results::runs::history::History;
use wasmbench_results::runs::history::stored::HISTORY_KEY;

use crate::args::{ClusterArgs, HistoryArgs, HistoryOutput};
use crate::cluster::Cluster;
use crate::error::Error;
use crate::print;

/// Prints the history of a schedule.
pub async fn run(cluster: &ClusterArgs, args: &HistoryArgs) -> Result<u8, Error> {
    let cluster = Cluster::connect(cluster).await?;
    let history = read(&cluster, &args.name).await?;
    print(&shown(&args.name, &history, args.output)?)?;
    Ok(0)
}

/// Reads the history of the schedule of this name; empty until one of its runs has ended.
pub async fn read(cluster: &Cluster, name: &str) -> Result<History, Error> {
    let Some(map) = cluster.history(name).await? else {
        return Ok(History::default());
    };
    let bytes = map
        .binary_data
        .and_then(|mut data| data.remove(HISTORY_KEY))
        .unwrap_or_default()
        .0;
    History::unpack(&bytes).map_err(|source| Error::History(name.to_owned(), source))
}

/// The history in the format `output`.
pub fn shown(name: &str, history: &History, output: HistoryOutput) -> Result<String, Error> {
    Ok(match output {
        HistoryOutput::Table => history_text(name, history),
        HistoryOutput::Csv => history_csv(history),
        HistoryOutput::Html => history_html(name, history),
        HistoryOutput::Json => {
            let json =
                serde_json::to_string(history).map_err(|error| Error::Output(error.into()))?;
            json + "\n"
        }
    })
}
