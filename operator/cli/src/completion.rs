//! Completion of command lines: scripts for shells, and answers for kubectl, by its convention for
//! plugins: one candidate a line, and at the end a colon with what the shell is to do besides.

use std::time::Duration;

use clap::{Arg, Command, CommandFactory as _};
use clap_complete::Shell;
use kube::ResourceExt;
use tokio::time::timeout;

use crate::args::{Cli, ClusterArgs, CompleteArgs, Completer, CompletionArgs};
use crate::cluster::Cluster;
use crate::error::Error;
use crate::print;

/// The name of the program.
const PROGRAM: &str = "kubectl-wasmbench";
/// What kubectl calls.
const FOR_KUBECTL: &str = "#!/bin/sh\nexec kubectl-wasmbench __complete -- \"$@\"\n";
/// The shell offers files, too.
const WITH_FILES: u8 = 0;
/// The shell offers nothing else.
const WITHOUT_FILES: u8 = 4;
/// A person has pressed a key: what takes longer is no help.
const PATIENCE: Duration = Duration::from_secs(2);
/// Commands whose operands are runs.
const OF_RUNS: [&str; 4] = ["get", "report", "compare", "cost"];

/// What may stand next on a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Wanted {
    /// One of these words.
    Words(Vec<String>),
    /// The name of a run.
    Runs,
    /// The name of a schedule.
    Schedules,
    /// A file, or what only the user knows.
    File,
}

/// Prints the script.
pub fn run(args: &CompletionArgs) -> Result<u8, Error> {
    let shell = match args.shell {
        Completer::Bash => Shell::Bash,
        Completer::Zsh => Shell::Zsh,
        Completer::Fish => Shell::Fish,
        Completer::Kubectl => {
            print(FOR_KUBECTL)?;
            return Ok(0);
        }
    };
    let mut script = vec![];
    clap_complete::generate(shell, &mut Cli::command(), PROGRAM, &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(0)
}

/// Prints what may stand next. What the cluster does not answer is no candidate.
pub async fn complete(args: &CompleteArgs) -> Result<u8, Error> {
    let (before, current) = match args.words.split_last() {
        Some((current, before)) => (before, current.as_str()),
        None => (&[] as &[String], ""),
    };
    let (candidates, directive) = match wanted(before, current) {
        Wanted::Words(words) => (words, WITHOUT_FILES),
        Wanted::File => (vec![], WITH_FILES),
        Wanted::Runs => (names(before, false).await, WITHOUT_FILES),
        Wanted::Schedules => (names(before, true).await, WITHOUT_FILES),
    };
    let fitting = candidates.iter().filter(|one| one.starts_with(current));
    let mut lines: Vec<&str> = fitting.map(String::as_str).collect();
    let directive = format!(":{directive}\n");
    lines.push(&directive);
    print(&lines.join("\n"))?;
    Ok(0)
}

/// The names of runs or schedules, in the namespace that the words before name.
async fn names(before: &[String], of_schedules: bool) -> Vec<String> {
    let args = cluster_args(before);
    let read = async {
        let cluster = Cluster::connect(&args).await?;
        if of_schedules {
            return cluster.schedule_names().await;
        }
        let runs = cluster.all_runs(false).await?;
        Ok::<_, Error>(runs.iter().map(ResourceExt::name_any).collect())
    };
    match timeout(PATIENCE, read).await {
        Ok(Ok(names)) => names,
        Ok(Err(_)) | Err(_) => vec![],
    }
}

/// The cluster that the words before name.
fn cluster_args(before: &[String]) -> ClusterArgs {
    let value = |names: [&str; 2]| {
        before.iter().enumerate().find_map(|(index, word)| {
            let (name, inline) = match word.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (word.as_str(), None),
            };
            let is_named = names.contains(&name);
            is_named.then(|| inline.or_else(|| before.get(index + 1).cloned()))?
        })
    };
    ClusterArgs {
        namespace: value(["-n", "--namespace"]),
        context: value(["--context", "--context"]),
        kubeconfig: value(["--kubeconfig", "--kubeconfig"]).map(Into::into),
    }
}

/// What may follow on the words `before` in the place of `current`.
fn wanted(before: &[String], current: &str) -> Wanted {
    let mut command = Cli::command();
    // Options of the program become options of its commands.
    command.build();
    let mut at = &command;
    for word in before {
        at = at.find_subcommand(word).unwrap_or(at);
    }
    if let Some(option) = before.last().and_then(|last| option(at, last)) {
        return value_of(option);
    }
    if current.starts_with('-') {
        let options = at.get_arguments().filter(|one| !one.is_hide_set());
        let long = options.filter_map(Arg::get_long);
        return Wanted::Words(long.map(|name| format!("--{name}")).collect());
    }
    let commands: Vec<String> = at
        .get_subcommands()
        .filter(|one| !one.is_hide_set())
        .map(|one| one.get_name().to_owned())
        .collect();
    if !commands.is_empty() {
        return Wanted::Words(commands);
    }
    match at.get_name() {
        name if OF_RUNS.contains(&name) => Wanted::Runs,
        "history" => Wanted::Schedules,
        _ => at
            .get_arguments()
            .find(|one| one.is_positional())
            .map_or(Wanted::File, value_of),
    }
}

/// The option of this name that needs a value.
fn option<'a>(command: &'a Command, word: &str) -> Option<&'a Arg> {
    let is_named = |one: &&Arg| {
        let long = word.strip_prefix("--");
        let short = word
            .strip_prefix('-')
            .filter(|rest| rest.chars().count() == 1);
        let is_long = long.is_some() && one.get_long() == long;
        is_long || short.is_some_and(|short| one.get_short() == short.chars().next())
    };
    let mut options = command.get_arguments();
    options.find(|one| is_named(one) && one.get_action().takes_values())
}

fn value_of(argument: &Arg) -> Wanted {
    let values = argument.get_possible_values();
    if argument.get_id().as_str() == "schedule" {
        return Wanted::Schedules;
    }
    if values.is_empty() {
        return Wanted::File;
    }
    Wanted::Words(values.iter().map(|one| one.get_name().to_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(line: &str) -> Wanted {
        let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let current = words.pop().unwrap_or_default();
        super::wanted(&words, &current)
    }

    fn words(line: &str) -> Vec<String> {
        let Wanted::Words(words) = wanted(line) else {
            panic!("{line}");
        };
        words
    }

    #[test]
    fn commands_options_and_values_are_offered() {
        let commands = words("");
        assert!(commands.contains(&"start".to_owned()), "{commands:?}");
        assert!(!commands.contains(&"__complete".to_owned()), "{commands:?}");
        let options = words("get fast --");
        assert!(options.contains(&"--watch".to_owned()), "{options:?}");
        assert!(options.contains(&"--namespace".to_owned()), "{options:?}");
        assert!(words("get -o ").contains(&"wide".to_owned()));
        assert!(words("completion ").contains(&"fish".to_owned()));
    }

    #[test]
    fn names_and_files_are_offered_where_they_belong() {
        assert_eq!(wanted("get "), Wanted::Runs);
        assert_eq!(wanted("compare old "), Wanted::Runs);
        assert_eq!(wanted("history "), Wanted::Schedules);
        assert_eq!(wanted("start --schedule "), Wanted::Schedules);
        assert_eq!(wanted("plan -f "), Wanted::File);
        assert_eq!(wanted("start "), Wanted::File);
    }

    #[test]
    fn names_are_those_of_the_namespace_on_the_line() {
        let line = ["get", "-n", "bench", "--context=other"].map(str::to_owned);
        let args = cluster_args(&line);
        assert_eq!(args.namespace.as_deref(), Some("bench"));
        assert_eq!(args.context.as_deref(), Some("other"));
        assert_eq!(args.kubeconfig, None);
    }
}
