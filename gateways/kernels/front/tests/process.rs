//! The front as a process, with executors that are shell scripts.

#![expect(clippy::unwrap_used, reason = "a test")]

use std::fs::{File, exists, write};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// Answers as documented, and logs its arguments and its end.
const ORDINARY: &str = r#"
echo "$@" >arguments
echo 'ready {"engine":"fake","version":"1.2"}'
while read -r id name repeats; do
  if [ "$name" = lu ]; then echo "$id ! not today";
  elif [ "$repeats" = 2 ]; then echo "$id 0000000000000000 40"; else echo "$id 3ff8000000000000 40"; fi
done
touch ended"#;
/// Makes a process for each call.
const PROCESSES: &str = r#"
echo 'ready {}'
while read -r id _; do echo "$id 3ff8000000000000 40 1 2 3000"; done"#;
/// Answers calls in pairs. A third one within a moment is answered with an error.
const PAIRS: &str = r#"
echo 'ready {}'
while read -r one _; do
  touch begun
  read -r two _
  if read -r -t 0.3 three _; then echo "$three ! three at once"; fi
  printf '%s 3ff8000000000000 0\n' "$one" "$two"
done"#;
/// Answers when there is a file `go`.
const PATIENT: &str = r#"
echo 'ready {}'
while read -r id _; do
  touch begun
  until [ -e go ]; do sleep 0.01; done
  echo "$id 3ff8000000000000 0"
done"#;
/// Ends with its first call.
const MORTAL: &str = r"
echo 'ready {}'
read -r _
echo 'a first line' >&2
echo 'out of luck' >&2
exit 3";

/// A front, and the folder in which it and its executor run.
struct Front {
    folder: TempDir,
    child: Child,
    address: String,
}

/// The front's command, whose executor is this script.
fn command(folder: &Path, script: &str, environment: &[(&str, &str)]) -> Command {
    write(folder.join("executor.sh"), script).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_kernel-front"));
    command
        .current_dir(folder)
        .env("WASMBENCH_LISTEN", "127.0.0.1:0")
        .env("WASMBENCH_KERNEL_EXECUTOR", "bash executor.sh")
        .envs(environment.iter().copied())
        .stdout(Stdio::piped())
        .stderr(File::create(folder.join("errors")).unwrap());
    command
}

impl Front {
    fn start(script: &str, environment: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut child = command(folder.path(), script, environment).spawn().unwrap();
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        let address = line.strip_prefix("wasmbench: kernel listening on ");
        Self {
            address: address.unwrap().trim_end().to_owned(),
            folder,
            child,
        }
    }

    fn get(&self, path: &str) -> (u16, String) {
        get(&self.address, path)
    }

    /// Waits until the executor has made this file.
    fn await_file(&self, name: &str) {
        while !exists(self.folder.path().join(name)).unwrap() {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn make_file(&self, name: &str) {
        File::create(self.folder.path().join(name)).unwrap();
    }

    fn terminate(&self) {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, Signal::TERM).unwrap();
    }

    /// Waits for the end. Returns whether it was a success, and standard error.
    fn end(mut self) -> (bool, String) {
        let status = self.child.wait().unwrap();
        (status.success(), errors(self.folder.path()))
    }
}

impl Drop for Front {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn errors(folder: &Path) -> String {
    std::fs::read_to_string(folder.join("errors")).unwrap()
}

/// Status and body; (0, "") if the connection ends before.
fn get(address: &str, path: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    let head = format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    let status = answer.split(' ').nth(1);
    let status = status.and_then(|status| status.parse().ok());
    let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    (status.unwrap_or_default(), body.to_owned())
}

#[test]
fn a_kernel_is_answered_with_its_checksum() {
    let front = Front::start(ORDINARY, &[]);
    assert_eq!(front.get("/health"), (200, "ok".into()));
    let answer = front.get("/kernel?name=gemm");
    assert_eq!(answer, (200, "1.5000000000e+00".into()));
    let answer = front.get("/kernel?name=gemm&repeats=2");
    assert_eq!(answer, (200, "0.0000000000e+00".into()));
    assert_eq!(front.get("/kernel?name=gemm&repeats=0").0, 400);
    assert_eq!(front.get("/kernel?name=lu"), (500, "not today".into()));
    let (status, names) = front.get("/kernel?name=x");
    assert_eq!(status, 404);
    assert!(
        names.contains("'x'; there are: ") && names.contains(" gemm "),
        "{names}"
    );
    assert_eq!(front.get("/other").0, 404);
}

#[test]
fn the_engine_is_what_the_executor_reports_with_settings_and_totals() {
    let front = Front::start(ORDINARY, &[("WASMBENCH_ENGINE_BOUNDS_CHECKS", "Clamp")]);
    for _ in 0..3 {
        front.get("/kernel?name=gemm");
    }
    let (status, facts) = front.get("/engine");
    assert_eq!(status, 200);
    for member in [
        r#""engine":"fake""#,
        r#""version":"1.2""#,
        r#""threads":1"#,
        r#""boundsChecks":"Clamp""#,
        r#""calls":3"#,
        r#""instanceNanoseconds":120"#,
    ] {
        assert!(facts.contains(member), "{member}: {facts}");
    }
    let arguments = std::fs::read_to_string(front.folder.path().join("arguments"));
    let expected = "--threads 1 --bounds-checks Clamp /kernels\n";
    assert_eq!(arguments.unwrap(), expected);
}

#[test]
fn what_processes_used_that_have_ended_is_added_up() {
    let front = Front::start(PROCESSES, &[]);
    let (_, before) = front.get("/engine");
    assert!(!before.contains("process"), "{before}");
    for _ in 0..3 {
        front.get("/kernel?name=gemm");
    }
    let (_, facts) = front.get("/engine");
    for member in [
        r#""processVoluntarySwitches":3"#,
        r#""processInvoluntarySwitches":6"#,
        r#""processCpuNanoseconds":9000"#,
    ] {
        assert!(facts.contains(member), "{member}: {facts}");
    }
}

#[test]
fn as_many_calls_run_at_once_as_there_are_threads_and_health_is_answered_meanwhile() {
    let front = Front::start(PAIRS, &[("WASMBENCH_ENGINE_THREADS", "2")]);
    std::thread::scope(|scope| {
        let first = scope.spawn(|| front.get("/kernel?name=gemm"));
        // The first call waits for a second one.
        front.await_file("begun");
        assert_eq!(front.get("/health").0, 200);
        let others: Vec<_> = (0..3)
            .map(|_| scope.spawn(|| front.get("/kernel?name=gemm")))
            .collect();
        for call in others.into_iter().chain([first]) {
            assert_eq!(call.join().unwrap(), (200, "1.5000000000e+00".into()));
        }
    });
}

#[test]
fn an_executor_that_ends_ends_the_front_with_its_last_line() {
    let front = Front::start(MORTAL, &[]);
    assert_eq!(front.get("/kernel?name=gemm").0, 0);
    let (is_success, errors) = front.end();
    assert!(!is_success);
    assert_eq!(
        errors,
        "a first line\nout of luck\nwasmbench: kernel: the executor ended (exit status: 3): out of luck\n"
    );
}

#[test]
fn a_front_without_a_ready_executor_does_not_listen() {
    for (script, message) in [
        (
            "echo 'no kernels' >&2; exit 2",
            "(exit status: 2): no kernels",
        ),
        ("exit 0", "the executor ended: exit status: 0"),
        ("echo steady; read -r _", "'steady' is not 'ready'"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let ended = command(folder.path(), script, &[]).output().unwrap();
        assert_eq!(String::from_utf8(ended.stdout).unwrap(), "");
        assert!(!ended.status.success());
        let errors = errors(folder.path());
        assert!(errors.contains(message), "{errors}");
    }
    let folder = tempfile::tempdir().unwrap();
    let environment = [("WASMBENCH_KERNEL_EXECUTOR", "/no/executor")];
    let ended = command(folder.path(), "", &environment).output().unwrap();
    assert!(!ended.status.success());
    assert!(errors(folder.path()).contains("could not start /no/executor"));
}

#[test]
fn an_answer_to_no_call_ends_the_front() {
    let front = Front::start(
        "echo 'ready {}'; read -r _; echo '7 3ff8000000000000 0'; read -r _",
        &[],
    );
    assert_eq!(front.get("/kernel?name=gemm").0, 0);
    let (is_success, errors) = front.end();
    assert!(!is_success);
    assert!(
        errors.contains("the executor was stopped: '7 3ff8000000000000 0' answers no call"),
        "{errors}"
    );
}

#[test]
fn a_signal_ends_it_after_the_calls_that_run() {
    let front = Front::start(PATIENT, &[]);
    let address = front.address.clone();
    let call = std::thread::spawn(move || get(&address, "/kernel?name=gemm"));
    front.await_file("begun");
    front.terminate();
    front.make_file("go");
    assert_eq!(call.join().unwrap().0, 200);
    assert_eq!(front.end(), (true, String::new()));
}

#[test]
fn a_signal_lets_the_executor_end_by_itself() {
    let front = Front::start(ORDINARY, &[]);
    front.terminate();
    front.await_file("ended");
    assert!(front.end().0);
}
