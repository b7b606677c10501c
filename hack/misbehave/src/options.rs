//! The command line: where to listen, and further paths.

use std::net::SocketAddr;
use std::time::Duration;

use crate::behaviour::Behaviour;

/// What `--help` prints.
pub const HELP: &str = "\
Usage: misbehave [--listen=ADDRESS] [--burn=THREADS] [--hold=MEBIBYTES] [--late=NAME=SECONDS]
                 [--tls] [--at=PATH=TARGET]...

  --listen=ADDRESS   where to listen; all addresses, port 8080, if not given
  --burn=THREADS     keeps so many threads busy with nothing, as a noisy neighbour
  --hold=MEBIBYTES   holds so much memory from the start
  --late=NAME=SECONDS  listens so much later where the host's name ends in NAME, so that some of
                     many pods are late: --late=-2-0=30
  --tls              speaks TLS only, with a certificate that nobody vouches for
  --at=PATH=TARGET   answers PATH like TARGET, so that variants may differ under one path:
                     --at=/sizes=/?bytes=50000
";

/// The options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Where to listen.
    pub listen: SocketAddr,
    /// Threads that are busy with nothing.
    pub burn: u32,
    /// Mebibytes of memory that are held from the start.
    pub hold: usize,
    /// The end of a host's name, and how much later this listens there.
    pub late: Option<(String, Duration)>,
    /// Whether connections begin with a TLS handshake.
    pub tls: bool,
    /// Further paths, with their queries if they have any.
    pub further: Vec<(String, Behaviour)>,
}

impl Options {
    /// Reads the arguments, or returns a message on what is wrong with them.
    pub fn parse(arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self {
            listen: listen_address::everywhere(8080),
            burn: 0,
            hold: 0,
            late: None,
            tls: false,
            further: vec![],
        };
        for argument in arguments {
            if argument == "--tls" {
                options.tls = true;
                continue;
            }
            match argument.split_once('=') {
                Some(("--listen", address)) => {
                    options.listen = address.parse().map_err(|_| {
                        format!("--listen '{address}' is not an address and a port")
                    })?;
                }
                Some(("--burn", threads)) => {
                    options.burn = threads
                        .parse()
                        .map_err(|_| format!("--burn '{threads}' is not a number of threads"))?;
                }
                Some(("--hold", mebibytes)) => {
                    options.hold = mebibytes.parse().map_err(|_| {
                        format!("--hold '{mebibytes}' is not a number of mebibytes")
                    })?;
                }
                Some(("--late", value)) => {
                    let refusal = || format!("--late '{value}' is not NAME=SECONDS");
                    let (name, seconds) = value.split_once('=').ok_or_else(refusal)?;
                    let seconds = seconds.parse().map_err(|_| refusal())?;
                    options.late = Some((name.to_owned(), Duration::from_secs(seconds)));
                }
                Some(("--at", value)) => {
                    let (path, target) = value
                        .split_once('=')
                        .ok_or_else(|| format!("--at '{value}' is not PATH=TARGET"))?;
                    options
                        .further
                        .push((path.to_owned(), Behaviour::parse(target)?));
                }
                _ => return Err(format!("there is no option {argument}; see --help")),
            }
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(arguments: &[&str]) -> Result<Options, String> {
        Options::parse(arguments.iter().map(|&argument| argument.to_owned()))
    }

    #[test]
    fn a_path_stands_for_a_target_with_its_query() {
        let options = read(&["--at=/sizes=/?bytes=50000&status=404"]).unwrap();
        let (path, behaviour) = &options.further[0];
        assert_eq!(path, "/sizes");
        assert_eq!(
            (behaviour.body_bytes, behaviour.status),
            (Some(50_000), 404)
        );
    }

    #[test]
    fn invalid_arguments_are_refused() {
        for (argument, message) in [
            ("--at=/a=/nowhere", "there is no path /nowhere"),
            ("--at=/a", "--at '/a' is not PATH=TARGET"),
            ("--late=30", "--late '30' is not NAME=SECONDS"),
            ("--burn=many", "--burn 'many' is not a number of threads"),
            ("--hold=1Gi", "--hold '1Gi' is not a number of mebibytes"),
            (
                "--listen=8080",
                "--listen '8080' is not an address and a port",
            ),
            ("--tls=no", "there is no option --tls=no; see --help"),
            ("--colour", "there is no option --colour; see --help"),
        ] {
            assert_eq!(read(&[argument]), Err(message.to_owned()));
        }
    }
}
