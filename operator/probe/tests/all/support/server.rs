//! A small HTTP server whose answers a test decides one by one.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Returns the answer to the request with this number (from 0) and head; `None` to die.
pub type Answers = dyn Fn(u64, &str) -> Option<Vec<u8>> + Send + Sync;

/// Serves until it is dropped or dies.
pub struct Server {
    pub address: SocketAddr,
    state: Arc<State>,
}

struct State {
    address: SocketAddr,
    answers: Box<Answers>,
    count: AtomicU64,
    dead: AtomicBool,
    connections: Mutex<HashMap<SocketAddr, TcpStream>>,
}

/// An answer with a `Content-Length`.
#[allow(
    clippy::unnecessary_wraps,
    reason = "what a closure for `Server::start` gives back"
)]
pub fn answer(status: u16, body: &str) -> Option<Vec<u8>> {
    let head = format!(
        "HTTP/1.1 {status} X\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    Some((head + body).into_bytes())
}

/// A server that answers `hello` after this many milliseconds.
pub fn hello_after(milliseconds: u64) -> Server {
    Server::start(move |_, _| {
        thread::sleep(Duration::from_millis(milliseconds));
        answer(200, "hello")
    })
}

impl Server {
    /// Serves on a free loopback port.
    pub fn start(answers: impl Fn(u64, &str) -> Option<Vec<u8>> + Send + Sync + 'static) -> Self {
        Self::start_at("127.0.0.1:0", answers).unwrap()
    }

    pub fn start_at(
        address: &str,
        answers: impl Fn(u64, &str) -> Option<Vec<u8>> + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        let state = Arc::new(State {
            address,
            answers: Box::new(answers),
            count: AtomicU64::new(0),
            dead: AtomicBool::new(false),
            connections: Mutex::default(),
        });
        let accepting = Arc::clone(&state);
        thread::spawn(move || accepting.accept(&listener));
        Ok(Self { address, state })
    }

    /// Requests answered so far.
    pub fn count(&self) -> u64 {
        self.state.count.load(Ordering::Relaxed)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.state.die();
    }
}

impl State {
    fn accept(self: Arc<Self>, listener: &TcpListener) {
        for stream in listener.incoming() {
            if self.dead.load(Ordering::Relaxed) {
                return;
            }
            let Ok(stream) = stream else { continue };
            let (Ok(copy), Ok(peer)) = (stream.try_clone(), stream.peer_addr()) else {
                continue;
            };
            self.connections.lock().unwrap().insert(peer, copy);
            let state = Arc::clone(&self);
            thread::spawn(move || {
                state.serve(stream);
                state.connections.lock().unwrap().remove(&peer);
            });
        }
    }

    fn serve(&self, mut stream: TcpStream) {
        let _ = stream.set_nodelay(true);
        let mut pending = Vec::new();
        let mut buffer = [0; 4096];
        while let Ok(read) = stream.read(&mut buffer) {
            if read == 0 || self.dead.load(Ordering::Relaxed) {
                return;
            }
            pending.extend_from_slice(&buffer[..read]);
            while let Some(end) = pending.windows(4).position(|four| four == b"\r\n\r\n") {
                let head = String::from_utf8_lossy(&pending[..end]).into_owned();
                pending.drain(..end + 4);
                let number = self.count.fetch_add(1, Ordering::Relaxed);
                let Some(answer) = (self.answers)(number, &head) else {
                    return self.die();
                };
                if stream.write_all(&answer).is_err() {
                    return;
                }
                if head.contains("Connection: close") {
                    let _ = stream.shutdown(std::net::Shutdown::Both);
                    return;
                }
            }
        }
    }

    /// Closes the port and every connection, as the end of a process would.
    fn die(&self) {
        self.dead.store(true, Ordering::Relaxed);
        for stream in self
            .connections
            .lock()
            .unwrap()
            .drain()
            .map(|(_, stream)| stream)
        {
            let _ = stream.shutdown(std::net::Shutdown::Both);
        }
        let _ = TcpStream::connect(self.address); // wakes the accepting thread
    }
}
