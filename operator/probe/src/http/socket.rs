//! A connection to a subject, with TLS or without: requests go in and answers come out as plain bytes.

use std::borrow::Cow;
use std::io::{self, ErrorKind, Read, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use rustls::ClientConnection;

use super::{ANSWER, CONNECT, Error, tls};
use crate::target::Target;

/// The connection.
#[derive(Debug)]
pub(super) struct Socket {
    stream: TcpStream,
    tls: Option<Box<ClientConnection>>,
}

impl Socket {
    /// Connects and, if the subject speaks TLS, shakes hands.
    pub fn open(target: &Target) -> Result<Self, Error> {
        let address = target.origin.address;
        let mut stream = TcpStream::connect_timeout(&address, CONNECT).map_err(Error::Connect)?;
        // Nagle's algorithm would wait for nothing here: a request is one write.
        stream.set_nodelay(true).map_err(Error::Broken)?;
        stream
            .set_write_timeout(Some(ANSWER))
            .map_err(Error::Broken)?;
        let name = target.server_name();
        let tls = name.map(|name| tls::handshake(&mut stream, name, address.ip()));
        Ok(Self {
            stream,
            tls: tls.transpose()?.map(Box::new),
        })
    }

    /// What is written for a request: itself, or the TLS records that hold it.
    pub fn sealed<'a>(&mut self, request: &'a [u8]) -> io::Result<Cow<'a, [u8]>> {
        let Some(tls) = &mut self.tls else {
            return Ok(Cow::Borrowed(request));
        };
        tls.writer().write_all(request)?;
        let mut records = Vec::with_capacity(request.len() + 1024);
        while tls.wants_write() {
            tls.write_tls(&mut records)?;
        }
        Ok(Cow::Owned(records))
    }

    /// Writes what is sealed.
    pub fn write(&mut self, sealed: &[u8]) -> io::Result<()> {
        self.stream.write_all(sealed)
    }

    /// Where what is sealed is written while the answer is read.
    pub fn writing(&self) -> io::Result<TcpStream> {
        self.stream.try_clone()
    }

    /// How long a single read may take.
    pub fn set_read_timeout(&self, timeout: Duration) -> io::Result<()> {
        self.stream.set_read_timeout(Some(timeout))
    }

    /// Ends the connection in both directions.
    pub fn shut_down(&self) {
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

impl Read for Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(tls) = &mut self.tls else {
            return self.stream.read(buffer);
        };
        loop {
            match tls.reader().read(buffer) {
                // All that has come is read.
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                // Many servers end a connection without a word of TLS. Whether an answer is complete
                // is for HTTP to say.
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(0),
                read => return read,
            }
            tls.read_tls(&mut self.stream)?;
            tls.process_new_packets().map_err(io::Error::other)?;
        }
    }
}

impl Drop for Socket {
    /// Servers log connections that end without this word.
    fn drop(&mut self) {
        if let Some(tls) = &mut self.tls {
            tls.send_close_notify();
            let _ = tls.write_tls(&mut self.stream);
        }
    }
}
