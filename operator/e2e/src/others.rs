//! The same load by our pipeline (probe, generator, histogram) and by other tools, on the loopback, so
//! no cluster is needed. `hack/selftest` provides the paths of the programs.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};
use tempfile::TempDir;
use wasmbench_model::wire::document::{LoadDocument, TimedWindow, Warmup};
use wasmbench_model::wire::request::REQUEST_ENV;
use wasmbench_results::read::fortio::{self, Load};

use crate::processes::cpu_seconds;

/// A command that runs on one CPU alone, if one is given. taskset is part of util-linux.
fn command_on(cpu: Option<u32>, program: &Path) -> Command {
    let Some(cpu) = cpu else {
        return Command::new(program);
    };
    let mut command = Command::new("taskset");
    command.args(["--cpu-list", &cpu.to_string()]).arg(program);
    command
}

/// The gateway of an image whose files are in this folder, without access to any other file: its
/// runtime's libraries are not those of this machine. chroot is one of the GNU core utilities and
/// replaces itself with the program that it starts.
pub fn in_root(root: &Path) -> Command {
    let mut command = Command::new("chroot");
    command.arg(root).arg("/gateway");
    command
}

/// Path of a program that `hack/selftest` built.
pub fn program(variable: &str) -> PathBuf {
    let path = std::env::var_os(variable);
    path.unwrap_or_else(|| panic!("{variable} names no program: run 'make selftest'"))
        .into()
}

/// A server on a port of its own; it ends when the value is dropped.
#[derive(Debug)]
pub struct Gateway {
    child: Child,
    /// The port on which it listens.
    pub port: u16,
    /// The files that it reads, kept as long as it runs.
    _folder: Option<TempDir>,
}

impl Gateway {
    /// Starts the native gateway and waits until it listens.
    pub fn start() -> Self {
        Self::start_on(None)
    }

    /// Starts the native gateway like [`Gateway::start`], on one CPU alone if one is given.
    pub fn start_on(cpu: Option<u32>) -> Self {
        let command = command_on(cpu, &program("WASMBENCH_GATEWAY"));
        Self::listening(command, free_port(), None)
    }

    /// Starts the embedded gateway with these arguments in addition to the module.
    pub fn embedded(args: &[&str]) -> Self {
        let mut command = Command::new(program("WASMBENCH_GATEWAY_EMBEDDED"));
        let module = program("WASMBENCH_TRANSFORM_WASM");
        command
            .arg(format!("--module={}", module.display()))
            .args(args);
        Self::listening(command, free_port(), None)
    }

    /// Starts the gateway of an image whose files are in this folder, which becomes the root of its
    /// file system.
    pub fn in_root(root: &Path, args: &[&str]) -> Self {
        let mut command = in_root(root);
        command.args(args);
        Self::listening(command, free_port(), None)
    }

    /// Starts nginx in one process, with the same response as the gateways.
    pub fn nginx() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let port = free_port();
        let at = folder.path().display();
        let configuration = format!(
            "daemon off; master_process off; error_log stderr crit; pid {at}/pid;\n\
             events {{ worker_connections 1024; }}\n\
             http {{ access_log off; keepalive_requests 1000000000; client_body_temp_path {at}/b; \
             proxy_temp_path {at}/p; fastcgi_temp_path {at}/f; uwsgi_temp_path {at}/u; \
             scgi_temp_path {at}/s; server {{ listen 127.0.0.1:{port}; \
             location / {{ default_type text/plain; return 200 hello; }} }} }}\n"
        );
        let file = folder.path().join("nginx.conf");
        fs::write(&file, configuration).expect("written");
        let mut command = Command::new("nginx");
        command.arg("-c").arg(&file).arg("-p").arg(folder.path());
        Self::wait(command, port, Some(folder))
    }

    fn listening(mut command: Command, port: u16, folder: Option<TempDir>) -> Self {
        command.arg(format!("--listen=127.0.0.1:{port}"));
        Self::wait(command, port, folder)
    }

    fn wait(mut command: Command, port: u16, folder: Option<TempDir>) -> Self {
        let child = command.stdout(Stdio::null()).spawn();
        let child = child.unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let gateway = Self {
            child,
            port,
            _folder: folder,
        };
        let deadline = Instant::now() + Duration::from_secs(5);
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < deadline, "{command:?} does not listen");
            std::thread::sleep(Duration::from_millis(10));
        }
        gateway
    }
}

fn free_port() -> u16 {
    let free = TcpListener::bind("127.0.0.1:0").expect("a free port");
    free.local_addr().expect("an address").port()
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// How to load the gateway.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// Path and query.
    pub path: &'a str,
    /// Number of connections.
    pub connections: u32,
    /// Length of the timed window.
    pub seconds: u32,
    /// Seconds of discarded load before it.
    pub warmup_seconds: u32,
    /// The only CPU of the generator; `None` for all CPUs.
    pub generator_cpu: Option<u32>,
}

impl Task<'_> {
    fn request(&self, port: u16) -> Value {
        json!({
            "address": "127.0.0.1",
            "port": port,
            "path": self.path,
            "expect": {"status": 200},
            "podUid": "none",
            "connections": self.connections,
            "connectionReuse": "KeepAlive",
            "load": {"kind": "duration", "seconds": self.seconds, "warmupSeconds": self.warmup_seconds},
            "readyTimeoutSeconds": 5,
            "meter": "none",
        })
    }

    /// Measures with our pipeline: the load from which the report would be computed.
    pub fn by_probe(&self, gateway: &Gateway) -> Load {
        let timed = self.probe_with(gateway, &program("WASMBENCH_GENERATOR")).1;
        load_of(&timed)
    }

    /// CPU time of the gateway per request of a load in microseconds, including the warm-up.
    pub fn cpu_per_request(&self, gateway: &Gateway) -> f64 {
        let before = cpu_seconds(gateway.child.id());
        let (warmup, timed) = self.probe_with(gateway, &program("WASMBENCH_GENERATOR"));
        let used = cpu_seconds(gateway.child.id()) - before;
        let load = load_of(&timed);
        assert_eq!(load.failed, 0, "an answer that fails is a cheap one");
        used * 1e6 / (warmup.requests + load.succeeded) as f64
    }

    fn probe_with(&self, gateway: &Gateway, fortio: &Path) -> (Warmup, TimedWindow) {
        let output = command_on(self.generator_cpu, &program("WASMBENCH_PROBE"))
            .arg("load")
            .env("WASMBENCH_GENERATOR", fortio)
            .env(REQUEST_ENV, self.request(gateway.port).to_string())
            .output()
            .expect("the probe runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let line = text.lines().last().unwrap_or_default();
        let document: LoadDocument =
            serde_json::from_str(line).unwrap_or_else(|_| panic!("{text}"));
        assert_eq!(document.failure, None);
        let warmup = document.warmup.expect("a warm-up");
        (warmup, document.timed.expect("a timed window"))
    }

    /// Measures with our pipeline, and also returns the latency of every request in the timed
    /// window in microseconds, in ascending order: the generator writes each one to its log.
    pub fn by_probe_with_log(&self, gateway: &Gateway, folder: &Path) -> (Load, Vec<f64>) {
        // The probe starts the generator several times; the last runs are the timed window. The
        // probe waits for the generator itself, and for the end of what it writes: what reads its task
        // for it must hold neither.
        let script = format!(
            "#!/bin/bash\n[ $# = 0 ] || exec {generator} \"$@\"\nlog={folder}/$(date +%s%N).log\n\
             exec {generator} < <(sed -u \"1s|\\\"log\\\":\\\"\\\"|\\\"log\\\":\\\"$log\\\"|\" 2>/dev/null)\n",
            generator = program("WASMBENCH_GENERATOR").display(),
            folder = folder.display(),
        );
        let wrapper = folder.join("generator");
        fs::write(&wrapper, script).expect("written");
        fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755)).expect("set");
        let (_, timed) = self.probe_with(gateway, &wrapper);
        let mut logs: Vec<PathBuf> = fs::read_dir(folder)
            .expect("listed")
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|end| end == "log"))
            .collect();
        logs.sort();
        let of_window: String = logs
            .split_off(logs.len() - timed.further.len() - 1)
            .iter()
            .map(|log| fs::read_to_string(log).expect("read"))
            .collect();
        (load_of(&timed), latencies(&of_window))
    }

    /// Requests per second, as measured by wrk.
    pub fn by_wrk(&self, gateway: &Gateway) -> f64 {
        let output = Command::new("wrk")
            .args(["-t1", "-c", &self.connections.to_string()])
            .args(["-d", &format!("{}s", self.seconds)])
            .arg(format!("http://127.0.0.1:{}{}", gateway.port, self.path))
            .output()
            .expect("wrk runs: install the package wrk");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(!text.contains("Non-2xx"), "{text}");
        let rate = text.lines().find_map(|l| l.strip_prefix("Requests/sec:"));
        rate.and_then(|rate| rate.trim().parse().ok())
            .unwrap_or_else(|| panic!("wrk gives no rate:\n{text}"))
    }
}

fn load_of(timed: &TimedWindow) -> Load {
    fortio::from_window(timed, 200).expect("fortio's result").0
}

/// The latency of each request in an access log in microseconds, in ascending order.
fn latencies(log: &str) -> Vec<f64> {
    #[derive(Deserialize)]
    struct Line {
        latency: f64,
    }
    let read = |line: &str| serde_json::from_str::<Line>(line).expect("a line").latency * 1e6;
    let mut all: Vec<f64> = log.lines().map(read).collect();
    all.sort_by(f64::total_cmp);
    all
}

/// The value below which `share` of these ascending values lie. It is one of the values, never
/// interpolated.
pub fn exact_quantile(ascending: &[f64], share: f64) -> f64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rank"
    )]
    let rank = (share * ascending.len() as f64).ceil() as usize;
    ascending[rank.clamp(1, ascending.len()) - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_one_of_the_values() {
        let values: Vec<f64> = (1..=200).map(f64::from).collect();
        assert!((exact_quantile(&values, 0.5) - 100.0).abs() < 1e-9);
        assert!((exact_quantile(&values, 0.99) - 198.0).abs() < 1e-9);
        assert!((exact_quantile(&values[..1], 0.99) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn latencies_are_read_in_microseconds() {
        let log = "{\"latency\":0.001718,\"ok\":true}\n{\"latency\":0.000026,\"ok\":true}\n";
        assert!((latencies(log)[0] - 26.0).abs() < 1e-6);
        assert!((latencies(log)[1] - 1718.0).abs() < 1e-6);
    }
}
