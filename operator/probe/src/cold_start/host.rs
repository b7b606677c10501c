//! Pods on the node's network. Their address is the node's, so requests can be sent before a pod
//! exists. Their port is the node's, too, so something else may hold it.

use std::net::{IpAddr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use wasmbench_model::wire::cold_start::ColdStartRequest;
use wasmbench_model::wire::failure::{Failure, FailureReason};

use super::failure;

/// The API reports the previous sample's pod as gone only when its processes are; this is a margin.
const PATIENCE: Duration = Duration::from_secs(2);
const CONNECT: Duration = Duration::from_millis(200);
const PAUSE: Duration = Duration::from_millis(20);

/// Whether the pods of `request` share the node's network.
pub fn is_shared(request: &ColdStartRequest) -> bool {
    let spec = request.pod.spec.as_ref();
    spec.is_some_and(|spec| spec.host_network == Some(true))
}

/// Checks that nothing listens where the pod will: otherwise something else would answer.
pub fn port_is_free(address: IpAddr, port: u16) -> Result<(), Failure> {
    let began = Instant::now();
    let place = SocketAddr::new(address, port);
    while TcpStream::connect_timeout(&place, CONNECT).is_ok() {
        if began.elapsed() > PATIENCE {
            return Err(failure(
                FailureReason::SubjectNotStarted,
                format!(
                    "port {port} of the node is taken before the pod is there: choose another port, \
                     end what listens on it, or set spec.placement.network to Pod"
                ),
            ));
        }
        std::thread::sleep(PAUSE);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_port_that_something_listens_on_is_not_free() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let place = listener.local_addr().unwrap();
        let taken = port_is_free(place.ip(), place.port()).unwrap_err();
        assert_eq!(taken.reason, FailureReason::SubjectNotStarted);
        assert!(taken.message.contains(&place.port().to_string()));
        drop(listener);
        assert_eq!(port_is_free(place.ip(), place.port()), Ok(()));
    }
}
