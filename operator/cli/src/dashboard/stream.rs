//! Pages that change while they are looked at: the parts of a page that are not as they were, whenever a run changes.

use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::sync::Arc;

use axum::response::sse::{self, KeepAlive, Sse};
use futures::Stream;
use futures::stream::unfold;
use maud::Markup;
use tokio::sync::watch;

use crate::dashboard::server::Dashboard;
use crate::dashboard::watched::Seen;

/// Parts of a page by the id of their element.
pub type Regions = Vec<(&'static str, Markup)>;

/// What is sent to the browser: the name is the id of an element, the data what stands in it.
pub type Event = Result<sse::Event, Infallible>;

struct Sender<F> {
    dashboard: Arc<Dashboard>,
    regions: F,
    changes: watch::Receiver<Seen>,
    sent: BTreeMap<&'static str, String>,
    waiting: VecDeque<sse::Event>,
    is_new: bool,
}

/// The regions that `regions` makes, each whenever it is another one than before.
pub fn of<F, Made>(dashboard: Arc<Dashboard>, regions: F) -> Sse<impl Stream<Item = Event>>
where
    F: Fn(Arc<Dashboard>) -> Made + Send + 'static,
    Made: Future<Output = Regions> + Send,
{
    let sender = Sender {
        changes: dashboard.watched.listen(),
        dashboard,
        regions,
        sent: BTreeMap::new(),
        waiting: VecDeque::new(),
        is_new: true,
    };
    let events = unfold(sender, async |mut sender| {
        let event = sender.next().await?;
        Some((Ok(event), sender))
    });
    Sse::new(events).keep_alive(KeepAlive::default())
}

impl<F, Made> Sender<F>
where
    F: Fn(Arc<Dashboard>) -> Made,
    Made: Future<Output = Regions> + Send,
{
    async fn next(&mut self) -> Option<sse::Event> {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                return Some(event);
            }
            // The first time without a change: one may have come between the page and its stream.
            if !std::mem::take(&mut self.is_new) {
                self.changes.changed().await.ok()?;
            }
            self.changes.mark_unchanged();
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
