//! Live updates of open pages: whenever a run changes, the parts of a page that differ are sent
//! again.

use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::sync::Arc;

use axum::response::sse::{self, KeepAlive, Sse};
use futures::Stream;
use futures::stream::unfold;
use maud::Markup;
use tokio::sync::watch;

use crate::dashboard::state::Dashboard;
use crate::dashboard::watched::ObservedRuns;

/// Parts of a page by the id of their element.
pub type Regions = Vec<(&'static str, Markup)>;

/// An event sent to the browser: its name is the id of an element, its data the element's content.
pub type Event = Result<sse::Event, Infallible>;

/// A version that changes whenever a page may have changed.
pub type Version = Option<String>;

struct Sender<V, F> {
    dashboard: Arc<Dashboard>,
    version: V,
    regions: F,
    observed: Option<Version>,
    changes: watch::Receiver<ObservedRuns>,
    sent: BTreeMap<&'static str, String>,
    waiting: VecDeque<sse::Event>,
}

/// Sends each region that `regions` returns whenever it has changed. `regions` is called only when
/// `version` has changed.
pub fn events<V, F, Made>(
    dashboard: Arc<Dashboard>,
    version: V,
    regions: F,
) -> Sse<impl Stream<Item = Event>>
where
    V: Fn(&ObservedRuns) -> Version + Send + 'static,
    F: Fn(Arc<Dashboard>) -> Made + Send + 'static,
    Made: Future<Output = Regions> + Send,
{
    let sender = Sender {
        changes: dashboard.watched.listen(),
        dashboard,
        version,
        regions,
        observed: None,
        sent: BTreeMap::new(),
        waiting: VecDeque::new(),
    };
    let events = unfold(sender, async |mut sender| {
        let event = sender.next().await?;
        Some((Ok(event), sender))
    });
    Sse::new(events).keep_alive(KeepAlive::default())
}

impl<V, F, Made> Sender<V, F>
where
    V: Fn(&ObservedRuns) -> Version,
    F: Fn(Arc<Dashboard>) -> Made,
    Made: Future<Output = Regions> + Send,
{
    async fn next(&mut self) -> Option<sse::Event> {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                return Some(event);
            }
            let version = (self.version)(&self.changes.borrow_and_update());
            // `observed` is `None` at first, so that everything is sent once: a run may have changed
            // between the page and its stream.
            if self.observed.as_ref() == Some(&version) {
                self.changes.changed().await.ok()?;
                continue;
            }
            self.observed = Some(version);
            for (id, html) in (self.regions)(self.dashboard.clone()).await {
                let html = html.into_string();
                if self.sent.get(id) != Some(&html) {
                    let event = sse::Event::default().event(id);
                    self.waiting.push_back(event.data(html.replace('\r', "")));
                    self.sent.insert(id, html);
                }
            }
        }
    }
}
