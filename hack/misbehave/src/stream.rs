//! A connection, with TLS or without.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// The connection.
pub enum Stream {
    /// Without TLS.
    Plain(TcpStream),
    /// With TLS; the first read shakes hands.
    Tls(Box<StreamOwned<ServerConnection, TcpStream>>),
}

/// What connections with TLS share: a certificate that is made now, signed by itself, and proves nothing.
pub fn config() -> io::Result<Arc<ServerConfig>> {
    let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?;
    let made = rcgen::generate_simple_self_signed(["misbehave.invalid".to_owned()])
        .map_err(io::Error::other)?;
    let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    let config = builder
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.into()], key.into())
        .map_err(io::Error::other)?;
    Ok(Arc::new(config))
}

impl Stream {
    /// The connection on this socket.
    pub fn new(socket: TcpStream, tls: Option<&Arc<ServerConfig>>) -> io::Result<Self> {
        let Some(config) = tls else {
            return Ok(Self::Plain(socket));
        };
        let tls = ServerConnection::new(Arc::clone(config)).map_err(io::Error::other)?;
        Ok(Self::Tls(Box::new(StreamOwned::new(tls, socket))))
    }

    /// Its socket.
    pub fn socket(&self) -> &TcpStream {
        match self {
            Self::Plain(socket) => socket,
            Self::Tls(stream) => &stream.sock,
        }
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.read(buffer),
            Self::Tls(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.write(bytes),
            Self::Tls(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(socket) => socket.flush(),
            Self::Tls(stream) => stream.flush(),
        }
    }
}
