//! What the subjects of a run report about their own CPU time: the `account ...` lines of gateways
//! started with `--account=yes`. The logs are followed while the gateways run, because no pod
//! outlives its trial.

use std::collections::BTreeMap;
use std::time::Duration;

use k8s_openapi::api::core::v1::Pod;
use kube::api::{ListParams, LogParams};
use kube::{Api, Client};
use tokio::task::JoinHandle;
use wasmbench_api::labels;

use crate::answered;

/// One line: the time, and the CPU time so far of the process and its ended children, in
/// nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The time in nanoseconds since the Unix epoch.
    pub unix: f64,
    /// CPU time of the process itself.
    pub own: f64,
    /// CPU time of its ended children.
    pub children: f64,
}

/// The entries of each pod, by its uid.
pub type Accounts = BTreeMap<String, Vec<Entry>>;

/// Follows the logs of all subjects in `namespace` until `run` has ended.
pub async fn follow<T>(client: &Client, namespace: &str, run: JoinHandle<T>) -> (T, Accounts) {
    let pods: Api<Pod> = Api::namespaced(client.clone(), namespace);
    let subjects = format!("{}={}", labels::COMPONENT, labels::COMPONENT_SUBJECT);
    let mut logs: BTreeMap<String, JoinHandle<String>> = BTreeMap::new();
    while !run.is_finished() {
        let params = ListParams::default().labels(&subjects);
        let listed = answered("subjects are listed", || pods.list(&params)).await;
        for pod in listed.items {
            let running = pod.status.and_then(|status| status.phase);
            let (uid, name) = (pod.metadata.uid.unwrap(), pod.metadata.name.unwrap());
            if running.as_deref() == Some("Running") {
                let pods = pods.clone();
                logs.entry(uid)
                    .or_insert_with(|| tokio::spawn(async move { log(&pods, &name).await }));
            }
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    let mut accounts = Accounts::new();
    for (uid, log) in logs {
        let text = log.await.expect("a log");
        accounts.insert(uid, text.lines().filter_map(entry).collect());
    }
    (run.await.expect("the run"), accounts)
}

/// The log of a pod from its beginning to its end.
async fn log(pods: &Api<Pod>, name: &str) -> String {
    use futures::AsyncReadExt as _;
    let params = LogParams {
        follow: true,
        ..LogParams::default()
    };
    let mut text = Vec::new();
    if let Ok(mut stream) = pods.log_stream(name, &params).await {
        // A stream that breaks off when its pod ends has delivered everything.
        let _ = stream.read_to_end(&mut text).await;
    }
    String::from_utf8_lossy(&text).into_owned()
}

fn entry(line: &str) -> Option<Entry> {
    let mut numbers = line.strip_prefix("account ")?.split(' ').map(str::parse);
    let mut next = || numbers.next()?.ok();
    Some(Entry {
        unix: next()?,
        own: next()?,
        children: next()?,
    })
}

/// CPU time between two moments, interpolated linearly between the surrounding entries; `None` if
/// the entries do not cover both moments. The last entry remains valid for 20 ms.
pub fn used(entries: &[Entry], from: f64, to: f64) -> Option<Entry> {
    let (start, end) = (at(entries, from)?, at(entries, to)?);
    Some(Entry {
        unix: to - from,
        own: end.own - start.own,
        children: end.children - start.children,
    })
}

fn at(entries: &[Entry], moment: f64) -> Option<Entry> {
    let after = entries.partition_point(|entry| entry.unix <= moment);
    let last = entries.last()?;
    if after == entries.len() && moment - last.unix < 20e6 {
        return Some(*last);
    }
    let (a, b) = (entries.get(after.checked_sub(1)?)?, entries.get(after)?);
    let share = (moment - a.unix) / (b.unix - a.unix);
    let between = |a: f64, b: f64| a + share * (b - a);
    Some(Entry {
        unix: moment,
        own: between(a.own, b.own),
        children: between(a.children, b.children),
    })
}
