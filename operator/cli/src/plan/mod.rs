//! `kubectl wasmbench plan`: what a run would do, from its file, and what it can find, from how far
//! trials scattered in earlier runs. Without a cluster it shows the same for other scatters.

pub mod cluster;
mod earlier;
mod equals;
mod expectations;
pub mod obstacles;
mod power;

use std::fmt::Write as _;

use jiff::Timestamp;
use kube::ResourceExt;
use serde_json::Value;
use wasmbench_api::run::{TWIN, Workload};
use wasmbench_api::{BenchmarkRun, BenchmarkRunSpec, BenchmarkSchedule};
use wasmbench_core::admit::admit;
use wasmbench_core::observed::CpuDemand;
use wasmbench_core::plan::expected_trial_seconds;
use wasmbench_core::schedule;
use wasmbench_core::validate::ValidatedRun;
use wasmbench_core::{demands, ordinary_image};
use wasmbench_model::cells::cells_of;
use wasmbench_model::units;
use wasmbench_model::variants::not_applicable;
use wasmbench_report::table::{Align, Table};
use wasmbench_results::summary::words;

use crate::args::{ClusterArgs, PlanArgs};
use crate::assumed::config;
use crate::cluster::Cluster;
use crate::error::Error;
use crate::plan::cluster::{Namespaces, written};
use crate::plan::obstacles::obstacles;
use crate::{files, manifest, note, print};

pub use earlier::{Earlier, earlier};

/// Prints what every run in the file would do, and for every schedule its next times and its run.
pub async fn run(cluster: &ClusterArgs, args: &PlanArgs) -> Result<u8, Error> {
    let path = args.file.path();
    let text = files::read(path)?;
    let objects = manifest::checked(&text).map_err(Error::Manifest)?;
    if objects.is_empty() {
        return Err(Error::NoRunInFile(path.to_owned()));
    }
    let mut planned = vec![];
    for object in &objects {
        let one = Planned::read(object)?;
        let run = one.next_run();
        files::namespace(
            run.metadata.namespace.as_deref(),
            cluster.namespace.as_deref(),
        )?;
        planned.push((one, run));
    }
    let mut namespaces = if args.offline {
        None
    } else {
        let written = written(&files::objects(&text).unwrap_or_default());
        let connected = Cluster::connect(cluster).await;
        considered(connected.map(|cluster| Namespaces::new(cluster, written)))
    };
    let mut texts = vec![];
    for (one, run) in &planned {
        let found = match &mut namespaces {
            Some(known) => considered(Box::pin(known.read(run)).await),
            None => None,
        };
        if found.is_none() {
            // One that does not answer is not asked again.
            namespaces = None;
        }
        let (earlier, in_cluster) = match found {
            Some((earlier, observed)) => (earlier, obstacles(run, &observed)),
            None => (vec![], NO_CLUSTER.to_owned()),
        };
        texts.push(one.describe(run, args.order, &earlier)? + &in_cluster);
    }
    print(&texts.join("\n"))?;
    Ok(0)
}

/// What stands in the place of a cluster that was not queried.
const NO_CLUSTER: &str = "\nNo cluster was queried: the operator checks the administrator's limits when the run is created.\n";

/// What a file describes.
enum Planned {
    Run(Box<BenchmarkRun>),
    Schedule(Box<BenchmarkSchedule>),
}

impl Planned {
    fn read(object: &Value) -> Result<Self, Error> {
        let read = if object["kind"] == "BenchmarkSchedule" {
            manifest::typed(object).map(Self::Schedule)
        } else {
            manifest::typed(object).map(Self::Run)
        };
        read.map_err(Error::Manifest)
    }

    /// The run, or the one that the schedule would start.
    fn next_run(&self) -> BenchmarkRun {
        match self {
            Self::Run(run) => (**run).clone(),
            Self::Schedule(schedule) => schedule::run_of(schedule, Timestamp::now()),
        }
    }

    fn describe(
        &self,
        run: &BenchmarkRun,
        with_order: bool,
        earlier: &[Earlier],
    ) -> Result<String, Error> {
        match self {
            Self::Run(_) => describe(run, with_order, earlier),
            Self::Schedule(schedule) => scheduled(schedule, with_order, Timestamp::now(), earlier),
        }
    }
}

/// What was read of the cluster; nothing, with a note, if it cannot be read.
fn considered<T>(read: Result<T, Error>) -> Option<T> {
    let noted = read.inspect_err(|error| {
        note(&format!("note: the cluster is not considered: {error}\n"));
    });
    noted.ok()
}

/// The next times of a schedule and what its run would do, or why it would be refused.
pub fn scheduled(
    schedule: &BenchmarkSchedule,
    with_order: bool,
    now: Timestamp,
    earlier: &[Earlier],
) -> Result<String, Error> {
    let cron = schedule::check(schedule, &config())?;
    let next: Vec<Timestamp> = std::iter::successors(cron.after(now), |time| cron.after(*time))
        .take(TIMES)
        .collect();
    let times: Vec<String> = next.iter().map(|time| cron.format(*time)).collect();
    let suspended = if schedule.spec.suspend {
        "\nSuspended: no run starts until spec.suspend is false.\n"
    } else {
        ""
    };
    let run = next.first().map_or(now, |time| *time);
    Ok(format!(
        "{}: {}, next at {}\n{suspended}\n{}",
        schedule.name_any(),
        schedule.spec.schedule,
        times.join(", "),
        describe(&schedule::run_of(schedule, run), with_order, earlier)?
    ))
}

/// What `run` would do, and what it can find by the scatter of `earlier` runs, or why it would be
/// refused.
pub fn describe(
    run: &BenchmarkRun,
    with_order: bool,
    earlier: &[Earlier],
) -> Result<String, Error> {
    let valid = admit(run, &config())?;
    let mut text = format!("{}: {}\n", run.name_any(), size(&valid));
    text.push_str(&compared(&valid));
    text.push_str(&power::power(&valid, earlier));
    text.push_str(&expectations::expectations(&valid.spec, earlier));
    let known_seed = valid.spec.seed.is_some() || run.uid().is_some();
    if known_seed {
        let _ = writeln!(text, "\nSeed of the order: {}", valid.seed);
    } else {
        text.push_str(
            "\nSeed of the order: derived from the run's uid when it is created; set spec.seed to \
             fix it\n",
        );
    }
    if with_order && known_seed {
        text.push_str(&order(&valid));
    }
    text.push_str(
        "\nThe time is that of loads, warm-ups and pods that start and go. Windows that a noisy node makes \
         the probe measure once more, longer warm-ups, pulls of images and a queue come on top.\n",
    );
    text.push_str("\nThe file fits the API of this build.\n");
    Ok(text)
}

/// `36 cells x 5 block(s) = 180 trials, after 3 scout(s), about 12 min`; with `precision`, a range up
/// to the most blocks.
fn size(valid: &ValidatedRun) -> String {
    let cells = cells_of(&valid.spec).len();
    let scouts = valid.order.iter().filter(|trial| trial.is_scout()).count();
    let size = |blocks: u32| {
        let trials = valid.planned(blocks);
        let seconds = trials
            .iter()
            .map(|trial| expected_trial_seconds(valid, trial));
        let time = units::duration(seconds.sum());
        (trials.len() - scouts, time)
    };
    let Some(precision) = &valid.spec.precision else {
        let (blocks, (trials, time)) = (valid.spec.blocks, size(valid.spec.blocks));
        return format!(
            "{cells} cells x {blocks} block(s) = {trials} trials, after {scouts} scout(s), about {time}"
        );
    };
    let (least, most) = (valid.spec.fewest_blocks(), valid.spec.most_blocks());
    let ((few, short), (many, long)) = (size(least), size(most));
    format!(
        "{cells} cells x {least} to {most} blocks = {few} to {many} trials, after {scouts} scout(s), \
         about {short} to {long}, until the intervals are within {}",
        precision.target(&valid.spec.minimum_effect)
    )
}

fn compared(valid: &ValidatedRun) -> String {
    let compared = words::compared(&valid.spec);
    let mut text = String::new();
    for (title, list) in [
        ("Variants", &compared.variants),
        ("Workloads", &compared.workloads),
    ] {
        let mut table = Table::new(&[(title, Align::Left), ("", Align::Left)]);
        for named in list {
            let baseline = title == "Variants" && named.name == valid.baseline;
            let mark = if baseline { " (baseline)" } else { "" };
            let limits = compared.limits_of(&named.name);
            let limits = limits.filter(|_| title == "Variants");
            let limits = limits.map(|limits| format!(", {}", limits.text()));
            let what = format!("{}{}", named.what, limits.unwrap_or_default());
            table.row(&[format!("{}{mark}", named.name), what]);
        }
        let _ = write!(text, "\n{}", table.plain());
    }
    for left_out in not_applicable::list(&valid.spec) {
        let (variant, what) = (left_out.variant, left_out.what);
        let _ = writeln!(
            text,
            "\nNot applicable\n{variant}, {what}: {}",
            left_out.reason
        );
    }
    for note in ordinary_image::notes(&valid.spec) {
        let _ = writeln!(text, "\nNot known before it runs\n{note}");
    }
    for note in equals::notes(&valid.spec) {
        let _ = writeln!(text, "\nOnly noise\n{note}");
    }
    if let Some(note) = unchecked(&valid.spec) {
        let _ = writeln!(text, "\nNot checked\n{note}");
    }
    if let Some(CpuDemand { cpus, by }) = demands::cpus(&valid.spec) {
        let _ = writeln!(text, "\nNeeds\na node with {cpus} CPUs ({by})");
    }
    if let Some(twin) = &compared.twin {
        let _ = writeln!(text, "\nNoise floor\n{twin}");
    }
    text.push_str("\nSweeps\n");
    for sweep in &compared.sweeps {
        let _ = writeln!(text, "{sweep}");
    }
    text
}

/// Workloads under which variants are compared although any body counts as the right answer.
fn unchecked(spec: &BenchmarkRunSpec) -> Option<String> {
    let workloads = spec.workloads.iter().flat_map(Workload::parts);
    let unchecked = workloads.filter(|workload| workload.expect.takes_any_body());
    let names: Vec<String> = unchecked.map(|workload| workload.name).collect();
    let compares = spec.variants.iter().filter(|one| one.name != TWIN).count() > 1;
    (compares && !names.is_empty()).then(|| {
        format!(
            "{}: whether all variants give the same answer, because expect names at most status and content type. A variant that does less \
             would look faster: set expect.sameAcrossVariants: true or, if answers change, what the body begins or ends with",
            names.join(", ")
        )
    })
}

/// The number of next times shown for a schedule.
const TIMES: usize = 3;

fn order(valid: &ValidatedRun) -> String {
    let mut table = Table::new(&[
        ("Order", Align::Right),
        ("Trial", Align::Left),
        ("Takes", Align::Right),
    ]);
    for (position, trial) in valid.order.iter().enumerate() {
        table.row(&[
            (position + 1).to_string(),
            trial.to_string(),
            units::duration(expected_trial_seconds(valid, trial)),
        ]);
    }
    format!("\n{}", table.plain())
}
