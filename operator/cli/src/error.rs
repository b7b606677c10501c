//! Errors, each with a message that has a remedy.

use std::path::PathBuf;

use wasmbench_model::wire::schema::OtherSchema;
use wasmbench_results::runs::history::stored;
use wasmbench_results::statistics::FEWEST_RUNS;

use crate::manifest::Problems;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such run.
    #[error(
        "there is no BenchmarkRun '{name}' in namespace '{namespace}'; list all of them with: \
         kubectl wasmbench get -A"
    )]
    NoSuchRun {
        /// The requested name.
        name: String,
        /// Namespace that was searched.
        namespace: String,
    },
    /// The name is that of a schedule.
    #[error(
        "'{0}' is no BenchmarkRun but a BenchmarkSchedule; see its runs with: kubectl wasmbench history {0}, or start one \
         now with: kubectl wasmbench start --schedule {0}"
    )]
    IsSchedule(String),
    /// There is no such object.
    #[error(
        "there is no {kind} '{name}' in namespace '{namespace}'; choose another namespace with -n"
    )]
    NoSuchObject {
        /// Its kind.
        kind: &'static str,
        /// The requested name.
        name: String,
        /// Namespace that was searched.
        namespace: String,
    },
    /// The argument is not a valid name.
    #[error(
        "'{0}' is not the name of a BenchmarkRun; list all of them with: kubectl wasmbench get -A"
    )]
    NoName(String),
    /// The run was deleted while it was followed.
    #[error("BenchmarkRun '{0}' was deleted, and its records with it")]
    Deleted(String),
    /// The run is not finished.
    #[error(
        "BenchmarkRun '{name}' is not finished yet ({state}); wait with: kubectl wasmbench get {name} -n \
         {namespace} -w; report and compare take what there is with --partial"
    )]
    NotFinished {
        /// Name of the run.
        name: String,
        /// Its namespace.
        namespace: String,
        /// What it is doing.
        state: String,
    },
    /// The operator has not seen the run.
    #[error(
        "BenchmarkRun '{0}' has no seed in its status, so that the operator has not accepted it yet; is \
         the operator running?"
    )]
    NotAccepted(String),
    /// The CRD is missing.
    #[error(
        "this cluster does not serve BenchmarkRuns; install wasmbench first, or choose another \
         cluster with --context"
    )]
    NotInstalled,
    /// The namespace does not exist.
    #[error(
        "there is no namespace '{0}'; choose another one with -n or in metadata.namespace, or create it"
    )]
    NoNamespace(String),
    /// The kubeconfig does not work.
    #[error("no cluster is configured ({0}); set KUBECONFIG, or use --kubeconfig and --context")]
    NoCluster(String),
    /// The kubeconfig has no such context.
    #[error("the kubeconfig has no context '{name}'; choose one of: {known}")]
    NoContext {
        /// The requested name.
        name: String,
        /// Those that there are.
        known: String,
    },
    /// The API server does not answer.
    #[error(
        "the cluster does not answer ({0}); check that it runs, and the context with: kubectl config \
         get-contexts"
    )]
    Unreachable(String),
    /// The API server refuses the request.
    #[error(
        "the cluster refuses to {what} ({message}); ask its administrator for the right to do so"
    )]
    Refused {
        /// What was tried.
        what: &'static str,
        /// The message of the API server.
        message: String,
    },
    /// There is an object of this name already.
    #[error("the cluster could not {what} ({message}); choose another name")]
    Exists {
        /// What was tried.
        what: &'static str,
        /// The message of the API server.
        message: String,
    },
    /// The API server does not take what was sent, however often it is.
    #[error("the cluster could not {what} ({message}); correct what it names")]
    Rejected {
        /// What was tried.
        what: &'static str,
        /// The message of the API server.
        message: String,
    },
    /// The API server returns another error.
    #[error("the cluster could not {what} ({message}); try again")]
    Api {
        /// What was tried.
        what: &'static str,
        /// The message of the API server.
        message: String,
    },
    /// A file cannot be read.
    #[error("could not read {path}: {source}; check the path")]
    File {
        /// Which one.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file is of another encoding, such as UTF-16.
    #[error("{0} is no text in UTF-8; save it as UTF-8")]
    NotText(PathBuf),
    /// A file does not contain Kubernetes objects.
    #[error(
        "{path} cannot be read as Kubernetes objects in JSON or YAML ({message}); write it with: kubectl get ... -o json"
    )]
    NotObjects {
        /// Which one.
        path: PathBuf,
        /// The message of the parser.
        message: String,
    },
    /// No file holds the run.
    #[error(
        "no file in {directory} holds the BenchmarkRun '{name}'; save it with: kubectl get \
         brun,configmap -o json > {directory}/run.json"
    )]
    NotSaved {
        /// The directory that was searched.
        directory: String,
        /// The requested name.
        name: String,
    },
    /// Runs of several namespaces have the name.
    #[error("{directory} holds runs '{name}' of several namespaces; choose one with -n")]
    Ambiguous {
        /// The directory that was searched.
        directory: String,
        /// The requested name.
        name: String,
    },
    /// There is nothing to compute from.
    #[error(
        "BenchmarkRun '{0}' has no records; it may have been refused: see kubectl describe brun {0}"
    )]
    NoRecords(String),
    /// The records have a schema that this plugin does not read.
    #[error(
        "the records of BenchmarkRun '{0}' are of another version: {1}; use the plugin of the version \
         that measured it, or run it again"
    )]
    OtherSchema(String, OtherSchema),
    /// A record was changed after it was stored.
    #[error(
        "entry {entry} of ConfigMap {map} does not match its checksum, so that it was changed after it \
         was stored; restore the ConfigMap from a backup, or run again"
    )]
    Changed {
        /// Which entry.
        entry: String,
        /// Where it is.
        map: String,
    },
    /// There is no report to compare with.
    #[error(
        "BenchmarkRun '{0}' has no stored report to compare with; leave out --check to compute it"
    )]
    NoReport(String),
    /// The reports differ.
    #[error("the stored report is not the one that the records give: {0}")]
    Differs(String),
    /// The reports differ, and may have been computed by different builds.
    #[error(
        "the stored report is not the one that the records give here: {difference}. The operator {wrote} \
         wrote it, and this is {own}: another build may compute and print otherwise. Check with the plugin \
         of the build that wrote it (kubectl wasmbench --version prints that of a plugin)"
    )]
    DiffersByBuild {
        /// The first difference.
        difference: String,
        /// Version and build of the operator.
        wrote: String,
        /// Version and build of this plugin.
        own: String,
    },
    /// The report could not be written.
    #[error(transparent)]
    Report(#[from] wasmbench_report::files::Error),
    /// The runs are not comparable.
    #[error(
        "the runs do not compare, see above; measure both on the same node with the same workloads, \
         sweeps and resources, or insist with --force"
    )]
    NotComparable,
    /// No number is valid in both runs.
    #[error(
        "nothing is compared: no number is valid in both runs{lost}; see the failures and doubts in their \
         reports (kubectl wasmbench report {after}), remove their cause and run again"
    )]
    NothingToCompare {
        /// What the later run lost, in parentheses.
        lost: String,
        /// Name of the later run.
        after: String,
    },
    /// A run that is not finished has too few numbers yet.
    #[error(
        "nothing is compared yet: no number is valid in both runs so far; wait for more of them with: \
         kubectl wasmbench get {0} -w"
    )]
    NothingYet(String),
    /// No number of the run can be priced.
    #[error(
        "nothing of BenchmarkRun '{0}' has a cost: no point has valid CPU per request or memory (the chart's meter.level \
         is none, or all points are invalid); see kubectl wasmbench report {0}, remove the cause and run again"
    )]
    NothingToCost(String),
    /// The size of the node is not known.
    #[error(
        "CPUs and memory of the node are not known ({0}); give both, as of kubectl describe node: --vcpus 4 --memory 16Gi"
    )]
    NodeUnknown(String),
    /// The run has no such variant.
    #[error("the run has no variant '{name}'; choose one of: {known}")]
    NoSuchVariant {
        /// The requested name.
        name: String,
        /// Those that it has.
        known: String,
    },
    /// Fewer than two runs were chosen.
    #[error("choose a run and an earlier one to compare it with")]
    TooFewRuns,
    /// Too few earlier runs to estimate how far runs scatter, but too many to compare two by two.
    #[error(
        "{0} earlier runs are too few to estimate how far runs scatter: name one, or {enough} and more",
        enough = FEWEST_RUNS
    )]
    FewEarlierRuns(usize),
    /// More than two directories.
    #[error("--records-from is given {0} times; give it once for both runs, or once for each")]
    TooManyDirectories(usize),
    /// A document could not be written.
    #[error("could not write the output as JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// A document could not be written.
    #[error("could not write the output as YAML: {0}")]
    Yaml(#[from] serde_yaml::Error),
    /// There is no schedule of this name.
    #[error(
        "there is no BenchmarkSchedule '{name}' in namespace {namespace}; list all of them with: kubectl get bsched -A"
    )]
    NoSuchSchedule {
        /// The requested name.
        name: String,
        /// Namespace that was searched.
        namespace: String,
    },
    /// A history cannot be unpacked.
    #[error("the history of schedule {0} cannot be read: {1}")]
    History(String, stored::Error),
    /// A file to start holds no run, or several.
    #[error(
        "the file holds {0} objects of wasmbench, and one run is started at a time; give a file with one BenchmarkRun"
    )]
    NotOneRun(usize),
    /// A file to start holds a schedule.
    #[error(
        "a BenchmarkSchedule starts its runs by itself; create it with: kubectl apply -f FILE, and start a run of it now with: \
         kubectl wasmbench start --schedule NAME"
    )]
    StartsASchedule,
    /// The file and the option name different namespaces.
    #[error(
        "the file is for namespace {file}, and not for -n {option}; leave out -n, or change metadata.namespace"
    )]
    OtherNamespace {
        /// That of the file.
        file: String,
        /// That of the option.
        option: String,
    },
    /// The machine provides no random bytes for a name.
    #[error("could not make a name for the run: {0}")]
    Suffix(getrandom::Error),
    /// The file holds no run.
    #[error("{0} holds no BenchmarkRun and no BenchmarkSchedule; give a file with one")]
    NoRunInFile(PathBuf),
    /// The run would be refused.
    #[error("the run would be refused: {0}")]
    Invalid(#[from] wasmbench_core::validate::Invalid),
    /// A file would be refused as it is.
    #[error("the run would be refused: {0}")]
    Manifest(Problems),
    /// The machine provides no random bytes for a token.
    #[error("could not make a token for the dashboard: {0}")]
    Token(getrandom::Error),
    /// The dashboard cannot be served.
    #[error("could not serve the dashboard: {0}; choose another port with --port")]
    Listen(#[source] std::io::Error),
    /// Output cannot be written.
    #[error("could not write the output: {0}")]
    Output(#[source] std::io::Error),
    /// An object that the run is to scale is in its file alone.
    #[error(
        "the file also holds {object}, which the run scales and which is not in namespace {namespace}, and start creates the run \
         alone; create all of the file with: kubectl apply -n {namespace} -f FILE, and follow its run with: kubectl wasmbench \
         get {run} -n {namespace} -w"
    )]
    NotApplied {
        /// The object.
        object: String,
        /// Namespace of the run.
        namespace: String,
        /// Name of the run in the file.
        run: String,
    },
}

/// The innermost cause: the outer ones only repeat that a request failed.
pub fn root_cause(error: &dyn std::error::Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}
