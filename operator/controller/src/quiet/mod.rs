//! Silence in timed windows. While a probe measures on a node, nothing happens on that node: its run does
//! nothing, and no other run may. Other nodes go on, and users are heard: a watch that ends is reopened at
//! once. But it ends in a window only if it has to: one that would is renewed before. Work that nobody waits
//! for, such as the places of waiting runs, is done when the open windows are over.

mod watches;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use http::Request;
use kube::Client;
use kube::api::ObjectMeta;
use kube::client::Body;
use tokio::sync::watch;
use tokio::time::Instant;
use wasmbench_api::labels;
use wasmbench_model::wire::record::TrialId;
use watches::{Answer, Watches};

/// How long the API server keeps a watch open. Some load balancers drop connections that are idle
/// for 240 s without a notice.
pub const WATCH_SECONDS: u32 = 200;
/// How long a request may take until its response begins.
const CALL: Duration = Duration::from_secs(10);
/// A younger watch is never renewed, however long the window.
const YOUNGEST: Duration = Duration::from_secs(10);

/// The open windows, by the uid of their run.
#[derive(Clone, Default)]
pub struct Quiet {
    windows: Arc<watch::Sender<BTreeMap<String, Window>>>,
    watches: Watches,
}

#[derive(Clone, PartialEq, Eq)]
struct Window {
    /// The trial that the window belongs to.
    trial: String,
    /// When the window ends at the latest.
    until: Instant,
}

impl Quiet {
    /// Renews the watches that would end within `longest` from now. Other windows may be open, in which
    /// this is seen; so while one is, no watch is renewed that is in the first half of its life.
    pub async fn prepare(&self, longest: Duration) {
        let life = Duration::from_secs(WATCH_SECONDS.into());
        let youngest = self.left().map_or(YOUNGEST, |_| life / 2);
        let age = life.saturating_sub(longest);
        self.watches.renew(age.max(youngest)).await;
    }

    /// Opens the window of this run's trial. It ends after `expected`, unless [`Quiet::end`] ends
    /// it before.
    pub fn begin(&self, run_uid: &str, trial: &TrialId, expected: Duration) {
        let now = Instant::now();
        let window = Window {
            trial: trial.to_string(),
            until: now + expected,
        };
        self.windows.send_modify(|open| {
            open.retain(|_, window| window.until > now);
            open.insert(run_uid.to_owned(), window);
        });
    }

    /// Whether an object belongs to a trial other than the one whose window is open. That trial is
    /// over, and its remains are being removed, which can wait for the end of the window, when
    /// everything is read again.
    pub fn is_of_another_trial(&self, object: &ObjectMeta) -> bool {
        let value = |map: &Option<BTreeMap<String, String>>, key| map.as_ref()?.get(key).cloned();
        let run = value(&object.labels, labels::RUN_UID);
        let trial = value(&object.annotations, labels::TRIAL);
        let (Some(run), Some(trial)) = (run, trial) else {
            return false;
        };
        let windows = self.windows.borrow();
        let open = windows.get(&run).filter(|open| open.until > Instant::now());
        open.is_some_and(|open| open.trial != trial)
    }

    /// Whether the window of this run is open.
    pub fn is_open(&self, run_uid: &str) -> bool {
        let windows = self.windows.borrow();
        let window = windows.get(run_uid);
        window.is_some_and(|window| window.until > Instant::now())
    }

    /// Ends the window of this run, and returns whether it was open.
    pub fn end(&self, run_uid: &str) -> bool {
        let now = Instant::now();
        let mut was_open = false;
        self.windows.send_if_modified(|open| {
            let window = open.remove(run_uid);
            was_open = window.as_ref().is_some_and(|window| window.until > now);
            window.is_some()
        });
        was_open
    }

    /// The time until all currently open windows are over; `None` if none is open.
    pub fn left(&self) -> Option<Duration> {
        let last = self
            .windows
            .borrow()
            .values()
            .map(|open| open.until)
            .max()?;
        let left = last.saturating_duration_since(Instant::now());
        Some(left).filter(|left| !left.is_zero())
    }

    /// Wraps `client` so that its watches can be renewed, and so that it gives up on a response that does
    /// not begin in time.
    pub fn keep(&self, client: Client) -> Client {
        let namespace = client.default_namespace().to_owned();
        let quiet = self.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let (client, quiet) = (client.clone(), quiet.clone());
            async move {
                let is_watch = opens_watch(&request);
                let response = answered(client.send(request)).await?;
                let answer = if is_watch {
                    quiet.watches.follow(response)
                } else {
                    Answer::plain(response)
                };
                Ok::<_, kube::Error>(answer)
            }
        });
        Client::new(service, namespace)
    }

    /// Returns when all currently open windows are over. Windows that begin in the meantime do not
    /// prolong the wait: a cluster that measures on many nodes always has one.
    pub async fn over(&self) {
        let open = self.windows.borrow().clone();
        for (run, window) in open {
            let mut windows = self.windows.subscribe();
            let ended = windows.wait_for(|open| open.get(&run) != Some(&window));
            // An error means that nobody can begin a window any more.
            let _ = tokio::time::timeout_at(window.until, ended).await;
        }
    }
}

/// The response to a request, or an error if it does not begin in time: the connection may be dead.
async fn answered<T>(call: impl Future<Output = Result<T, kube::Error>>) -> Result<T, kube::Error> {
    let answer = tokio::time::timeout(CALL, call).await;
    answer.unwrap_or_else(|_| {
        let message = format!("the API server did not answer within {CALL:?}");
        Err(kube::Error::Service(message.into()))
    })
}

fn opens_watch(request: &Request<Body>) -> bool {
    let query = request.uri().query().unwrap_or_default();
    query.split('&').any(|part| part == "watch=true")
}

#[cfg(test)]
mod tests {
    use http::Response;

    use super::*;

    const MINUTE: Duration = Duration::from_mins(1);

    #[tokio::test(start_paused = true)]
    async fn a_call_that_nobody_answers_is_an_error_within_fifteen_seconds() {
        let begin = Instant::now();
        let never = answered(std::future::pending::<Result<(), kube::Error>>()).await;
        assert!(never.unwrap_err().to_string().contains("did not answer"));
        assert!(begin.elapsed() < Duration::from_secs(15));
    }

    fn trial(block: u32) -> TrialId {
        format!("a/hello/warm/b{block}").parse().unwrap()
    }

    fn of_trial(block: u32) -> ObjectMeta {
        ObjectMeta {
            labels: Some([(labels::RUN_UID.into(), "run".into())].into()),
            annotations: Some([(labels::TRIAL.into(), trial(block).to_string())].into()),
            ..ObjectMeta::default()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn objects_of_an_earlier_trial_wake_nobody_in_a_window() {
        let quiet = Quiet::default();
        assert!(!quiet.is_of_another_trial(&of_trial(1)));
        quiet.begin("run", &trial(2), MINUTE);
        assert!(quiet.is_of_another_trial(&of_trial(1)));
        assert!(!quiet.is_of_another_trial(&of_trial(2)));
        assert!(
            !quiet.is_of_another_trial(&ObjectMeta::default()),
            "of no trial"
        );
        tokio::time::sleep(MINUTE).await;
        assert!(!quiet.is_of_another_trial(&of_trial(1)), "it is over");
    }

    /// A client behind `quiet`, whose server answers everything with an empty object.
    fn client(quiet: &Quiet) -> Client {
        let service = tower::service_fn(|_: Request<Body>| async {
            Ok::<_, std::convert::Infallible>(Response::new(Body::from(b"{}".to_vec())))
        });
        quiet.keep(Client::new(service, "default"))
    }

    async fn ask(client: Client, query: &str) -> Duration {
        let uri = format!("/api/v1/pods?limit=1&{query}");
        let request = Request::get(uri).body(Body::empty()).unwrap();
        let sent = Instant::now();
        client.send(request).await.unwrap();
        sent.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn a_watch_is_opened_in_a_window_too_since_users_are_to_be_heard() {
        let quiet = Quiet::default();
        quiet.begin("run", &trial(1), MINUTE);
        for query in ["watch=true", "watch=false"] {
            assert_eq!(ask(client(&quiet), query).await, Duration::ZERO);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_window_that_ends_twice_was_open_once() {
        let quiet = Quiet::default();
        quiet.begin("run", &trial(1), MINUTE);
        assert!(quiet.is_open("run") && !quiet.is_open("another"));
        assert!(quiet.end("run"));
        assert!(!quiet.end("run") && !quiet.is_open("run"));
        quiet.begin("run", &trial(1), MINUTE);
        tokio::time::sleep(MINUTE).await;
        assert!(!quiet.end("run"));
    }

    /// For how long work waits that waits for silence.
    async fn waited(quiet: Quiet) -> Duration {
        let began = Instant::now();
        quiet.over().await;
        began.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn work_that_can_wait_goes_on_as_soon_as_the_probe_ended() {
        let quiet = Quiet::default();
        quiet.begin("run", &trial(1), MINUTE);
        let work = tokio::spawn(waited(quiet.clone()));
        tokio::time::sleep(Duration::from_secs(10)).await;
        quiet.end("run");
        assert_eq!(work.await.unwrap(), Duration::from_secs(10));
    }

    #[tokio::test(start_paused = true)]
    async fn work_that_can_wait_does_so_for_every_window_but_not_for_later_ones() {
        let quiet = Quiet::default();
        quiet.begin("one", &trial(1), MINUTE);
        quiet.begin("two", &trial(1), 2 * MINUTE);
        let work = tokio::spawn(waited(quiet.clone()));
        tokio::time::sleep(MINUTE / 2).await;
        quiet.begin("three", &trial(1), 3 * MINUTE);
        quiet.end("one");
        assert_eq!(work.await.unwrap(), 2 * MINUTE);
    }

    #[tokio::test(start_paused = true)]
    async fn the_next_window_of_a_run_does_not_prolong_the_wait() {
        let quiet = Quiet::default();
        quiet.begin("run", &trial(1), MINUTE);
        let work = tokio::spawn(waited(quiet.clone()));
        tokio::time::sleep(MINUTE / 2).await;
        quiet.begin("run", &trial(1), MINUTE);
        assert_eq!(work.await.unwrap(), MINUTE / 2);
    }

    #[tokio::test(start_paused = true)]
    async fn watches_that_would_end_in_a_window_are_renewed_later_if_another_is_open() {
        let quiet = Quiet::default();
        let _held = quiet.watches.follow(Response::new(Body::empty()));
        let prepared = async |longest| {
            let began = Instant::now();
            quiet.prepare(longest).await;
            began.elapsed()
        };
        // Nobody reopens the watch here, so a renewal times out.
        let renewed = Duration::from_secs(1);
        tokio::time::sleep(MINUTE).await;
        assert_eq!(prepared(MINUTE).await, Duration::ZERO, "it is young enough");
        quiet.begin("another", &trial(1), 3 * MINUTE);
        assert_eq!(prepared(3 * MINUTE).await, Duration::ZERO);
        tokio::time::sleep(MINUTE).await;
        assert_eq!(prepared(3 * MINUTE).await, renewed);
    }
}
