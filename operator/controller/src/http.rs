//! `/livez` (the process answers), `/readyz` (the watch has listed all runs once, or the process stands
//! by) and `/metrics`. Read-only. Anyone in the cluster may connect, so connections are limited in number and time.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::get;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use jiff::Timestamp;
use tokio::net::TcpListener;
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};
use wasmbench_api::{BenchmarkRun, conditions};

use crate::context::Context;
use crate::metrics::{self, StateLabel};
use crate::show;

/// Maximum number of open connections. One more closes the oldest, so that nobody can lock the
/// kubelet out.
const CONNECTIONS: usize = 32;
/// A connection is closed after this long, whatever it is waiting for.
const LIFETIME: Duration = Duration::from_secs(10);
/// Maximum size of a request's head, in bytes.
const HEAD_BYTES: usize = 8192;
/// Pause when no connection can be accepted, as without a free file descriptor.
const PAUSE: Duration = Duration::from_millis(100);

/// Serves forever.
pub async fn serve(listener: TcpListener, context: Arc<Context>) -> Infallible {
    let router = Router::new()
        .route("/livez", get(|| async { "ok\n" }))
        .route("/readyz", get(readyz))
        .route("/metrics", get(serve_metrics))
        .with_state(context);
    serve_few(listener, router).await
}

async fn serve_few(listener: TcpListener, router: Router) -> Infallible {
    let service = TowerToHyperService::new(router);
    let mut open: VecDeque<AbortHandle> = VecDeque::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            sleep(PAUSE).await;
            continue;
        };
        open.retain(|connection| !connection.is_finished());
        if open.len() >= CONNECTIONS
            && let Some(oldest) = open.pop_front()
        {
            oldest.abort();
        }
        let connection = http1::Builder::new()
            .max_buf_size(HEAD_BYTES)
            .serve_connection(TokioIo::new(stream), service.clone());
        open.push_back(tokio::spawn(timeout(LIFETIME, connection)).abort_handle());
    }
}

async fn readyz(State(context): State<Arc<Context>>) -> impl IntoResponse {
    if context.ready.load(Ordering::Relaxed) {
        (StatusCode::OK, "ok\n")
    } else {
        (
            StatusCode::SERVICE_UNAVAILABLE,
            "the BenchmarkRuns have not been listed yet\n",
        )
    }
}

async fn serve_metrics(State(context): State<Arc<Context>>) -> impl IntoResponse {
    count_runs(&context);
    show::forget_gone(&context);
    match context.metrics.text() {
        Ok(text) => (
            StatusCode::OK,
            [(CONTENT_TYPE, metrics::CONTENT_TYPE)],
            text,
        ),
        Err(error) => {
            let kind = "text/plain; charset=utf-8";
            (
                StatusCode::INTERNAL_SERVER_ERROR,
                [(CONTENT_TYPE, kind)],
                error.to_string(),
            )
        }
    }
}

fn count_runs(context: &Context) {
    let runs = context.known_runs();
    let finished = runs
        .iter()
        .filter(|run| run.0.as_ref().is_ok_and(BenchmarkRun::is_finished))
        .count();
    let set = |state, count: usize| {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        context
            .metrics
            .runs
            .get_or_create(&StateLabel { state })
            .set(count);
    };
    set("finished", finished);
    set("active", runs.len() - finished);
    let decoded = runs.iter().filter_map(|run| run.0.as_ref().ok());
    let waiting = decoded.filter_map(queued_since).min();
    let wait = waiting.map(|since| context.clock.now().duration_since(since));
    let seconds = wait.map_or(0.0, |wait| wait.as_secs_f64().max(0.0));
    context.metrics.longest_wait.set(seconds);
}

/// The creation time of a run that waits for its node; `None` if it does not wait.
fn queued_since(run: &BenchmarkRun) -> Option<Timestamp> {
    let mut conditions = run.status.as_ref()?.conditions.iter();
    let finished = conditions.find(|condition| condition.type_ == conditions::FINISHED)?;
    let created = run.metadata.creation_timestamp.as_ref()?;
    (finished.reason == "Queued").then_some(created.0)
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;

    use super::*;

    /// Serves one route and returns its address.
    async fn serving() -> std::net::SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().route("/livez", get(|| async { "ok\n" }));
        tokio::spawn(serve_few(listener, router));
        address
    }

    async fn ask(address: std::net::SocketAddr, head: &str) -> String {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request = format!("GET /livez HTTP/1.1\r\nHost: a\r\n{head}Connection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = vec![];
        // The response may be cut off when the request is refused.
        let _ = stream.read_to_end(&mut answer).await;
        String::from_utf8(answer).unwrap()
    }

    #[tokio::test]
    async fn hundreds_of_silent_connections_lock_nobody_out() {
        let address = serving().await;
        let mut idle = vec![];
        for _ in 0..300 {
            idle.push(TcpStream::connect(address).await.unwrap());
        }
        assert!(ask(address, "").await.ends_with("ok\n"));
        let mut closed = 0;
        for stream in &mut idle[..300 - CONNECTIONS] {
            closed += usize::from(matches!(stream.read(&mut [0]).await, Ok(0) | Err(_)));
        }
        assert_eq!(closed, 300 - CONNECTIONS);
    }

    #[tokio::test]
    async fn a_request_with_an_endless_head_is_refused() {
        let head = format!("X: {}\r\n", "x".repeat(2 * HEAD_BYTES));
        let answer = ask(serving().await, &head).await;
        assert!(!answer.contains(" 200 "), "{answer}");
    }
}
