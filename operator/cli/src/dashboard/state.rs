//! The data behind the pages: the runs, and what was read of their records.

use std::sync::Arc;
use std::time::{Duration, Instant};

use kube::ResourceExt;
use tokio::sync::{Mutex, OnceCell};
use wasmbench_api::BenchmarkRun;

use crate::cluster::Cluster;
use crate::dashboard::access::Access;
use crate::dashboard::followed::{Followed, Recorded};
use crate::dashboard::recent::Recent;
use crate::dashboard::watched::Watched;
use crate::error::Error;
use crate::init::{self, manifest::ClusterView};
use crate::plan::cluster::{Written, look, look_at_scaled};
use crate::plan::obstacles::{ObservedCluster, obstacles};
use crate::plan::{self, Earlier};

/// How long a look at the cluster counts: a plan follows the typing, and its requests may disturb what is measured.
const LOOK_AGAIN: Duration = Duration::from_secs(10);

/// What was seen of the cluster in a namespace, and when.
struct Looked {
    namespace: String,
    at: Instant,
    observed: ObservedCluster,
}

/// The data behind the pages.
pub struct Dashboard {
    /// The cluster, in the namespace that new runs go to.
    pub cluster: Cluster,
    /// The runs.
    pub watched: Watched,
    /// The address of the dashboard.
    pub access: Access,
    /// Which runs are shown, for people.
    pub shown: String,
    /// Whether they are those of all namespaces.
    pub all_namespaces: bool,
    followed: Mutex<Recent<Arc<Mutex<Followed>>>>,
    view: OnceCell<ClusterView>,
    looked: Mutex<Option<Looked>>,
}

impl Dashboard {
    /// A dashboard of these runs.
    pub fn new(cluster: Cluster, watched: Watched, access: Access, shown: String) -> Self {
        let (followed, view) = (Mutex::default(), OnceCell::new());
        Self {
            cluster,
            watched,
            access,
            shown,
            all_namespaces: false,
            followed,
            view,
            looked: Mutex::default(),
        }
    }

    /// The same, of all namespaces or of the cluster's alone.
    #[must_use]
    pub fn of_all_namespaces(self, all_namespaces: bool) -> Self {
        Self {
            all_namespaces,
            ..self
        }
    }

    /// The run of this namespace and name, as it is now.
    pub fn run(&self, namespace: &str, name: &str) -> Option<Arc<BenchmarkRun>> {
        self.watched.now().run(namespace, name).cloned()
    }

    /// How far trials scattered in the finished runs.
    pub fn earlier(&self) -> Vec<Earlier> {
        let now = self.watched.now();
        plan::earlier(now.runs.values().map(|run| &**run))
    }

    /// The results of the records of `run` so far.
    pub async fn recorded(&self, run: &BenchmarkRun) -> Arc<Recorded> {
        let uid = run.uid().unwrap_or_default();
        let followed = {
            let mut all = self.followed.lock().await;
            let cluster = || self.cluster.at(&run.namespace().unwrap_or_default());
            let new = || Arc::new(Mutex::new(Followed::new(cluster())));
            all.value(&uid, new).clone()
        };
        followed.lock().await.recorded(run).await
    }

    /// What stands in the way of this run in the cluster, or why that is not known.
    pub async fn obstacles(&self, run: &BenchmarkRun) -> String {
        match self.observed_for(run).await {
            Ok(observed) => obstacles(run, &observed),
            Err(error) => format!("\nThe cluster is not considered: {error}\n"),
        }
    }

    async fn observed_for(&self, run: &BenchmarkRun) -> Result<ObservedCluster, Error> {
        let namespace = run.namespace();
        let cluster = self
            .cluster
            .at(namespace.as_deref().unwrap_or(self.cluster.namespace()));
        let observed = self.looked_at(&cluster).await?;
        look_at_scaled(observed, &cluster, &run.spec, &Written::new()).await
    }

    async fn looked_at(&self, cluster: &Cluster) -> Result<ObservedCluster, Error> {
        let mut looked = self.looked.lock().await;
        let is_known = |known: &&Looked| {
            known.namespace == cluster.namespace() && known.at.elapsed() < LOOK_AGAIN
        };
        if let Some(known) = looked.as_ref().filter(is_known) {
            return Ok(known.observed.clone());
        }
        let observed = look(cluster).await?;
        *looked = Some(Looked {
            namespace: cluster.namespace().to_owned(),
            at: Instant::now(),
            observed: observed.clone(),
        });
        Ok(observed)
    }

    /// RuntimeClasses and nodes, read once.
    pub async fn cluster_view(&self) -> ClusterView {
        let read = || init::view_cluster(&self.cluster);
        self.view.get_or_init(read).await.clone()
    }
}
