//! Where a server listens by default: on all addresses of its pod, whether the cluster has
//! IPv4, IPv6 or both. A port in, an address out.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Whether sockets for IPv6 keep IPv4 away by default. The file is missing where the
/// kernel has no IPv6.
const ONLY_V6: &str = "/proc/sys/net/ipv6/bindv6only";
/// The address of the API server's service, which the kubelet gives to every container.
const API_SERVER: &str = "KUBERNETES_SERVICE_HOST";

/// All addresses, at this port.
pub fn everywhere(port: u16) -> SocketAddr {
    let ip = if cfg!(target_os = "wasi") {
        of_cluster(std::env::var(API_SERVER).ok().as_deref())
    } else {
        of_kernel(std::fs::read_to_string(ONLY_V6).ok().as_deref())
    };
    SocketAddr::new(ip, port)
}

/// On Linux one socket takes both families, as long as there is IPv6.
fn of_kernel(only_v6: Option<&str>) -> IpAddr {
    match only_v6.map(str::trim) {
        Some("0") => Ipv6Addr::UNSPECIFIED.into(),
        Some(_) | None => Ipv4Addr::UNSPECIFIED.into(),
    }
}

/// In WASI a socket takes one family only: that of the cluster's services, which the pod's first
/// address has, too.
fn of_cluster(api_server: Option<&str>) -> IpAddr {
    match api_server.and_then(|address| address.parse().ok()) {
        Some(IpAddr::V6(_)) => Ipv6Addr::UNSPECIFIED.into(),
        Some(IpAddr::V4(_)) | None => Ipv4Addr::UNSPECIFIED.into(),
    }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn a_server_is_reached_by_every_family_that_the_machine_has() -> std::io::Result<()> {
        let listener = TcpListener::bind(everywhere(0))?;
        let port = listener.local_addr()?.port();
        TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        if TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).is_ok() {
            TcpStream::connect((Ipv6Addr::LOCALHOST, port))?;
        }
        Ok(())
    }

    #[test]
    fn ipv4_is_used_without_ipv6_or_where_ipv6_would_exclude_it() {
        for (only_v6, wanted) in [
            (Some("0\n"), "::"),
            (Some("1\n"), "0.0.0.0"),
            (None, "0.0.0.0"),
        ] {
            assert_eq!(of_kernel(only_v6).to_string(), wanted, "{only_v6:?}");
        }
    }

    #[test]
    fn a_guest_has_the_family_of_the_cluster() {
        for (api_server, wanted) in [
            (Some("10.96.0.1"), "0.0.0.0"),
            (Some("fd00:10:96::1"), "::"),
            (Some("api.example.com"), "0.0.0.0"),
            (None, "0.0.0.0"),
        ] {
            assert_eq!(of_cluster(api_server).to_string(), wanted, "{api_server:?}");
        }
    }
}
