//! A process that is started, queried over HTTP, and stopped.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Command, Stdio};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

/// The marker printed after each call.
const MARKER: &str = "XXX_THE_END_OF_A_WHISK_ACTIVATION_XXX";

/// A process of functions on a port of its own.
pub struct Process {
    child: Child,
    output: BufReader<ChildStdout>,
    address: String,
}

impl Process {
    /// Starts the process and waits until it listens.
    pub fn start(program: &str, environment: &[(&str, &str)]) -> Self {
        let mut child = Command::new(program)
            .envs(environment.iter().copied())
            .env("WASMBENCH_LISTEN", "127.0.0.1:0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let address = line.trim_end().rsplit(' ').next().unwrap_or_default();
        assert!(line.contains(" listening on "), "{line}");
        Self {
            address: address.to_owned(),
            child,
            output,
        }
    }

    /// Sends code to a function, which is given as nothing or `/name`.
    pub fn init(&self, function: &str, code: &[u8]) -> (u16, String) {
        let code = BASE64_STANDARD.encode(code);
        let body =
            format!(r#"{{"value":{{"name":"x","main":"main","binary":true,"code":"{code}"}}}}"#);
        self.post(&format!("{function}/init"), body.as_bytes())
    }

    /// Calls a function without parameters.
    pub fn run(&self, function: &str) -> (u16, String) {
        self.post(&format!("{function}/run"), br#"{"value":{}}"#)
    }

    /// Sends a body. Returns the status and the body of the response.
    pub fn post(&self, path: &str, body: &[u8]) -> (u16, String) {
        self.ask("POST", path, body)
    }

    /// Sends a GET request.
    pub fn get(&self, path: &str) -> (u16, String) {
        self.ask("GET", path, b"")
    }

    fn ask(&self, method: &str, path: &str, body: &[u8]) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(&[head.as_bytes(), body].concat()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        (status.unwrap_or_default(), body.to_owned())
    }

    /// Stops the process. Returns how many markers it printed.
    pub fn end(mut self) -> usize {
        self.child.kill().unwrap();
        let mut output = String::new();
        self.output.read_to_string(&mut output).unwrap();
        output.lines().filter(|line| *line == MARKER).count()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
