//! `kubectl wasmbench dashboard`: runs as pages on the user's own machine, with the user's
//! kubeconfig and rights.
//!
//! Reading order: [`access`] (access control), [`watched`] (the runs, through a single watch),
//! [`followed`] (the records of one run, read between its timed windows; [`recent`] decides of which
//! runs they are kept), [`state`] (both),
//! [`draft`] (a run that is being written), [`priced`] (a node and its price), [`pages`] (what is shown), [`stream`] (live updates of
//! open pages), [`server`] (the routes) and [`sockets`] (how many connections there may be).

mod access;
mod draft;
mod followed;
mod pages;
mod priced;
mod recent;
mod server;
mod sockets;
mod state;
mod stream;
mod watched;

use std::net::Ipv4Addr;
use std::sync::Arc;

use tokio::net::TcpListener;

use crate::args::{ClusterArgs, DashboardArgs};
use crate::cluster::Cluster;
use crate::dashboard::access::Access;
use crate::dashboard::state::Dashboard;
use crate::dashboard::watched::Watched;
use crate::error::Error;
use crate::print;

/// Serves the dashboard until it is interrupted.
pub async fn run(cluster: &ClusterArgs, args: &DashboardArgs) -> Result<u8, Error> {
    let cluster = Cluster::connect(cluster).await?;
    // A problem with the kubeconfig or the rights is an error now, not an empty page later.
    cluster.may_list_runs(args.all_namespaces).await?;
    let place = (Ipv4Addr::LOCALHOST, args.port);
    let listener = TcpListener::bind(place).await.map_err(Error::Listen)?;
    let port = listener.local_addr().map_err(Error::Listen)?.port();
    let access = Access::new(port)?;
    let shown = if args.all_namespaces {
        "runs of all namespaces".to_owned()
    } else {
        format!("runs in namespace {}", cluster.namespace())
    };
    print(&format!(
        "Dashboard for {shown}, until Ctrl-C: {}\n",
        access.url()
    ))?;
    let watched = Watched::follow(&cluster, args.all_namespaces);
    let dashboard = Dashboard::new(cluster, watched, access, shown);
    let dashboard = Arc::new(dashboard.of_all_namespaces(args.all_namespaces));
    tokio::select! {
        never = sockets::serve(listener, server::router(dashboard)) => match never {},
        _ = tokio::signal::ctrl_c() => {}
    }
    Ok(0)
}
