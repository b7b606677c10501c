//! containerd on the node, through its socket: only at the level `node`, and only for cold starts.
//! Nothing outside Kubernetes' namespace is touched.

pub mod cri;
pub mod events;
pub mod images;
mod messages;

use std::path::Path;
use std::time::Duration;

use http::uri::PathAndQuery;
use hyper_util::rt::TokioIo;
use tokio::net::UnixStream;
use tonic::client::Grpc;
use tonic::metadata::MetadataValue;
use tonic::transport::{Channel, Endpoint, Uri};
use tonic::{Request, Status, Streaming};
use tonic_prost::ProstCodec;

pub use messages::Container;
use messages::{Containers, Filters};

/// containerd's namespace for Kubernetes.
const NAMESPACE: &str = "k8s.io";
/// A containerd that does not respond for this long is stuck.
const PATIENCE: Duration = Duration::from_secs(10);
/// A response carries each container's whole specification; a node has a few hundred containers.
const LARGEST_ANSWER: usize = 64 * 1024 * 1024;

/// A connection to containerd.
#[derive(Clone, Debug)]
pub struct Containerd {
    channel: Channel,
}

/// Why containerd did not do something.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no connection.
    #[error("containerd cannot be reached at {0}: {1}")]
    Unreachable(String, #[source] tonic::transport::Error),
    /// It answered with an error.
    #[error("containerd: {0}")]
    Refused(String),
}

impl From<Status> for Error {
    fn from(status: Status) -> Self {
        Self::Refused(format!("{:?}: {}", status.code(), status.message()))
    }
}

impl Containerd {
    /// Connects to the socket at `path`.
    pub async fn connect(path: &Path) -> Result<Self, Error> {
        let socket = path.to_owned();
        let connector = tower::service_fn(move |_: Uri| {
            let socket = socket.clone();
            async move { UnixStream::connect(socket).await.map(TokioIo::new) }
        });
        // A name is required, but nothing resolves it.
        let endpoint = Endpoint::from_static("http://containerd").connect_timeout(PATIENCE);
        let channel = endpoint.connect_with_connector(connector).await;
        let unreachable = |error| Error::Unreachable(path.display().to_string(), error);
        Ok(Self {
            channel: channel.map_err(unreachable)?,
        })
    }

    /// Returns the containers that match one of the filters.
    pub async fn containers(&self, filters: Vec<String>) -> Result<Vec<Container>, Error> {
        let path = "/containerd.services.containers.v1.Containers/List";
        let found: Containers = self.ask(path, Filters { filters }).await?;
        Ok(found.containers)
    }

    /// Sends a request that has one response.
    async fn ask<Q, A>(&self, path: &'static str, question: Q) -> Result<A, Error>
    where
        Q: prost::Message + Default + 'static,
        A: prost::Message + Default + 'static,
    {
        self.ask_within(PATIENCE, path, question).await
    }

    /// Sends a request that has one response, which may take up to `patience`.
    async fn ask_within<Q, A>(
        &self,
        patience: Duration,
        path: &'static str,
        question: Q,
    ) -> Result<A, Error>
    where
        Q: prost::Message + Default + 'static,
        A: prost::Message + Default + 'static,
    {
        let mut grpc = self.grpc().await?;
        let mut request = in_namespace(question);
        request.set_timeout(patience);
        let codec = ProstCodec::<Q, A>::default();
        let path = PathAndQuery::from_static(path);
        Ok(grpc.unary(request, path, codec).await?.into_inner())
    }

    /// Sends a request that has a stream of responses.
    async fn follow<Q, A>(&self, path: &'static str, question: Q) -> Result<Streaming<A>, Error>
    where
        Q: prost::Message + Default + 'static,
        A: prost::Message + Default + 'static,
    {
        let mut grpc = self.grpc().await?;
        let codec = ProstCodec::<Q, A>::default();
        let path = PathAndQuery::from_static(path);
        let answers = grpc.server_streaming(in_namespace(question), path, codec);
        Ok(answers.await?.into_inner())
    }

    async fn grpc(&self) -> Result<Grpc<Channel>, Error> {
        let mut grpc = Grpc::new(self.channel.clone()).max_decoding_message_size(LARGEST_ANSWER);
        let ready = grpc.ready().await;
        ready.map_err(|error| Error::Refused(error.to_string()))?;
        Ok(grpc)
    }
}

fn in_namespace<Q>(question: Q) -> Request<Q> {
    let mut request = Request::new(question);
    let namespace = MetadataValue::from_static(NAMESPACE);
    request
        .metadata_mut()
        .insert("containerd-namespace", namespace);
    request
}
