//! TLS as the kubelet speaks it to probe a pod: any certificate is taken, because the subject's is
//! mostly its own, and nothing that is worth reading is sent.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, TcpStream};
use std::sync::{Arc, LazyLock};

use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, SignatureScheme};

use super::{ANSWER, Error};

/// Why the two sides do not agree on TLS, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// What came is no TLS.
    #[error(
        "the connection is accepted, but what comes is no TLS: leave out container.scheme, or name the \
         port with TLS"
    )]
    NotSpoken,
    /// The connection ended before the handshake did.
    #[error(
        "the connection is accepted, but ends in the TLS handshake ({0}): if the port speaks no TLS, \
         leave out container.scheme"
    )]
    Ended(io::Error),
    /// One side refuses the other.
    #[error(
        "there is no agreement on TLS ({0}): let the service speak TLS 1.2 or 1.3, and ask for no \
         certificate of its clients"
    )]
    Refused(rustls::Error),
}

static CONFIG: LazyLock<Result<Arc<ClientConfig>, rustls::Error>> = LazyLock::new(config);

/// Each connection makes a whole handshake, as those of the load generator do.
fn config() -> Result<Arc<ClientConfig>, rustls::Error> {
    let provider = ring::default_provider();
    let schemes = provider
        .signature_verification_algorithms
        .supported_schemes();
    let mut config = ClientConfig::builder_with_provider(Arc::new(provider))
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(AnyCertificate(schemes)))
        .with_no_client_auth();
    config.resumption = Resumption::disabled();
    Ok(Arc::new(config))
}

/// Shakes hands on a new connection, and asks for this name. An address asks for none.
pub(super) fn handshake(
    stream: &mut TcpStream,
    name: String,
    address: IpAddr,
) -> Result<ClientConnection, Error> {
    let refused = |error| Error::Tls(Fault::Refused(error));
    let config = CONFIG.clone().map_err(refused)?;
    let name = ServerName::try_from(name).unwrap_or_else(|_| address.into());
    let mut tls = ClientConnection::new(config, name).map_err(refused)?;
    // A request is sealed as a whole.
    tls.set_buffer_limit(None);
    stream
        .set_read_timeout(Some(ANSWER))
        .map_err(Error::Broken)?;
    match tls.complete_io(stream) {
        Ok(_) if tls.is_handshaking() => Err(Error::Slow(ANSWER)),
        Ok(_) => Ok(tls),
        Err(error) if error.kind() == ErrorKind::WouldBlock => Err(Error::Slow(ANSWER)),
        Err(error) => Err(Error::Tls(fault(error).unwrap_or_else(Fault::Ended))),
    }
}

/// What TLS has against what came; the error itself if it is none of TLS.
pub(super) fn fault(error: io::Error) -> Result<Fault, io::Error> {
    let error = error.downcast::<rustls::Error>()?;
    Ok(if let rustls::Error::InvalidMessage(_) = error {
        Fault::NotSpoken
    } else {
        Fault::Refused(error)
    })
}

/// Takes every certificate. Whether the server holds its key is not checked either: any other key
/// would do as well.
#[derive(Debug)]
struct AnyCertificate(Vec<SignatureScheme>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.clone()
    }
}
