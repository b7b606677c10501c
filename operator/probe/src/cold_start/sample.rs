//! One sample: pods are created at once and waited for until all have answered correctly and are
//! `Ready`. Then they are deleted, and the sample ends when they are gone.

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};
use futures::future::join_all;
use futures::{FutureExt, StreamExt, select_biased};
use k8s_openapi::api::core::v1::{Event, Pod};
use kube::Api;
use kube::api::PostParams;
use tokio::time::{Instant, sleep, timeout_at};
use wasmbench_model::altered;
use wasmbench_model::waiting::{is_over_quota, is_refused};
use wasmbench_model::wire::addition::Addition;
use wasmbench_model::wire::cold_start::{ColdSample, ColdStartRequest, ColdStep};
use wasmbench_model::wire::document::Answer;
use wasmbench_model::wire::failure::{Failure, FailureReason};

use super::runtime::Runtime;
use super::scaler::Scaler;
use super::timeline::Timeline;
use super::trouble::trouble;
use super::watch::{News, watch};
use super::{failure, host, unavailable};
use crate::action::{Action, Endpoint, Initialised};
use crate::clock::unix_nanoseconds;
use crate::node;
use crate::output::progress;
use crate::ready::{Patience, Question, Waited, readying};
use crate::target::Origin;

/// Removed pods may count towards a quota a moment longer.
pub(super) const QUOTA_PAUSE: Duration = Duration::from_millis(250);
/// The watch is up within this time, or something is wrong.
const WATCH_TIMEOUT: Duration = Duration::from_secs(20);
/// At the deadline, the threads that poll the pods have the best account of what was wrong; they
/// have this long to report it.
const LAST_WORD: Duration = Duration::from_millis(200);

/// What all samples of a trial share.
pub struct Course<'a> {
    pub(super) api: Api<Pod>,
    /// Events of the pods' namespace.
    pub(super) events: Api<Event>,
    pub(super) request: &'a ColdStartRequest,
    pub(super) news: UnboundedReceiver<News>,
    /// containerd, if the administrator allows it.
    pub(super) runtime: Option<Runtime>,
    /// The node's `/proc`, if its CPU time is wanted.
    pub(super) proc: Option<PathBuf>,
    /// Why the watch was last interrupted.
    pub(super) interrupted: String,
    /// Address of the node, if pods share its network; known once the first of them has it.
    node_address: Option<IpAddr>,
    /// What is sent to functions, if the pods are called by the action protocol.
    pub(super) action: Option<Action>,
    /// The body of requests, if they have one.
    pub(super) body: Option<Arc<[u8]>>,
    /// The pod that hosts the functions, if they share one.
    pub(super) host: Option<Pods>,
    /// The object that makes the pods, if the probe does not.
    pub(super) scaler: Option<Scaler<'a>>,
    /// What the cluster added by its own rules to the pod that was created last.
    pub added: Vec<Addition>,
}

/// What the thread that polls one pod found.
struct Polled {
    index: usize,
    initialised: Option<Initialised>,
    waited: Result<Waited, Failure>,
    at: i64,
}

/// A sample in progress.
pub struct Pods {
    pub timelines: Vec<Timeline>,
    pub(super) latest: Vec<Option<Box<Pod>>>,
    answers: Vec<Answer>,
    sender: UnboundedSender<Polled>,
    polled: UnboundedReceiver<Polled>,
    pub(super) deadline: Instant,
    /// Whether the pods only host the functions that are called.
    pub(super) hosts: bool,
}

impl<'a> Course<'a> {
    /// Begins to watch, and waits until the watch is up.
    pub async fn begin(
        api: Api<Pod>,
        request: &'a ColdStartRequest,
    ) -> Result<Course<'a>, Failure> {
        let news = watch(api.clone(), &request.selector);
        let namespace = request.pod.metadata.namespace.clone().unwrap_or_default();
        let mut course = Self {
            events: Api::namespaced(api.clone().into_client(), &namespace),
            api,
            request,
            news,
            runtime: None,
            proc: None,
            interrupted: String::new(),
            node_address: None,
            action: None,
            body: None,
            host: None,
            scaler: None,
            added: vec![],
        };
        let scaled = request.scaled.as_ref();
        course.scaler = scaled.map(|object| Scaler::new(&course.api, &namespace, object));
        let deadline = Instant::now() + WATCH_TIMEOUT;
        loop {
            match timeout_at(deadline, course.news.next()).await {
                Ok(Some(News::Listed(_))) => return Ok(course),
                Ok(Some(News::Interrupted(why))) => course.interrupted = why,
                Ok(Some(_)) => {}
                Ok(None) | Err(_) => {
                    let message = format!("the pods cannot be watched: {}", course.interrupted);
                    return Err(unavailable(message));
                }
            }
        }
    }

    /// Switches to another request for the samples that follow.
    pub fn turn_to(&mut self, request: &'a ColdStartRequest) {
        self.request = request;
    }

    /// Takes sample `number`; number 0 is discarded. The pods are removed whatever happens.
    pub async fn sample(&mut self, number: u32) -> (ColdSample, Vec<Answer>, Result<(), Failure>) {
        let prepared = self.prepare().await;
        let node = self.proc.as_deref().and_then(node::Span::begin);
        let (start, began) = (unix_nanoseconds(), std::time::Instant::now());
        let mut pods = self.pods(number, start);
        let (compiled_before, outcome) = match prepared {
            Ok(compiled) => (compiled, self.start(&mut pods).await),
            Err(failure) => (None, Err(failure)),
        };
        let is_up = outcome.is_ok() && pods.late().is_none();
        let node = node.filter(|_| is_up).and_then(node::Span::end);
        if outcome.is_ok() {
            self.read_logs(&mut pods).await;
        }
        let places = self.places(&pods).await;
        let removed = self.remove(&mut pods).await;
        let monotonic = i64::try_from(began.elapsed().as_nanos()).unwrap_or(i64::MAX);
        let clock_shift_nanoseconds = unix_nanoseconds() - start - monotonic;
        let pull = self.hear_runtime(&places, &mut pods).await;
        self.find_classes(compiled_before, &pull, &mut pods).await;
        let mut sample = ColdSample {
            discarded: number == 0,
            wrong_class: false,
            compiled_before,
            compiled_after: self.compiled_now().await,
            layers: self.pulled_layers(&pull).await,
            start_unix_nanoseconds: start,
            clock_shift_nanoseconds,
            node,
            pods: pods.timelines.into_iter().map(Timeline::finish).collect(),
        };
        // The discarded sample may find the node in any state; it does not count anyway.
        let violates = |class| !sample.discarded && sample.violates(class);
        sample.wrong_class = self.request.class.is_some_and(violates);
        (sample, pods.answers, outcome.and(removed))
    }

    /// Creates the pods and waits for them. If their address is already known, polling starts
    /// before.
    async fn start(&mut self, pods: &mut Pods) -> Result<(), Failure> {
        if let Some(address) = self.node_address {
            host::port_is_free(address, self.request.port)?;
            self.ask(pods, 0, address);
        }
        self.create(pods, 0).await?;
        self.wait(pods).await
    }

    fn pods(&self, number: u32, start: i64) -> Pods {
        let mut pods = self.none();
        self.add(&mut pods, number, self.request.concurrency, start);
        pods
    }

    /// No pods yet.
    pub fn none(&self) -> Pods {
        let (sender, polled) = unbounded();
        Pods {
            latest: vec![],
            timelines: vec![],
            answers: vec![],
            sender,
            polled,
            deadline: self.deadline(),
            hosts: false,
        }
    }

    /// Adds pods that are yet to be created, until there are `instances` of them.
    pub fn grow(&self, pods: &mut Pods, instances: u32) {
        let have = u32::try_from(pods.timelines.len()).unwrap_or(u32::MAX);
        let more = instances.saturating_sub(have);
        self.add(pods, 0, more, unix_nanoseconds());
    }

    fn add(&self, pods: &mut Pods, number: u32, count: u32, start: i64) {
        let base = self.base_name();
        for _ in 0..count {
            let place = format!("{number}-{}", pods.timelines.len());
            pods.timelines.push(if self.request.shares_pod() {
                Timeline::of_function(format!("f{place}"), start)
            } else if self.request.scaled.is_some() {
                Timeline::of_foreign(format!("{base}-{place}"), start)
            } else {
                Timeline::new(format!("{base}-{place}"), start)
            });
            pods.latest.push(None);
        }
        pods.deadline = self.deadline();
    }

    /// What the names of all pods begin with.
    pub(super) fn base_name(&self) -> &str {
        let name = self.request.pod.metadata.name.as_deref();
        name.unwrap_or_default()
    }

    fn deadline(&self) -> Instant {
        Instant::now() + Duration::from_secs(self.request.timeout_seconds.into())
    }

    /// Creates the pods or functions from `from` on, all at once.
    pub async fn create(&mut self, pods: &mut Pods, from: usize) -> Result<(), Failure> {
        if self.request.shares_pod() {
            self.create_functions(pods, from)
        } else if self.request.scaled.is_some() {
            self.scale_up(pods, from).await
        } else {
            self.create_pods(pods, from).await
        }
    }

    pub(super) async fn create_pods(
        &mut self,
        pods: &mut Pods,
        from: usize,
    ) -> Result<(), Failure> {
        let params = PostParams::default();
        let create = async |name: &str| {
            let mut pod = self.request.pod.clone();
            pod.metadata.name = Some(name.to_owned());
            loop {
                let sent = unix_nanoseconds();
                let created = timeout_at(pods.deadline, self.api.create(&params, &pod)).await;
                let is_late = Instant::now() + QUOTA_PAUSE >= pods.deadline;
                match &created {
                    Ok(Err(error)) if over_quota(error).is_some() && !is_late => {
                        sleep(QUOTA_PAUSE).await;
                    }
                    _ => return (sent, created, unix_nanoseconds()),
                }
            }
        };
        let new = pods.timelines[from..].iter();
        let created = join_all(new.map(|pod| create(pod.name()))).await;
        let mut outcome = Ok(());
        for (timeline, (sent, created, at)) in pods.timelines[from..].iter_mut().zip(created) {
            match created {
                Ok(Ok(created)) => {
                    timeline.accepted(sent, at);
                    match self.compare(&created) {
                        Ok(added) => self.added = added,
                        Err(altered) => outcome = Err(altered),
                    }
                }
                Ok(Err(error)) => {
                    timeline.did(ColdStep::CreateSent, sent);
                    outcome = Err(not_created(&error));
                }
                Err(_) => {
                    timeline.did(ColdStep::CreateSent, sent);
                    outcome = Err(unavailable(
                        "the API server did not create a pod in time".into(),
                    ));
                }
            }
        }
        outcome
    }

    /// Compares a pod with what was requested, as the API server confirmed it. Returns what the
    /// cluster added by its own rules.
    fn compare(&self, created: &Pod) -> Result<Vec<Addition>, Failure> {
        let requested = self.request.pod.spec.clone().unwrap_or_default();
        let compared = altered::compare(&requested, created);
        compared.map_err(|message| failure(FailureReason::SubjectAltered, message))
    }

    /// Waits until every pod is `Ready` and has answered correctly; a late pod is a failure.
    pub async fn come_up(&mut self, pods: &mut Pods) -> Result<(), Failure> {
        self.wait(pods).await?;
        pods.late().map_or(Ok(()), Err)
    }

    /// Waits until every pod is `Ready` and has answered correctly, or is given up.
    async fn wait(&mut self, pods: &mut Pods) -> Result<(), Failure> {
        let is_settled = |pod: &Timeline| pod.is_up() || pod.late().is_some();
        while !pods.timelines.iter().all(is_settled) {
            select_biased! {
                news = self.news.next() => match news {
                    Some(news) => {
                        self.adopt(pods, &news).await?;
                        self.hear(pods, news)?;
                    }
                    None => return Err(unavailable("the watch ended".into())),
                },
                polled = pods.polled.next() => if let Some(polled) = polled {
                    pods.take(polled)?;
                },
                () = tokio::time::sleep_until(pods.deadline + LAST_WORD).fuse() => {
                    self.give_up(pods)?;
                    break;
                }
            }
        }
        pods.had_their_time()
    }

    pub(super) fn hear(&mut self, pods: &mut Pods, news: News) -> Result<(), Failure> {
        match news {
            News::Pod(pod, at) => {
                let Some(index) = pods.index(pod.metadata.name.as_deref()) else {
                    return self.trouble_of_host(&pod);
                };
                if let Some(address) = pods.timelines[index].saw(&pod, at) {
                    let is_polled = self.node_address.is_some();
                    if host::is_shared(self.request) {
                        self.node_address = Some(address);
                    }
                    if !is_polled && !pods.hosts {
                        self.ask(pods, index, address);
                    }
                }
                let trouble = trouble(&pod, self.request.scaled.is_some());
                pods.latest[index] = Some(pod);
                trouble.map_or(Ok(()), Err)
            }
            News::Gone(name, _) if pods.index(Some(&name)).is_some() => Err(failure(
                FailureReason::SubjectCrashed,
                format!("pod {name} was deleted or evicted while it started"),
            )),
            News::Gone(..) | News::Listed(_) => Ok(()),
            News::Interrupted(why) => {
                progress(&format!("the watch was interrupted: {why}"));
                self.interrupted = why;
                Ok(())
            }
        }
    }

    /// Polls a pod from a thread of its own: an attempt every 0.6 ms, whatever else goes on.
    pub(super) fn ask(&self, pods: &Pods, index: usize, address: IpAddr) {
        let (expect, prefix) = (
            self.request.expect.clone(),
            self.request.body_prefix.clone(),
        );
        let sender = pods.sender.clone();
        let patience = Patience::start(pods.deadline.saturating_duration_since(Instant::now()));
        // What is sent was checked when the request was read.
        let Ok(endpoint) = self.endpoint(pods.timelines[index].name(), address) else {
            return;
        };
        let origin = Origin::new(address, self.request.port, self.request.scheme);
        let Ok(ready) = readying(origin, self.request.ready.as_ref()) else {
            return;
        };
        std::thread::spawn(move || {
            let question = Question {
                ready: ready.as_ref(),
                target: &endpoint.target,
                expect: &expect,
                variant_prefix: &prefix,
            };
            let initialised = endpoint.initialise(patience);
            let (initialised, waited) = match initialised {
                Ok(initialised) => (initialised, Ok(question.wait(patience))),
                Err(failure) => (None, Err(failure)),
            };
            // Nobody receives this any more if another pod has failed.
            let _ = sender.unbounded_send(Polled {
                index,
                initialised,
                waited,
                at: unix_nanoseconds(),
            });
        });
    }

    /// The body of the requests; the floor's have none.
    fn body(&self) -> Option<Arc<[u8]>> {
        self.body
            .clone()
            .filter(|_| self.request.sent.body.is_some())
    }

    /// Returns the endpoint of the pod or function called `name`.
    pub fn endpoint(&self, name: &str, address: IpAddr) -> Result<Endpoint, Failure> {
        let request = self.request;
        let function = request.shares_pod().then_some(name);
        // The floor is not a function.
        let action = self
            .action
            .as_ref()
            .filter(|_| request.action.is_some())
            .map(|action| (action, function));
        let sent = (&request.sent, self.body());
        let origin = Origin::new(address, request.port, request.scheme);
        Endpoint::new(origin, sent, action)
            .map_err(|error| failure(FailureReason::BadRequest, error.to_string()))
    }
}

impl Pods {
    /// Uid of a pod, once the API has reported it.
    pub fn uid(&self, index: usize) -> Option<&str> {
        self.latest.get(index)?.as_ref()?.metadata.uid.as_deref()
    }

    /// Takes the first correct answers that have come since the last call.
    pub fn take_answers(&mut self) -> Vec<Answer> {
        std::mem::take(&mut self.answers)
    }

    pub(super) fn index(&self, name: Option<&str>) -> Option<usize> {
        self.timelines
            .iter()
            .position(|pod| Some(pod.name()) == name)
    }

    fn take(&mut self, polled: Polled) -> Result<(), Failure> {
        let Polled {
            index,
            initialised,
            waited,
            at,
        } = polled;
        let waited = match waited {
            Ok(waited) => waited,
            // Nothing accepted a function's code in time.
            Err(late) if late.reason == FailureReason::NeverListened => {
                self.timelines[index].gave_up(at, late);
                return Ok(());
            }
            Err(failure) => return Err(failure),
        };
        let answer = match waited.outcome {
            Ok(answer) => answer,
            Err(late) => {
                self.timelines[index].gave_up(at, late);
                return Ok(());
            }
        };
        let gap = waited
            .gap
            .and_then(|gap| u64::try_from(gap.as_nanos()).ok());
        let timeline = &mut self.timelines[index];
        if let Some(initialised) = initialised {
            timeline.initialised(initialised);
        }
        timeline.answered(at, gap, waited.readiness.attempts);
        if let Some(at) = waited.refused_unix_nanoseconds {
            timeline.refused(at);
        }
        self.answers.push(answer);
        Ok(())
    }
}

/// The API server's message if the namespace's quota leaves no room now.
fn over_quota(error: &kube::Error) -> Option<&str> {
    let kube::Error::Api(status) = error else {
        return None;
    };
    is_over_quota(status.code, &status.message).then_some(status.message.as_str())
}

fn not_created(error: &kube::Error) -> Failure {
    if let Some(message) = over_quota(error) {
        return failure(
            FailureReason::QuotaSpent,
            format!(
                "the namespace's quota left no room for a pod in time: {message}: raise the quota, or lower \
                 concurrency or instances"
            ),
        );
    }
    if let kube::Error::Api(status) = error
        && is_refused(status.code, &status.message)
    {
        return failure(
            FailureReason::PodRejected,
            format!("the API server refuses the pod: {}", status.message),
        );
    }
    unavailable(format!("a pod could not be created: {error}"))
}
