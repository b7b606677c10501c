//! The namespaces whose runs and schedules the operator follows: all, through one watch of a kind, or those that the
//! administrator lists, through one watch each. The rest of the operator sees one stream of events either way.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::time::Duration;

use futures::stream::{self, BoxStream, select_all};
use futures::{Stream, StreamExt};
use k8s_openapi::NamespaceResourceScope;
use kube::runtime::reflector::Store;
use kube::runtime::watcher::Event;
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Resource, ResourceExt};
use serde::de::DeserializeOwned;

use crate::context::Context;
use crate::pause::WatchPause;

/// How long a namespace that may not be read is left alone: it is gone, or its RoleBinding is.
const FORBIDDEN_PAUSE: Duration = Duration::from_mins(1);

/// A kind whose objects are in namespaces.
pub trait Namespaced:
    Resource<DynamicType = (), Scope = NamespaceResourceScope>
    + Clone
    + DeserializeOwned
    + Debug
    + Send
    + Sync
    + 'static
{
}

impl<K> Namespaced for K where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>
        + Clone
        + DeserializeOwned
        + Debug
        + Send
        + Sync
        + 'static
{
}

/// An event or an error of a watch.
pub type WatchResult<K> = watcher::Result<Event<K>>;

/// The APIs of a kind through which all followed namespaces are reached.
pub fn apis<K: Namespaced>(context: &Context) -> Vec<Api<K>> {
    let client = &context.client;
    match context.config.watch_namespaces.as_slice() {
        [] => vec![Api::all(client.clone())],
        listed => listed
            .iter()
            .map(|namespace| Api::namespaced(client.clone(), namespace))
            .collect(),
    }
}

/// The same, with the operator's own namespace, where probes are.
pub fn with_own<K: Namespaced>(context: &Context) -> Vec<Api<K>> {
    let mut apis = apis(context);
    let own = &context.config.operator_namespace;
    if !context.config.watches(own) {
        apis.push(Api::namespaced(context.client.clone(), own));
    }
    apis
}

/// The events of all followed namespaces as they come. Each namespace has lists of its own.
pub fn events<K: Namespaced>(
    context: &Context,
    config: &watcher::Config,
) -> BoxStream<'static, WatchResult<K>> {
    let watches = apis(context)
        .into_iter()
        .map(|api| patient(watcher(api, config.clone()).backoff(WatchPause)))
        .map(StreamExt::boxed);
    select_all(watches).boxed()
}

/// The events of all followed namespaces as if they came from one watch, for a reflector with this
/// `store`. `slim` is applied to each object as it arrives.
pub fn as_one<K: Namespaced>(
    context: &Context,
    config: &watcher::Config,
    store: &Store<K>,
    slim: fn(&mut K),
) -> BoxStream<'static, WatchResult<K>> {
    let listed = &context.config.watch_namespaces;
    if listed.is_empty() {
        return events(context, config).modify(slim).boxed();
    }
    let watches = apis(context).into_iter().enumerate().map(|(place, api)| {
        let events = patient(watcher(api, config.clone()).backoff(WatchPause));
        events.modify(slim).map(move |event| (place, event)).boxed()
    });
    let mut merger = Merger::new(listed, store.clone());
    select_all(watches)
        .flat_map(move |(place, event)| stream::iter(merger.take(place, event)))
        .boxed()
}

/// `events`, with a pause after a refusal: a watch of a namespace that is gone must not keep asking
/// inside the windows of others.
fn patient<K: Send + 'static>(
    events: impl Stream<Item = WatchResult<K>> + Send + 'static,
) -> impl Stream<Item = WatchResult<K>> + Send + 'static {
    let mut was_refused = false;
    events.then(move |event| {
        let is_refused = event.as_ref().is_err_and(is_refused);
        let pauses = is_refused && was_refused;
        was_refused = is_refused;
        async move {
            if pauses {
                tokio::time::sleep(FORBIDDEN_PAUSE).await;
            }
            event
        }
    })
}

fn is_refused(error: &watcher::Error) -> bool {
    use watcher::Error::{InitialListFailed, WatchFailed, WatchStartFailed};
    let (InitialListFailed(error) | WatchStartFailed(error) | WatchFailed(error)) = error else {
        return false;
    };
    matches!(error, kube::Error::Api(status) if status.is_forbidden())
}

/// Makes one list of the first lists of all namespaces, and changes of their later ones.
struct Merger<K: Resource<DynamicType = ()> + 'static> {
    namespaces: Vec<Listing<K>>,
    /// Whether the first list has been passed on.
    is_listed: bool,
    store: Store<K>,
}

/// The objects of one namespace.
struct Listing<K> {
    namespace: String,
    /// Those of a list that has not been passed on, by name.
    found: BTreeMap<String, K>,
    /// Whether all of the first list has arrived.
    is_complete: bool,
}

impl<K> Merger<K>
where
    K: Resource<DynamicType = ()> + Clone + 'static,
{
    fn new(namespaces: &[String], store: Store<K>) -> Self {
        let listing = |namespace: &String| Listing {
            namespace: namespace.clone(),
            found: BTreeMap::new(),
            is_complete: false,
        };
        Self {
            namespaces: namespaces.iter().map(listing).collect(),
            is_listed: false,
            store,
        }
    }

    /// What to pass on when the watch of the namespace at `place` reports something.
    fn take(&mut self, place: usize, event: WatchResult<K>) -> Vec<WatchResult<K>> {
        let listing = &mut self.namespaces[place];
        match event {
            // The others are not to wait for a namespace that is gone.
            Err(error) if is_refused(&error) => {
                listing.found.clear();
                listing.is_complete = true;
                let mut events = self.first_list();
                events.push(Err(error));
                events
            }
            Err(error) => vec![Err(error)],
            Ok(Event::Init) => {
                listing.found.clear();
                vec![]
            }
            Ok(Event::InitApply(object)) => {
                listing.found.insert(object.name_any(), object);
                vec![]
            }
            Ok(Event::InitDone) if self.is_listed => self.later_list(place),
            Ok(Event::InitDone) => {
                listing.is_complete = true;
                self.first_list()
            }
            Ok(event) if self.is_listed => vec![Ok(event)],
            Ok(Event::Apply(object)) => {
                listing.found.insert(object.name_any(), object);
                vec![]
            }
            Ok(Event::Delete(object)) => {
                listing.found.remove(&object.name_any());
                vec![]
            }
        }
    }

    /// The first list of all namespaces, once the last of them is complete.
    fn first_list(&mut self) -> Vec<WatchResult<K>> {
        if self.is_listed || !self.namespaces.iter().all(|one| one.is_complete) {
            return vec![];
        }
        self.is_listed = true;
        let found = self
            .namespaces
            .iter_mut()
            .flat_map(|one| std::mem::take(&mut one.found).into_values());
        let mut events = vec![Event::Init];
        events.extend(found.map(Event::InitApply));
        events.push(Event::InitDone);
        events.into_iter().map(Ok).collect()
    }

    /// A later list of one namespace as changes: what it lacks was deleted while nobody watched.
    fn later_list(&mut self, place: usize) -> Vec<WatchResult<K>> {
        let listing = &mut self.namespaces[place];
        let found = std::mem::take(&mut listing.found);
        let known = self.store.state().into_iter();
        let mine = known.filter(|one| one.namespace().as_deref() == Some(&*listing.namespace));
        let gone = mine.filter(|one| !found.contains_key(&one.name_any()));
        let mut events: Vec<WatchResult<K>> =
            gone.map(|one| Ok(Event::Delete((*one).clone()))).collect();
        events.extend(found.into_values().map(|object| Ok(Event::Apply(object))));
        events
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use k8s_openapi::api::core::v1::ConfigMap;
    use kube::core::Status;
    use kube::runtime::reflector;
    use kube::runtime::reflector::store::Writer;

    use super::*;

    /// Watches of two namespaces, and what a reflector makes of them.
    struct Two {
        merger: Merger<ConfigMap>,
        writer: Writer<ConfigMap>,
        store: Store<ConfigMap>,
    }

    impl Two {
        fn new() -> Self {
            let (store, writer) = reflector::store();
            let namespaces = ["a".to_owned(), "b".to_owned()];
            let merger = Merger::new(&namespaces, store.clone());
            Self {
                merger,
                writer,
                store,
            }
        }

        /// Passes on what the watch of a namespace reports, and returns how many events that made.
        fn report(&mut self, namespace: &str, event: WatchResult<ConfigMap>) -> usize {
            let place = usize::from(namespace == "b");
            let events = self.merger.take(place, event);
            for event in events.iter().flatten() {
                self.writer.apply_watcher_event(event);
            }
            events.len()
        }

        fn list(&mut self, namespace: &str, names: &[&str]) {
            self.report(namespace, Ok(Event::Init));
            for name in names {
                self.report(namespace, Ok(Event::InitApply(map(namespace, name))));
            }
            self.report(namespace, Ok(Event::InitDone));
        }

        fn known(&self) -> BTreeSet<String> {
            let known = self.store.state().into_iter();
            known
                .map(|map| format!("{}/{}", map.namespace().unwrap(), map.name_any()))
                .collect()
        }
    }

    fn map(namespace: &str, name: &str) -> ConfigMap {
        let mut map = ConfigMap::default();
        map.metadata.namespace = Some(namespace.into());
        map.metadata.name = Some(name.into());
        map
    }

    fn names(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|&name| name.into()).collect()
    }

    fn refusal() -> WatchResult<ConfigMap> {
        let status = Status::failure("no", "Forbidden").with_code(403);
        let error = kube::Error::Api(Box::new(status));
        Err(watcher::Error::InitialListFailed(error))
    }

    #[test]
    fn the_lists_of_all_namespaces_are_one_list_that_is_complete_with_the_last() {
        let mut two = Two::new();
        two.list("a", &["one", "two"]);
        assert_eq!(two.report("a", Ok(Event::Delete(map("a", "two")))), 0);
        assert_eq!(two.known(), names(&[]));
        // A list that breaks off begins anew.
        two.report("b", Ok(Event::Init));
        two.report("b", Ok(Event::InitApply(map("b", "gone"))));
        two.list("b", &["one"]);
        assert_eq!(two.known(), names(&["a/one", "b/one"]));
        two.report("b", Ok(Event::Apply(map("b", "new"))));
        two.report("a", Ok(Event::Delete(map("a", "one"))));
        assert_eq!(two.known(), names(&["b/one", "b/new"]));
    }

    #[test]
    fn a_later_list_of_one_namespace_forgets_what_is_gone_there_and_nothing_elsewhere() {
        let mut two = Two::new();
        two.list("a", &["one", "two"]);
        two.list("b", &["one", "two"]);
        two.list("a", &["two", "three"]);
        assert_eq!(two.known(), names(&["a/two", "a/three", "b/one", "b/two"]));
        two.list("b", &[]);
        assert_eq!(two.known(), names(&["a/two", "a/three"]));
    }

    #[test]
    fn a_namespace_that_may_not_be_read_does_not_delay_the_others() {
        let mut two = Two::new();
        two.list("a", &["one"]);
        // An error that may pass is waited out.
        let error = Err(watcher::Error::NoResourceVersion);
        assert_eq!(two.report("b", error), 1);
        assert_eq!(two.known(), names(&[]));
        two.report("b", refusal());
        assert_eq!(two.known(), names(&["a/one"]));
        two.list("b", &["late"]);
        assert_eq!(two.known(), names(&["a/one", "b/late"]));
    }

    #[tokio::test(start_paused = true)]
    async fn a_namespace_that_keeps_refusing_is_listed_once_a_minute() {
        let started = tokio::time::Instant::now();
        let refusals = stream::iter((0..4).map(|_| refusal()));
        let heard: Vec<_> = patient(refusals).collect().await;
        assert_eq!((heard.len(), started.elapsed()), (4, 3 * FORBIDDEN_PAUSE));
    }
}
