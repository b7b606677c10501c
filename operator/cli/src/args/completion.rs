//! The arguments of `completion`, and of what kubectl calls to complete a command line.

use clap::{Args, ValueEnum};

/// Arguments of `completion`.
#[derive(Args, Debug)]
#[command(after_help = "\
For `kubectl wasmbench`, kubectl looks for a program of its own on the PATH:\n  \
kubectl wasmbench completion kubectl > ~/.local/bin/kubectl_complete-wasmbench\n  \
chmod +x ~/.local/bin/kubectl_complete-wasmbench\n\n\
For `kubectl-wasmbench` without kubectl, source the script of your shell:\n  \
source <(kubectl-wasmbench completion bash)")]
pub struct CompletionArgs {
    /// For what
    #[arg(value_enum)]
    pub shell: Completer,
}

/// What completes command lines.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completer {
    /// A script for bash
    Bash,
    /// A script for zsh
    Zsh,
    /// A script for fish
    Fish,
    /// The program that kubectl calls, whatever the shell
    Kubectl,
}

/// Arguments of what kubectl calls.
#[derive(Args, Debug)]
pub struct CompleteArgs {
    /// The words behind `kubectl wasmbench`, the last of which may be empty or a part
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub words: Vec<String>,
}
