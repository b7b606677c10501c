//! Single requests over a plain connection, byte for byte as the test writes them. A client library
//! would correct the Host and the Origin that a test deliberately gets wrong.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// A response that has not arrived by then is not expected any more.
const PATIENCE: Duration = Duration::from_secs(30);

/// The response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// Pairs of a lower-case name and a value.
    pub headers: Vec<(String, String)>,
    /// The body as received.
    pub body: String,
}

impl Answer {
    /// The first header with this name, which must be in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let found = headers.find(|(other, _)| other == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// Sends `method` and `path` with these header lines and this body, and reads until the peer closes
/// the connection.
pub async fn ask(
    address: &str,
    (method, path): (&str, &str),
    headers: &[String],
    body: &str,
) -> Answer {
    let mut lines = vec![
        format!("{method} {path} HTTP/1.1"),
        "connection: close".to_owned(),
    ];
    if method == "POST" {
        lines.push("content-type: application/x-www-form-urlencoded".to_owned());
        lines.push(format!("content-length: {}", body.len()));
    }
    lines.extend_from_slice(headers);
    let request = format!("{}\r\n\r\n{body}", lines.join("\r\n"));
    let exchange = async {
        let mut stream = TcpStream::connect(address).await?;
        stream.write_all(request.as_bytes()).await?;
        let mut answer = vec![];
        stream.read_to_end(&mut answer).await?;
        std::io::Result::Ok(answer)
    };
    let answer = tokio::time::timeout(PATIENCE, exchange).await;
    let answer = answer.unwrap_or_else(|_| panic!("no end after {PATIENCE:?}: {method} {path}"));
    parsed(&String::from_utf8_lossy(&answer.expect("an answer")))
}

fn parsed(text: &str) -> Answer {
    let (head, body) = text.split_once("\r\n\r\n").expect("a head");
    let mut lines = head.lines();
    let status = lines
        .next()
        .and_then(|line| line.split(' ').nth(1))
        .and_then(|code| code.parse().ok());
    let header = |line: &str| {
        let (name, value) = line.split_once(':')?;
        Some((name.to_ascii_lowercase(), value.trim().to_owned()))
    };
    Answer {
        status: status.expect("a status"),
        headers: lines.filter_map(header).collect(),
        body: body.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_parsed() {
        let answer =
            parsed("HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\nX-A: b: c\r\n\r\ngone\r\n\r\n");
        assert_eq!((answer.status, &*answer.body), (404, "gone\r\n\r\n"));
        assert_eq!(answer.header("x-a"), Some("b: c"));
        assert_eq!(answer.header("x-b"), None);
    }
}
