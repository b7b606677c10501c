//! Serves a component that exports `wasi:http/incoming-handler`: this shim reads requests and sends
//! responses, and each request has its own instance, with its own memory.

use std::convert::Infallible;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use wasmtime::component::{Component, Linker};
use wasmtime::{Engine, Store, format_err};
use wasmtime_wasi::{WasiCtx, p2};
use wasmtime_wasi_http::WasiHttpView as _;
use wasmtime_wasi_http::io::TokioIo;
use wasmtime_wasi_http::p2::bindings::ProxyPre;
use wasmtime_wasi_http::p2::bindings::http::types::Scheme;
use wasmtime_wasi_http::p2::body::HyperOutgoingBody;

use crate::store::{Data, Settings};

/// The port of components whose pod sets no `PORT`.
const DEFAULT_PORT: u16 = 8080;
/// How long accepting pauses when no descriptor is left.
const REST: Duration = Duration::from_millis(50);
/// The export of such a component, without its version.
const HANDLER: &str = "wasi:http/incoming-handler@";

/// Whether the component is to be served rather than run.
pub fn is_handler(engine: &Engine, component: &Component) -> bool {
    let exports = component.component_type();
    exports
        .exports(engine)
        .any(|(name, _)| name.starts_with(HANDLER))
}

struct Service {
    component: ProxyPre<Data>,
    settings: Settings,
}

/// Serves forever. Returns only if it cannot start.
pub async fn serve(engine: &Engine, component: &Component, settings: Settings) -> Result<()> {
    let readable = |error: wasmtime::Error| anyhow!("{error:?}");
    let mut linker = Linker::new(engine);
    p2::add_to_linker_async(&mut linker).map_err(readable)?;
    wasmtime_wasi_http::p2::add_only_http_to_linker_async(&mut linker).map_err(readable)?;
    let instance = linker.instantiate_pre(component).map_err(readable)?;
    let component = ProxyPre::new(instance).map_err(readable)?;
    let service = Arc::new(Service {
        component,
        settings,
    });

    let port = port(&service.settings)?;
    let listener = listen(port)
        .await
        .with_context(|| format!("could not listen at port {port}"))?;
    let address = listener.local_addr()?;
    // The guest cannot report this: its first line of code runs with the first request.
    println!("wasmtime shim: wasi:http listening on {address}");
    loop {
        match listener.accept().await {
            Ok((client, _)) => drop(tokio::spawn(converse(client, Arc::clone(&service)))),
            Err(error) if error.raw_os_error().is_some_and(is_exhausted) => {
                tokio::time::sleep(REST).await;
            }
            // The client gave up between connecting and being accepted.
            Err(_) => {}
        }
    }
}

/// On all addresses: `[::]` takes IPv4, too, unless the kernel has no IPv6.
async fn listen(port: u16) -> std::io::Result<TcpListener> {
    match TcpListener::bind((Ipv6Addr::UNSPECIFIED, port)).await {
        Ok(listener) => Ok(listener),
        Err(_) => TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)).await,
    }
}

fn port(settings: &Settings) -> Result<u16> {
    match settings.variable("PORT") {
        None => Ok(DEFAULT_PORT),
        Some(text) => text.parse().ok().filter(|port| *port > 0).ok_or_else(|| {
            anyhow!("the variable PORT is '{text}' and not a number from 1 to 65535")
        }),
    }
}

/// ENFILE, EMFILE, ENOMEM, ENOBUFS.
fn is_exhausted(code: i32) -> bool {
    [23, 24, 12, 105].contains(&code)
}

async fn converse(client: TcpStream, service: Arc<Service>) {
    let _ = client.set_nodelay(true);
    let answer = service_fn(move |request| {
        let service = Arc::clone(&service);
        async move { Ok::<_, Infallible>(service.answer(request).await) }
    });
    // A client that breaks its connection or speaks no HTTP affects only itself.
    let _ = http1::Builder::new()
        .pipeline_flush(true)
        .serve_connection(TokioIo::new(client), answer)
        .await;
}

impl Service {
    async fn answer(&self, request: Request<Incoming>) -> Response<HyperOutgoingBody> {
        self.ask(request).await.unwrap_or_else(|error| {
            eprintln!("a request failed: {error:?}");
            failed()
        })
    }

    async fn ask(
        &self,
        request: Request<Incoming>,
    ) -> wasmtime::Result<Response<HyperOutgoingBody>> {
        let wasi: WasiCtx = self.settings.of_request();
        let mut store = Store::new(self.component.engine(), Data::new(wasi));
        let (sender, receiver) = oneshot::channel();
        let request = store
            .data_mut()
            .http()
            .new_incoming_request(Scheme::Http, request)?;
        let out = store.data_mut().http().new_response_outparam(sender)?;
        let component = self.component.clone();
        // The guest continues after its head is sent: it writes the body.
        let guest = tokio::spawn(async move {
            let instance = component.instantiate_async(&mut store).await?;
            let handler = instance.wasi_http_incoming_handler();
            handler.call_handle(&mut store, request, out).await
        });
        match receiver.await {
            Ok(answered) => Ok(answered?),
            // The guest ended without a response.
            Err(_) => match guest.await {
                Ok(Err(trap)) => Err(trap),
                Ok(Ok(())) => Err(format_err!("the component gave no answer")),
                Err(panic) => Err(format_err!("{panic}")),
            },
        }
    }
}

fn failed() -> Response<HyperOutgoingBody> {
    let body = Full::from("the component failed: see the log of its pod\n");
    let mut response = Response::new(body.map_err(|never| match never {}).boxed_unsync());
    *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
    response
}
