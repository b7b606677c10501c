//! The gateway with the module that is measured.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const BINARY: &str = env!("CARGO_BIN_EXE_gateway-embedded");

/// The module: from WASMBENCH_TRANSFORM_WASM, otherwise built. Without it the tests fail.
fn module() -> PathBuf {
    if let Some(path) = std::env::var_os("WASMBENCH_TRANSFORM_WASM") {
        return path.into();
    }
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let output = Command::new(format!("{root}/hack/wasm"))
        .args(["build", "transform"])
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    assert!(output.status.success(), "hack/wasm build transform failed");
    String::from_utf8(output.stdout).unwrap().trim().into()
}

struct Gateway {
    child: Child,
    address: String,
}

impl Gateway {
    fn start(arguments: &[&str]) -> Self {
        Self::start_with(&module(), arguments)
    }

    fn start_with(module: &Path, arguments: &[&str]) -> Self {
        let mut child = Command::new(BINARY)
            .args(["--listen", "127.0.0.1:0", "--module"])
            .arg(module)
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        assert!(
            line.starts_with("wasmbench: embedded listening on 127.0.0.1:"),
            "{line}"
        );
        let address = line.trim_end().rsplit(' ').next().unwrap().to_owned();
        Self { child, address }
    }

    /// Status and body.
    fn get(&self, target: &str) -> (String, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(stream, "GET {target} HTTP/1.0\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head[9..12].to_owned(), body.to_owned())
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const MODES: [&[&str]; 3] = [
    &["--engine-allocator", "OnDemand"],
    &[
        "--engine-allocator",
        "OnDemand",
        "--engine-memory",
        "Mapped",
    ],
    &["--engine-allocator", "Pooling"],
];

#[test]
fn each_answer_of_a_workload_passes_through_the_module() {
    for mode in MODES {
        let gateway = Gateway::start(mode);
        let digest = "66687aadf862bd776c8fc18b8e9f8e20089714856ee233b3902a591d0d5f2925";
        for (target, body) in [
            ("/", "wasm:hello".to_owned()),
            ("/state", "wasm:1".to_owned()),
            ("/state", "wasm:2".to_owned()),
            ("/compute?iters=1", format!("wasm:{digest}")),
            ("/health", "ok".to_owned()),
        ] {
            assert_eq!(gateway.get(target), ("200".to_owned(), body), "{mode:?}");
        }
        assert_eq!(gateway.get("/compute?iters=x").1, "iters is not a number");
    }
}

#[test]
fn a_forwarded_answer_passes_through_the_module_whatever_its_length() {
    for length in [0, 1, 507, 508, 5_000, 70_000, 3_000_000] {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let upstream = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            while !lines.next().unwrap().unwrap().is_empty() {}
            write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n"
            )
            .unwrap();
            stream.write_all(&vec![b'x'; length]).unwrap();
            // Held open until the gateway has read everything.
            let _ = stream.read(&mut [0]);
        });
        let gateway = Gateway::start(&["--upstream", &address, "--engine-allocator", "Pooling"]);
        let (status, body) = gateway.get("/any");
        assert_eq!((status.as_str(), body.len()), ("200", length + 5));
        assert!(body.starts_with("wasm:"));
        drop(gateway);
        upstream.join().unwrap();
    }
}

#[test]
fn the_engine_reports_its_mode() {
    for (mode, allocator, memory) in [
        (0, "OnDemand", "Heap"),
        (1, "OnDemand", "Mapped"),
        (2, "Pooling", "Mapped"),
    ] {
        let (_, engine) = Gateway::start(MODES[mode]).get("/engine");
        for member in [
            r#""engine":"wasmtime""#.to_owned(),
            r#""version":"48."#.to_owned(),
            format!(r#""allocator":"{allocator}""#),
            format!(r#""memory":"{memory}""#),
            r#""moduleSha256":""#.to_owned(),
            r#""compileMode":"Jit""#.to_owned(),
        ] {
            assert!(engine.contains(&member), "{engine}");
        }
        let (_, ratio) = engine.rsplit_once(r#""computeRatio":"#).unwrap();
        let ratio: f64 = ratio.trim_end_matches('}').parse().unwrap();
        // The native side of the ratio is not optimised in a test.
        assert!((0.001..5.0).contains(&ratio), "{engine}");
    }
}

#[test]
fn precompiled_code_answers_the_same_and_is_not_taken_for_a_module() {
    let output = std::env::temp_dir().join(format!("wasmbench-{}.cwasm", std::process::id()));
    for allocator in ["OnDemand", "Pooling"] {
        let made = Command::new(BINARY)
            .args(["precompile", allocator])
            .args([&module(), &output])
            .status()
            .unwrap();
        assert!(made.success());
        let arguments = ["--engine-compile", "Aot", "--engine-allocator", allocator];
        let gateway = Gateway::start_with(&output, &arguments);
        assert_eq!(
            gateway.get("/"),
            ("200".to_owned(), "wasm:hello".to_owned())
        );
        let (_, engine) = gateway.get("/engine");
        assert!(engine.contains(r#""compileMode":"Aot""#), "{engine}");
        assert!(!engine.contains(r#""computeRatio":null"#), "{engine}");
        // It fits neither the other mode nor the other allocator.
        let other = if allocator == "Pooling" {
            "OnDemand"
        } else {
            "Pooling"
        };
        for wrong in [
            ["--engine-compile", "Jit", "--engine-allocator", allocator],
            ["--engine-compile", "Aot", "--engine-allocator", other],
        ] {
            let refused = Command::new(BINARY)
                .arg("--module")
                .arg(&output)
                .args(wrong)
                .output()
                .unwrap();
            let stderr = String::from_utf8(refused.stderr).unwrap();
            assert_eq!(refused.status.code(), Some(2), "{stderr}");
            assert!(
                stderr.contains("could not prepare the Wasm module"),
                "{stderr}"
            );
        }
    }
    std::fs::remove_file(output).unwrap();
}

#[test]
fn an_unusable_module_is_reported_in_one_sentence_with_code_two() {
    let file = std::env::temp_dir().join(format!("wasmbench-{}.wasm", std::process::id()));
    std::fs::write(&file, "no module").unwrap();
    for (arguments, message) in [
        (
            ["--module", "/nowhere.wasm"],
            "could not read the Wasm module /nowhere.wasm: ",
        ),
        (
            ["--module", file.to_str().unwrap()],
            "could not prepare the Wasm module: ",
        ),
        (
            ["--engine-allocator", "Lazy"],
            "'Lazy' is not OnDemand or Pooling",
        ),
    ] {
        let output = Command::new(BINARY).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.contains(message), "{stderr}");
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
    }
    std::fs::remove_file(file).unwrap();
}
