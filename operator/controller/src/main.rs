//! `wasmbench-operator run` is the operator, `wasmbench-operator crd` prints the CRDs.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Parser, Subcommand};
use listen_address::everywhere;
use wasmbench_controller::{VERSION, context::Context, crds, http, operator};
use wasmbench_core::config::OperatorConfig;

/// The port of the probes and the metrics in the chart.
const PORT: u16 = 8080;

#[derive(Parser)]
#[command(
    name = "wasmbench-operator",
    version = VERSION.as_str(),
    about = "Measures BenchmarkRuns."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Watch BenchmarkRuns and measure them, and start those of BenchmarkSchedules.
    Run {
        /// The configuration that the chart renders.
        #[arg(
            long,
            env = "WASMBENCH_CONFIG",
            default_value = "/etc/wasmbench/config.yaml"
        )]
        config: PathBuf,
        /// Where /livez, /readyz and /metrics are served. Default: all addresses, port 8080.
        #[arg(long, env = "WASMBENCH_LISTEN")]
        listen: Option<String>,
        /// Name of the pod that it runs in, by which other operators find out whether it still exists.
        #[arg(long, env = "WASMBENCH_POD", default_value = "by-hand")]
        pod: String,
    },
    /// Print the CustomResourceDefinitions as YAML.
    Crd,
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Run {
            config,
            listen,
            pod,
        } => {
            let listen = listen.unwrap_or_else(|| everywhere(PORT).to_string());
            run(&config, &listen, &pod)
        }
        Command::Crd => print_crd(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!(error = format!("{error:#}"), "the operator cannot go on");
            #[expect(clippy::print_stderr, reason = "`crd` runs without a log")]
            {
                eprintln!("wasmbench-operator: {error:#}");
            }
            ExitCode::FAILURE
        }
    }
}

/// Runs the operator. One thread is enough: it waits nearly all of the time, and must not take CPU
/// time from what it measures.
fn run(config: &Path, listen: &str, pod: &str) -> anyhow::Result<()> {
    tracing_subscriber::fmt()
        .json()
        .flatten_event(true)
        .with_current_span(false)
        .with_span_list(false)
        .with_env_filter(
            tracing_subscriber::EnvFilter::try_from_env("WASMBENCH_LOG")
                .unwrap_or_else(|_| "info".into()),
        )
        .init();
    let text = std::fs::read_to_string(config)
        .with_context(|| format!("could not read the configuration {}", config.display()))?;
    let config: OperatorConfig = serde_yaml::from_str(&text)
        .with_context(|| format!("the configuration {} is wrong", config.display()))?;
    tracing::info!(version = VERSION.as_str(), "wasmbench-operator starts");
    if !config.admission_policies {
        tracing::warn!(
            "admissionPolicies.enabled=false: whoever may create pods in a run's namespace can pass one off as its \
             subject and forge its records; see docs/security.md"
        );
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let context = Context::connect(config).await?;
        let listener = tokio::net::TcpListener::bind(listen)
            .await
            .with_context(|| format!("could not listen on {listen}"))?;
        tokio::select! {
            never = http::serve(listener, context.clone()) => match never {},
            ran = operator::run(context, pod) => ran,
        }
    })
}

#[expect(clippy::print_stdout, reason = "printing is what this command is for")]
fn print_crd() -> anyhow::Result<()> {
    print!("{}", crds::yaml()?);
    Ok(())
}
