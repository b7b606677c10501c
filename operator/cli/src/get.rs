//! `kubectl wasmbench get`: a list of runs, one run with its results, or the progress of one run.

use std::io::{self, IsTerminal as _};
use std::time::Duration;

use futures::StreamExt as _;
use jiff::Timestamp;
use kube::ResourceExt;
use kube::runtime::watcher;
use wasmbench_api::BenchmarkRun;
use wasmbench_api::conditions::{PASSED, TRUSTWORTHY};
use wasmbench_model::units;
use wasmbench_model::wire::failure::FailureReason;
use wasmbench_report::table::{Align, Table, ascii};
use wasmbench_report::terminal::status_text;

use crate::args::{ClusterArgs, GetArgs, GetOutput};
use crate::check::reach::blocking_policies;
use crate::check::read::network_policies;
use crate::cluster::Cluster;
use crate::document::{Format, RunDocument, RunsDocument};
use crate::error::{Error, root_cause};
use crate::{live, note, print};

/// Exit code of an interrupted command, by the convention of shells.
const INTERRUPTED: u8 = 130;
/// The number of consecutive watch failures tolerated; with the back-off, about two minutes.
const FAILURES_ALLOWED: u32 = 10;
/// How often the estimate on a terminal is updated.
const TICK: Duration = Duration::from_secs(1);

/// Shows what the arguments request.
pub async fn run(cluster: &ClusterArgs, args: &GetArgs) -> Result<u8, Error> {
    let cluster = Cluster::connect(cluster).await?;
    let format = args.output.format();
    let Some(name) = &args.name else {
        let runs = cluster.all_runs(args.all_namespaces).await?;
        print(&match format {
            None if runs.is_empty() && !args.all_namespaces => {
                format!(
                    "No BenchmarkRuns found in namespace {}.\n",
                    cluster.namespace()
                )
            }
            None => list(&runs, columns(args), Timestamp::now()),
            Some(format) => format.text(&RunsDocument::from(runs.as_slice()))?,
        })?;
        return Ok(0);
    };
    // Before following, too: a wrong name is an error now, not an endless wait.
    let run = cluster.run(name).await?;
    if args.watch {
        return Box::pin(follow(&cluster, run, format)).await;
    }
    print(&match format {
        None => one(&run, Timestamp::now()),
        Some(format) => format.text(&RunDocument::from(&run))?,
    })?;
    warn_of_blocking_policies(&cluster, &run).await;
    Ok(0)
}

/// Whether the status gives as a reason that something never answered.
fn never_listened(run: &BenchmarkRun) -> bool {
    let reason: &str = FailureReason::NeverListened.into();
    let status = serde_json::to_string(&run.status);
    status.is_ok_and(|status| status.contains(reason))
}

/// If something never answered, names the NetworkPolicies that may be why, as far as the user may
/// read them.
async fn warn_of_blocking_policies(cluster: &Cluster, run: &BenchmarkRun) {
    if !never_listened(run) {
        return;
    }
    let Ok(Ok(policies)) = network_policies(cluster).await else {
        return;
    };
    let names = blocking_policies(&policies, None).join(", ");
    if !names.is_empty() {
        note(&format!(
            "NeverListened may be due to NetworkPolicies of namespace {}: {names}; see kubectl wasmbench check\n",
            cluster.namespace()
        ));
    }
}

/// One run: its results, or its progress until it has ended.
pub fn one(run: &BenchmarkRun, now: Timestamp) -> String {
    if live::exit_code(run).is_some() {
        return status_text(run);
    }
    live::frame(run, now)
}

/// Which columns a list has besides the usual ones.
#[derive(Clone, Copy, Debug, Default)]
pub struct Columns {
    /// The namespace of each run.
    pub namespace: bool,
    /// Node, baseline, blocks and message.
    pub wide: bool,
}

fn columns(args: &GetArgs) -> Columns {
    Columns {
        namespace: args.all_namespaces,
        wide: args.output == GetOutput::Wide,
    }
}

/// Runs as a table.
pub fn list(runs: &[BenchmarkRun], more: Columns, now: Timestamp) -> String {
    if runs.is_empty() {
        return "No BenchmarkRuns found.\n".to_owned();
    }
    let namespace = more.namespace.then_some(("NAMESPACE", Align::Left));
    let wide = [
        ("NODE", Align::Left),
        ("BASELINE", Align::Left),
        ("BLOCKS", Align::Right),
        ("MESSAGE", Align::Left),
    ];
    let wide = wide.into_iter().filter(|_| more.wide);
    let columns = [
        ("NAME", Align::Left),
        ("STATE", Align::Left),
        ("PROGRESS", Align::Right),
        ("TRUSTWORTHY", Align::Left),
        ("PASSED", Align::Left),
        ("AGE", Align::Right),
        ("VERDICT", Align::Left),
    ];
    let columns: Vec<_> = namespace.into_iter().chain(columns).chain(wide).collect();
    let mut table = Table::new(&columns);
    for run in runs {
        let status = run.status.clone().unwrap_or_default();
        let status_of = |type_: &str| {
            let found = status.conditions.iter().find(|c| c.type_ == type_);
            found.map(|condition| condition.status.clone())
        };
        let (trust, passed) = (status_of(TRUSTWORTHY), status_of(PASSED));
        let age = live::age_seconds(run, now).map(units::duration);
        let namespace = more.namespace.then(|| run.namespace().unwrap_or_default());
        let wide = if more.wide { wide_cells(run) } else { vec![] };
        let cells = [
            run.name_any(),
            live::state(run).to_owned(),
            status
                .progress
                .map(|progress| progress.text)
                .unwrap_or_default(),
            trust.unwrap_or_default(),
            passed.unwrap_or_default(),
            age.unwrap_or_default(),
            status.verdict.unwrap_or_default(),
        ];
        table.row(
            &namespace
                .into_iter()
                .chain(cells)
                .chain(wide)
                .collect::<Vec<_>>(),
        );
    }
    table.plain()
}

fn wide_cells(run: &BenchmarkRun) -> Vec<String> {
    let status = run.status.clone().unwrap_or_default();
    let progress = status.progress.map(|progress| progress.message);
    vec![
        status.node.map(|node| node.name).unwrap_or_default(),
        run.spec.baseline_name().to_owned(),
        run.spec.blocks.to_string(),
        ascii(&progress.unwrap_or_default()),
    ]
}

/// Follows the run until its end, shows it, and returns its exit code.
pub async fn follow(
    cluster: &Cluster,
    run: BenchmarkRun,
    format: Option<Format>,
) -> Result<u8, Error> {
    let name = run.name_any();
    let mut screen = Screen::new(format);
    let mut events = std::pin::pin!(cluster.follow(&name));
    let mut interrupt = std::pin::pin!(tokio::signal::ctrl_c());
    let mut tick = tokio::time::interval(TICK);
    let mut failures = 0;
    let mut run = run;
    loop {
        if let Some(code) = live::exit_code(&run) {
            screen.finish(&run)?;
            warn_of_blocking_policies(cluster, &run).await;
            return Ok(code);
        }
        screen.show(&run, Timestamp::now())?;
        tokio::select! {
            _ = &mut interrupt => return Ok(INTERRUPTED),
            _ = tick.tick(), if screen.is_terminal => {}
            event = events.next() => match event {
                Some(Ok(Some(latest))) => {
                    failures = 0;
                    run = latest;
                }
                Some(Ok(None)) => return Err(Error::Deleted(name)),
                Some(Err(error)) => {
                    failures += 1;
                    give_up_or_wait(error, failures)?;
                }
                None => return Err(Error::Unreachable("the watch ended".to_owned())),
            },
        }
    }
}

/// Gives up on a refusal, which is permanent, or after too many failures: a broken connection may
/// recover.
fn give_up_or_wait(error: watcher::Error, failures: u32) -> Result<(), Error> {
    let cause = root_cause(&error);
    let error = match error {
        watcher::Error::InitialListFailed(error)
        | watcher::Error::WatchStartFailed(error)
        | watcher::Error::WatchFailed(error) => Error::from_kube("follow the run", error),
        watcher::Error::WatchError(_) | watcher::Error::NoResourceVersion => {
            Error::Unreachable(cause)
        }
    };
    let stays = matches!(error, Error::Refused { .. } | Error::NotInstalled);
    if stays || failures > FAILURES_ALLOWED {
        Err(error)
    } else {
        Ok(())
    }
}

/// What has been shown so far. Each frame changes nothing on the terminal but text, so that an
/// interrupt at any moment needs no cleanup.
struct Screen {
    /// Whether the output goes to a terminal, for people.
    is_terminal: bool,
    /// The format of the final document, for programs; standard output then holds nothing else.
    format: Option<Format>,
    shown: String,
    /// The [`live::milestone`] of the last line of a log.
    milestone: String,
}

impl Screen {
    fn new(format: Option<Format>) -> Self {
        Self {
            is_terminal: format.is_none() && io::stdout().is_terminal(),
            format,
            shown: String::new(),
            milestone: String::new(),
        }
    }

    fn show(&mut self, run: &BenchmarkRun, now: Timestamp) -> Result<(), Error> {
        if self.is_terminal {
            return self.show_frame(live::frame(run, now));
        }
        let milestone = live::milestone(run);
        if milestone == self.milestone {
            return Ok(());
        }
        self.milestone = milestone;
        if self.format.is_some() {
            note(&live::line(run));
            return Ok(());
        }
        print(&live::line(run))
    }

    fn show_frame(&mut self, frame: String) -> Result<(), Error> {
        if frame != self.shown {
            print(&self.replace(&frame))?;
            self.shown = frame;
        }
        Ok(())
    }

    fn finish(&mut self, run: &BenchmarkRun) -> Result<(), Error> {
        print(&match self.format {
            Some(format) => format.text(&RunDocument::from(run))?,
            None if self.is_terminal => self.erase() + &status_text(run),
            None => status_text(run),
        })
    }

    /// Moves to the first line of the last frame and erases everything from there.
    fn erase(&self) -> String {
        match self.shown.lines().count() {
            0 => String::new(),
            lines => format!("\x1b[{lines}A\r\x1b[J"),
        }
    }

    /// Turns line wrap off while writing: a line that is too long is truncated, and the number of lines
    /// stays right at any width.
    fn replace(&self, text: &str) -> String {
        format!("{}\x1b[?7l{text}\x1b[?7h", self.erase())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_replaces_the_one_before_and_leaves_line_wrap_on() {
        let mut screen = Screen {
            is_terminal: true,
            ..Screen::new(None)
        };
        assert_eq!(screen.replace("a\nb\n"), "\x1b[?7la\nb\n\x1b[?7h");
        screen.shown = "a\nb\n".to_owned();
        assert_eq!(screen.replace("c\n"), "\x1b[2A\r\x1b[J\x1b[?7lc\n\x1b[?7h");
        assert_eq!(screen.erase(), "\x1b[2A\r\x1b[J");
    }
}
