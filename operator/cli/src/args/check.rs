//! The arguments of `check`.

use clap::Args;

/// Arguments of `check`.
#[derive(Args, Debug)]
#[command(after_help = "\
Reads with your rights and changes nothing. What you may not read is `unknown`, and never assumed to be fine.\n\n\
Exit code: 0 runs can start in this namespace; 1 something that they need is missing or unknown. A preset that lacks its \
RuntimeClass is `skipped` in runs, and no failure of the installation.")]
pub struct CheckArgs {
    /// Check again until it works, for at most this many seconds
    #[arg(
        long,
        value_name = "SECONDS",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "120"
    )]
    pub wait: Option<u64>,
    /// Namespace of the operator. Default: wherever it is
    #[arg(long, value_name = "NAMESPACE")]
    pub operator_namespace: Option<String>,
}
