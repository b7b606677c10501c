//! One connection: requests in, the bytes of their scripts out.

use std::io::{self, Read as _, Write as _};
use std::time::Duration;

use rustix::net::sockopt::set_socket_linger;

use crate::behaviour::Kind;
use crate::script::{End, Moment, Script, Step, script};
use crate::server::Server;
use crate::stream::Stream;
use crate::strict;

/// How the requests of a probe that judges answers introduce themselves.
const PROBE: &[u8] = b"wasmbench-probe/";
const MOST_HEADERS: usize = 64;

/// What the head of a request contains.
struct Head {
    target: String,
    method: String,
    headers: Vec<(String, Vec<u8>)>,
    is_of_load: bool,
    is_kept: bool,
    /// Bytes of the head itself, and of the body after it.
    bytes: usize,
    body_bytes: usize,
}

impl Head {
    /// All values of a header.
    fn values(&self, name: &str) -> Vec<&[u8]> {
        let headers = self.headers.iter();
        let named = headers.filter(|(other, _)| other.eq_ignore_ascii_case(name));
        named.map(|(_, value)| value.as_slice()).collect()
    }
}

/// A connection, and what was read from it.
struct Connection<'a> {
    server: &'a Server,
    stream: Stream,
    unread: Vec<u8>,
}

/// Answers requests until either side ends the connection.
pub fn serve(server: &Server, stream: Stream) -> io::Result<()> {
    stream.socket().set_nodelay(true)?;
    let mut connection = Connection {
        server,
        stream,
        unread: vec![],
    };
    let mut count = 0;
    while let Some(head) = connection.head()? {
        count += 1;
        match connection.answer(&head, count)? {
            End::Kept => {}
            End::Closed => return Ok(()),
            // Closing it with this option sends a reset.
            End::Reset => {
                let socket = connection.stream.socket();
                return Ok(set_socket_linger(socket, Some(Duration::ZERO))?);
            }
        }
    }
    Ok(())
}

impl Connection<'_> {
    /// The next head; `None` at the end of the connection.
    fn head(&mut self) -> io::Result<Option<Head>> {
        loop {
            if let Some(head) = parsed(&self.unread)? {
                self.unread.drain(..head.bytes);
                return Ok(Some(head));
            }
            if !self.read_more()? {
                return Ok(None);
            }
        }
    }

    fn answer(&mut self, head: &Head, of_connection: u64) -> io::Result<End> {
        let behaviour = match self.server.behaviour(&head.target) {
            Ok(behaviour) => behaviour,
            Err(message) => return self.refuse(&message),
        };
        let is_early = behaviour.kind == Kind::Early;
        let body = if is_early {
            vec![]
        } else {
            self.take(head.body_bytes)?
        };
        self.server.prepare(behaviour.kind, &head.target)?;
        let moment = self
            .server
            .moment(head.is_of_load, of_connection, head.is_kept);
        let difference = strict::difference(&head.method, |name| head.values(name), &body);
        let moment = Moment {
            difference,
            ..moment
        };
        let Script { steps, end } = script(&behaviour, &moment);
        for step in steps {
            match step {
                Step::Write(bytes) => self.stream.write_all(&bytes)?,
                Step::Pause(time) => std::thread::sleep(time),
            }
        }
        if is_early {
            self.take(head.body_bytes)?;
        }
        Ok(end)
    }

    fn refuse(&mut self, message: &str) -> io::Result<End> {
        let length = message.len();
        let head = format!(
            "HTTP/1.1 400 Bad Request\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
        );
        self.stream.write_all((head + message).as_bytes())?;
        Ok(End::Closed)
    }

    /// The next bytes.
    fn take(&mut self, bytes: usize) -> io::Result<Vec<u8>> {
        while self.unread.len() < bytes {
            if !self.read_more()? {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(self.unread.drain(..bytes).collect())
    }

    /// Returns false at the end of the connection.
    fn read_more(&mut self) -> io::Result<bool> {
        let mut buffer = [0; 4096];
        let read = self.stream.read(&mut buffer)?;
        self.unread.extend_from_slice(&buffer[..read]);
        Ok(read > 0)
    }
}

/// The head at the beginning of these bytes, if it is complete.
fn parsed(bytes: &[u8]) -> io::Result<Option<Head>> {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    let status = request.parse(bytes).map_err(io::Error::other)?;
    let httparse::Status::Complete(head_bytes) = status else {
        return Ok(None);
    };
    let header = |name: &str| {
        let mut headers = request.headers.iter();
        let found = headers.find(|header| header.name.eq_ignore_ascii_case(name));
        found.map_or(&b""[..], |header| header.value)
    };
    let wish = header("connection");
    let length = str::from_utf8(header("content-length")).unwrap_or_default();
    Ok(Some(Head {
        target: request.path.unwrap_or_default().to_owned(),
        method: request.method.unwrap_or_default().to_owned(),
        headers: request
            .headers
            .iter()
            .map(|header| (header.name.to_owned(), header.value.to_owned()))
            .collect(),
        is_of_load: !header("user-agent").starts_with(PROBE),
        is_kept: if request.version == Some(0) {
            wish.eq_ignore_ascii_case(b"keep-alive")
        } else {
            !wish.eq_ignore_ascii_case(b"close")
        },
        bytes: head_bytes,
        body_bytes: length.parse().unwrap_or_default(),
    }))
}
