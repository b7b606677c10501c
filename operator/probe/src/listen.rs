//! The subject for the harness's floor: it listens, reports it, and answers. Its cold start takes
//! what the API server, scheduler, kubelet, container runtime and this probe take by themselves.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::ExitCode;
use std::time::Duration;

use crate::output::progress;

/// A client that sends nothing must not keep the others waiting.
const PATIENCE: Duration = Duration::from_secs(1);
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nfloor";

/// Listens on `address` until the process is ended.
pub fn run(address: SocketAddr) -> ExitCode {
    let listener = match TcpListener::bind(address) {
        Ok(listener) => listener,
        Err(error) => {
            progress(&format!("cannot listen on {address}: {error}"));
            return ExitCode::FAILURE;
        }
    };
    progress(&format!("wasmbench: floor listening on {address}"));
    serve(&listener);
    ExitCode::SUCCESS
}

fn serve(listener: &TcpListener) {
    for stream in listener.incoming().flatten() {
        // A client that goes away early has measured nothing.
        let _ = answer(stream);
    }
}

/// Answers one request, whatever it is.
fn answer(mut stream: TcpStream) -> std::io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    let _ = stream.read(&mut [0; 4096])?;
    stream.write_all(ANSWER)
}

#[cfg(test)]
mod tests {
    use wasmbench_api::run::Expectation;

    use super::*;
    use crate::ready::{Patience, Question};
    use crate::target::Target;

    #[test]
    fn the_floor_meets_a_plain_expectation() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || serve(&listener));
        let target = Target::new(address, "/").unwrap();
        let expect: Expectation = serde_json::from_str("{}").unwrap();
        let question = Question {
            ready: None,
            target: &target,
            expect: &expect,
            variant_prefix: "",
        };
        let answer = question
            .wait(Patience::start(Duration::from_secs(5)))
            .outcome
            .unwrap();
        assert_eq!(answer.excerpt, "floor");
    }
}
