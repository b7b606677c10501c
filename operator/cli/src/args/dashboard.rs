//! The arguments of `dashboard`.

use clap::Args;

/// Arguments of `dashboard`.
#[derive(Args, Debug)]
#[command(after_help = "\
A page on this machine, at a loopback address with a token in it: whoever has the address acts with your rights, nobody else \
reaches anything. Nothing is installed in the cluster. Runs are followed by one watch, and records are read between timed \
windows only. Ctrl-C ends it.")]
pub struct DashboardArgs {
    /// Show the runs of all namespaces
    #[arg(short = 'A', long)]
    pub all_namespaces: bool,
    /// Port to listen at. Default: one that is free
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    pub port: u16,
}
