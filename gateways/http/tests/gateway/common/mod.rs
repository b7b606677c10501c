//! A server, and a client that reads one response at a time.
//!
//! The server is a thread, or a process if `WASMBENCH_GATEWAY_COMMAND` names a program and its
//! first arguments, separated by blanks: the same tests for another target.

use gateway_http::{Config, Server, Service, Unchanged, Workloads};
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::time::Duration;

/// How long something that will surely happen may take on a busy machine.
pub const PATIENCE: Duration = Duration::from_mins(1);

const COMMAND: &str = "WASMBENCH_GATEWAY_COMMAND";

/// True if the server is a process.
pub fn is_process() -> bool {
    std::env::var_os(COMMAND).is_some()
}

/// Starts the workloads with a configuration; it ends with the test.
pub fn start(config: Config) -> SocketAddr {
    if let Ok(command) = std::env::var(COMMAND) {
        return start_process(&command, &config);
    }
    start_with(config, Workloads::new(Unchanged))
}

fn start_process(command: &str, config: &Config) -> SocketAddr {
    // The process ends with this thread, which is the test's.
    let mut child = Command::new("setpriv")
        .args(["--pdeathsig", "KILL", "--"])
        .args(command.split_whitespace())
        .args(options(config))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // "... listening on ADDRESS"
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    std::thread::spawn(move || child.wait());
    line.split_whitespace().last().unwrap().parse().unwrap()
}

fn options(config: &Config) -> Vec<String> {
    let milliseconds = |name, time: Duration| format!("--{name}-timeout-ms={}", time.as_millis());
    let connection = if config.close_connections {
        "close"
    } else {
        "keep-alive"
    };
    let mut options = vec![
        "--listen=127.0.0.1:0".to_owned(),
        format!("--connection={connection}"),
        format!("--max-connections={}", config.max_connections),
        milliseconds("read", config.read_timeout),
        milliseconds("write", config.write_timeout),
        milliseconds("idle", config.idle_timeout),
        milliseconds("upstream", config.upstream_timeout),
    ];
    options.extend(config.upstream.iter().map(|to| format!("--upstream={to}")));
    options
}

/// Starts another service in the same way.
pub fn start_with(config: Config, service: impl Service + Send + 'static) -> SocketAddr {
    let config = Config {
        listen: "127.0.0.1:0".parse().unwrap(),
        ..config
    };
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let server = Server::bind(config, service).unwrap();
        sender.send(server.local_addr().unwrap()).unwrap();
        server.run()
    });
    receiver.recv().unwrap()
}

/// A response, as received.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

/// A connection that keeps what it read beyond a response.
pub struct Client {
    pub stream: TcpStream,
    read: Vec<u8>,
}

impl Client {
    pub fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Self {
            stream,
            read: Vec::new(),
        }
    }

    pub fn send(&mut self, bytes: impl AsRef<[u8]>) -> &mut Self {
        self.stream.write_all(bytes.as_ref()).unwrap();
        self
    }

    pub fn get(&mut self, target: &str) -> Answer {
        self.send(format!("GET {target} HTTP/1.1\r\nHost: x\r\n\r\n"))
            .answer()
    }

    /// Reads one response that has a body.
    pub fn answer(&mut self) -> Answer {
        let head = self.head();
        let length = field(&head, "content-length").map_or(0, |value| value.parse().unwrap());
        while self.read.len() < length {
            assert!(self.fill() > 0, "the body ends too early: {head}");
        }
        let body = String::from_utf8(self.read.drain(..length).collect()).unwrap();
        Answer {
            status: head[9..12].parse().unwrap(),
            head,
            body,
        }
    }

    /// Reads a head only.
    pub fn head(&mut self) -> String {
        loop {
            if let Some(end) = self.read.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                return String::from_utf8(self.read.drain(..end + 4).collect()).unwrap();
            }
            assert!(self.fill() > 0, "the connection ended without an answer");
        }
    }

    /// Returns everything received until the server ends the connection.
    pub fn rest(&mut self) -> Vec<u8> {
        while self.fill() > 0 {}
        std::mem::take(&mut self.read)
    }

    fn fill(&mut self) -> usize {
        let mut bytes = [0; 16 * 1024];
        // The end of a child process may interrupt any thread.
        let count = loop {
            match self.stream.read(&mut bytes) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => break read.unwrap(),
            }
        };
        self.read.extend_from_slice(&bytes[..count]);
        count
    }
}

/// The value of a header field.
pub fn field(head: &str, name: &str) -> Option<String> {
    head.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        key.eq_ignore_ascii_case(name)
            .then(|| value.trim().to_owned())
    })
}

/// Whether nothing has come from the server yet.
fn is_silent(client: &Client) -> bool {
    client.stream.set_nonblocking(true).unwrap();
    let peeked = client.stream.peek(&mut [0]);
    client.stream.set_nonblocking(false).unwrap();
    peeked.is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
}

/// Others get their responses before anything comes to the `slow` clients, whose own timeout is
/// longer than this takes on any machine: so the others did not wait for the slow ones.
pub fn assert_others_are_answered(slow: &[Client], address: SocketAddr) {
    let mut other = Client::connect(address);
    for _ in 0..20 {
        assert_eq!(other.get("/").body, "hello");
    }
    assert!(slow.iter().all(is_silent), "others waited for a slow one");
}
