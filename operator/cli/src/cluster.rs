//! Runs, records and reports from a cluster.

use std::time::Duration;

use futures::Stream;
use http::Request;
use http::header::CONTENT_TYPE;
use k8s_openapi::api::core::v1::{ConfigMap, Node};
use kube::api::{
    Api, ApiResource, DeleteParams, DynamicObject, GroupVersionKind, ListParams, Patch,
    PatchParams, Preconditions,
};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::core::PartialObjectMeta;
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Client, Config, Resource as _, ResourceExt};
use serde_json::{Value, json};
use wasmbench_api::{BenchmarkRun, BenchmarkSchedule, labels};
use wasmbench_core::build::component_selector;
use wasmbench_model::names;

use crate::args::ClusterArgs;
use crate::error::{Error, root_cause};

/// The number of record `ConfigMaps` read at a time: each may be a megabyte.
const PAGE: u32 = 4;
/// An API server that takes longer than this for one request counts as unreachable.
const PATIENCE: Duration = Duration::from_secs(30);

/// A cluster, and the namespace to look in.
#[derive(Clone)]
pub struct Cluster {
    client: Client,
    namespace: String,
}

impl Cluster {
    /// Connects to the cluster that the arguments name.
    pub async fn connect(args: &ClusterArgs) -> Result<Self, Error> {
        let mut config = config(args).await?;
        config.connect_timeout = Some(Duration::from_secs(5));
        // A person is waiting: one clear message now is better than a minute of retries.
        config.default_retry = false;
        let namespace = args
            .namespace
            .clone()
            .unwrap_or_else(|| config.default_namespace.clone());
        let client =
            Client::try_from(config).map_err(|error| Error::NoCluster(root_cause(&error)))?;
        Ok(Self::new(client, namespace))
    }

    /// The cluster behind `client`.
    pub fn new(client: Client, namespace: String) -> Self {
        Self { client, namespace }
    }

    /// The client for its API server.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The namespace to look in.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The same cluster, in another namespace.
    #[must_use]
    pub fn at(&self, namespace: &str) -> Self {
        Self::new(self.client.clone(), namespace.to_owned())
    }

    fn runs(&self) -> Api<BenchmarkRun> {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    /// Reads an object of the group `apps`, as the API server has it.
    pub async fn object(
        &self,
        kind: &'static str,
        resource: &str,
        name: &str,
    ) -> Result<Value, Error> {
        let gvk = GroupVersionKind::gvk("apps", "v1", kind);
        let resource = ApiResource::from_gvk_with_plural(&gvk, resource);
        let api: Api<DynamicObject> =
            Api::namespaced_with(self.client.clone(), &self.namespace, &resource);
        let found = patiently("read what to copy", api.get_opt(name)).await?;
        let (name, namespace) = (name.to_owned(), self.namespace.clone());
        let missing = Error::NoSuchObject {
            kind,
            name,
            namespace,
        };
        Ok(serde_json::to_value(found.ok_or(missing)?)?)
    }

    fn config_maps(&self) -> Api<ConfigMap> {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    /// Reads the run of this name.
    pub async fn run(&self, name: &str) -> Result<BenchmarkRun, Error> {
        let name = bare(name)?;
        let run = patiently("read the run", self.runs().get_opt(name)).await?;
        if let Some(run) = run {
            return Ok(run);
        }
        // Without the CRD every name gives a 404: a list distinguishes the two cases.
        let any = ListParams::default().limit(1);
        patiently("read the runs", self.runs().list(&any)).await?;
        let is_schedule =
            patiently("read the schedule", self.schedules().get_metadata_opt(name)).await;
        let (name, namespace) = (name.to_owned(), self.namespace.clone());
        Err(match is_schedule {
            Ok(Some(_)) => Error::IsSchedule(name),
            Ok(None) | Err(_) => Error::NoSuchRun { name, namespace },
        })
    }

    fn schedules(&self) -> Api<BenchmarkSchedule> {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    /// Reads the schedule of this name.
    pub async fn schedule(&self, name: &str) -> Result<BenchmarkSchedule, Error> {
        let found = patiently("read the schedule", self.schedules().get_opt(name)).await?;
        found.ok_or_else(|| self.no_such_schedule(name))
    }

    /// Reads the node of this name; `None` if it is gone.
    pub async fn node(&self, name: &str) -> Result<Option<Node>, Error> {
        let nodes: Api<Node> = Api::all(self.client.clone());
        patiently("read the node", nodes.get_opt(name)).await
    }

    /// The names of the schedules of the namespace.
    pub async fn schedule_names(&self) -> Result<Vec<String>, Error> {
        let list = self.schedules();
        let list = patiently(
            "read the schedules",
            list.list_metadata(&ListParams::default()),
        )
        .await?;
        Ok(list.items.iter().map(ResourceExt::name_any).collect())
    }

    fn no_such_schedule(&self, name: &str) -> Error {
        let (name, namespace) = (name.to_owned(), self.namespace.clone());
        Error::NoSuchSchedule { name, namespace }
    }

    /// Lists the runs of the namespace or of all namespaces, sorted by namespace and name.
    pub async fn all_runs(&self, all_namespaces: bool) -> Result<Vec<BenchmarkRun>, Error> {
        let api = self.runs_of(all_namespaces);
        let mut runs = patiently("read the runs", api.list(&ListParams::default()))
            .await?
            .items;
        runs.sort_by_key(|run| (run.namespace(), run.name_any()));
        Ok(runs)
    }

    /// Lists the schedules of the namespace or of all namespaces, sorted by namespace and name.
    pub async fn all_schedules(
        &self,
        all_namespaces: bool,
    ) -> Result<Vec<BenchmarkSchedule>, Error> {
        let api = if all_namespaces {
            Api::all(self.client.clone())
        } else {
            self.schedules()
        };
        let listed = patiently("read the schedules", api.list(&ListParams::default())).await;
        let mut schedules = listed?.items;
        schedules.sort_by_key(|schedule| (schedule.namespace(), schedule.name_any()));
        Ok(schedules)
    }

    /// Returns an error unless runs can be listed, in the namespace or in all namespaces.
    pub async fn may_list_runs(&self, all_namespaces: bool) -> Result<(), Error> {
        let any = ListParams::default().limit(1);
        let api = self.runs_of(all_namespaces);
        patiently("read the runs", api.list_metadata(&any)).await?;
        Ok(())
    }

    /// Watches the runs of the namespace or of all namespaces.
    pub fn watch_runs(
        &self,
        all_namespaces: bool,
    ) -> impl Stream<Item = watcher::Result<watcher::Event<BenchmarkRun>>> + use<> {
        watcher(self.runs_of(all_namespaces), watcher::Config::default()).default_backoff()
    }

    fn runs_of(&self, all_namespaces: bool) -> Api<BenchmarkRun> {
        if all_namespaces {
            Api::all(self.client.clone())
        } else {
            self.runs()
        }
    }

    /// Creates the run exactly as written; a field that the API does not have is an error.
    pub async fn create_run(&self, run: &Value) -> Result<(), Error> {
        let runs = BenchmarkRun::url_path(&(), Some(&self.namespace));
        let request = Request::post(format!("{runs}?fieldValidation=Strict"))
            .header(CONTENT_TYPE, "application/json")
            .body(serde_json::to_vec(run)?)
            .map_err(|error| Error::NoCluster(error.to_string()))?;
        let created = self
            .client
            .request::<PartialObjectMeta<BenchmarkRun>>(request);
        patiently("create the run", created).await?;
        Ok(())
    }

    /// Suspends or resumes the run.
    pub async fn suspend(&self, name: &str, suspend: bool) -> Result<(), Error> {
        let patch = Patch::Merge(json!({"spec": {"suspend": suspend}}));
        let (api, params) = (self.runs(), PatchParams::default());
        patiently("change the run", api.patch_metadata(name, &params, &patch)).await?;
        Ok(())
    }

    /// Deletes the run if it still has this uid.
    pub async fn delete(&self, name: &str, uid: &str) -> Result<(), Error> {
        let only = Preconditions {
            uid: Some(uid.to_owned()),
            resource_version: None,
        };
        let params = DeleteParams::background().preconditions(only);
        patiently("delete the run", self.runs().delete(name, &params)).await?;
        Ok(())
    }

    /// Reads the names, versions and indexes of the record `ConfigMaps` of `run`.
    pub async fn record_metadata(
        &self,
        run: &BenchmarkRun,
    ) -> Result<Vec<PartialObjectMeta<ConfigMap>>, Error> {
        let params = ListParams::default().labels(&selector(run, labels::COMPONENT_RECORDS));
        let api = self.config_maps();
        let found = patiently("read the records", api.list_metadata(&params)).await?;
        Ok(found.items)
    }

    /// Reads the record `ConfigMap` of this name; `None` if it is gone.
    pub async fn record_map(&self, name: &str) -> Result<Option<ConfigMap>, Error> {
        patiently("read the records", self.config_maps().get_opt(name)).await
    }

    /// Watches the run; yields `None` once it is deleted.
    pub fn follow(
        &self,
        name: &str,
    ) -> impl Stream<Item = Result<Option<BenchmarkRun>, watcher::Error>> + use<> {
        watcher::watch_object(self.runs(), name).default_backoff()
    }

    /// Passes every record `ConfigMap` of `run` to `take`, reading a few at a time.
    pub async fn each_record_map(
        &self,
        run: &BenchmarkRun,
        mut take: impl FnMut(&ConfigMap) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let selector = selector(run, labels::COMPONENT_RECORDS);
        let mut params = ListParams::default().labels(&selector).limit(PAGE);
        loop {
            let page = patiently("read the records", self.config_maps().list(&params)).await?;
            page.items.iter().try_for_each(&mut take)?;
            match page.metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) => params = params.continue_token(&token),
                None => return Ok(()),
            }
        }
    }

    /// Reads the stored report of `run`.
    pub async fn report(&self, run: &BenchmarkRun) -> Result<ConfigMap, Error> {
        let name = names::report(&run.name_any());
        let found = patiently("read the report", self.config_maps().get_opt(&name)).await?;
        let uid = run.uid().unwrap_or_default();
        // A ConfigMap of this name may belong to an earlier run of the same name.
        found
            .filter(|map| map.labels().get(labels::RUN_UID) == Some(&uid))
            .ok_or_else(|| Error::NoReport(run.name_any()))
    }

    /// Reads the `ConfigMap` with the history of a schedule; `None` until one of its runs has
    /// ended.
    pub async fn history(&self, name: &str) -> Result<Option<ConfigMap>, Error> {
        let found = patiently("read the schedule", self.schedules().get_metadata_opt(name)).await?;
        let schedule = found.ok_or_else(|| self.no_such_schedule(name))?;
        let map = names::history(name);
        let found = patiently("read the history", self.config_maps().get_opt(&map)).await?;
        let uid = schedule.uid().unwrap_or_default();
        // A ConfigMap of this name may belong to an earlier schedule of the same name.
        Ok(found.filter(|map| map.labels().get(labels::SCHEDULE_UID) == Some(&uid)))
    }
}

fn selector(run: &BenchmarkRun, component: &str) -> String {
    component_selector(&run.uid().unwrap_or_default(), component)
}

/// Returns the response to a request, or an error with a remedy.
pub async fn patiently<T>(
    what: &'static str,
    request: impl Future<Output = kube::Result<T>>,
) -> Result<T, Error> {
    match tokio::time::timeout(PATIENCE, request).await {
        Ok(result) => result.map_err(|error| Error::from_kube(what, error)),
        Err(_) => Err(Error::Unreachable(format!(
            "no answer in {} s",
            PATIENCE.as_secs()
        ))),
    }
}

async fn config(args: &ClusterArgs) -> Result<Config, Error> {
    let failed = |error: &dyn std::error::Error| Error::NoCluster(root_cause(error));
    if args.kubeconfig.is_none() && args.context.is_none() {
        return Config::infer().await.map_err(|error| failed(&error));
    }
    let kubeconfig = match &args.kubeconfig {
        Some(path) => Kubeconfig::read_from(path),
        None => Kubeconfig::read(),
    }
    .map_err(|error| failed(&error))?;
    if let Some(name) = &args.context {
        let known: Vec<String> = kubeconfig
            .contexts
            .iter()
            .map(|one| one.name.clone())
            .collect();
        if !known.contains(name) {
            let name = name.clone();
            return Err(Error::NoContext {
                name,
                known: known.join(", "),
            });
        }
    }
    let options = KubeConfigOptions {
        context: args.context.clone(),
        ..KubeConfigOptions::default()
    };
    Config::from_custom_kubeconfig(kubeconfig, &options)
        .await
        .map_err(|error| failed(&error))
}

/// The bare name of a run, which may be given as kubectl prints it:
/// `benchmarkrun.wasmbench.dev/fast`.
fn bare(name: &str) -> Result<&str, Error> {
    let bare = match name.split_once('/') {
        Some((kind, bare)) if ["brun", "benchmarkrun", "benchmarkruns"].contains(&kind) => bare,
        Some(("benchmarkrun.wasmbench.dev" | "benchmarkruns.wasmbench.dev", bare)) => bare,
        _ => name,
    };
    let is_name = !bare.is_empty()
        && bare
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'.'));
    if is_name {
        Ok(bare)
    } else {
        Err(Error::NoName(name.to_owned()))
    }
}
