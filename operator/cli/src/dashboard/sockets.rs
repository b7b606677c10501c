//! Serves on few connections. Every user of the machine can open one, with or without the address.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::task::AbortHandle;
use tokio::time::sleep;

/// Maximum number of open connections. One more closes the oldest, so that nobody can lock the user
/// out; a page whose stream is closed opens another.
const CONNECTIONS: usize = 64;
/// Pause when no connection can be accepted, as without a free file descriptor.
const PAUSE: Duration = Duration::from_millis(100);

/// Serves forever.
pub async fn serve(listener: TcpListener, router: Router) -> Infallible {
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
        let connection =
            http1::Builder::new().serve_connection(TokioIo::new(stream), service.clone());
        open.push_back(tokio::spawn(connection).abort_handle());
    }
}

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;

    use super::*;

    #[tokio::test]
    async fn hundreds_of_silent_connections_block_no_page() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().route("/", get(|| async { "a page" }));
        tokio::spawn(serve(listener, router));
        let mut idle = vec![];
        for _ in 0..300 {
            idle.push(TcpStream::connect(address).await.unwrap());
        }
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.ends_with("a page"), "{answer}");
        for stream in &mut idle[..300 - CONNECTIONS] {
            let closed = stream.read(&mut [0]).await;
            assert!(matches!(closed, Ok(0) | Err(_)), "{closed:?}");
        }
    }
}
