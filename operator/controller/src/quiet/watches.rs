//! The open watches. The API server ends each after a while; one that it would end in the middle of
//! a window is ended here before the window begins, so that it is reopened in time.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::future::BoxFuture;
use http::Response;
use http_body::{Frame, SizeHint};
use tokio::sync::watch;
use tokio::time::Instant;

/// How long to wait until watches are reopened. That takes milliseconds; a slower server must not
/// keep a measurement from starting.
const OPENED_AGAIN: Duration = Duration::from_secs(1);

/// All open watches of one client.
#[derive(Clone, Default)]
pub struct Watches(Arc<watch::Sender<State>>);

#[derive(Default)]
struct State {
    /// When each was opened.
    open: BTreeMap<u64, Instant>,
    /// How many have ever been opened; the next one's key.
    opened: u64,
    /// Watches that were opened before this instant are to end.
    renewed: Option<Instant>,
}

impl Watches {
    /// Wraps the response to a request that opened a watch, so that [`Watches::renew`] can end its
    /// body.
    pub fn follow<B>(&self, response: Response<B>) -> Response<Answer<B>> {
        let opened = Instant::now();
        let mut key = 0;
        self.0.send_modify(|state| {
            key = state.opened;
            state.opened += 1;
            state.open.insert(key, opened);
        });
        let mut states = self.0.subscribe();
        let renewed = async move {
            let is_old = |state: &State| state.renewed.is_some_and(|before| opened < before);
            // An error means that nobody can renew the watch any more.
            if states.wait_for(is_old).await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        let open = Open {
            renewed: Box::pin(renewed),
            key,
            watches: self.clone(),
        };
        response.map(|body| Answer {
            body,
            watch: Some(open),
            ended: false,
        })
    }

    /// Ends all watches that have been open for longer than `age`, and returns when as many have
    /// been reopened, or after a second.
    pub async fn renew(&self, age: Duration) {
        let Some(before) = Instant::now().checked_sub(age) else {
            return;
        };
        let mut states = self.0.subscribe();
        let (old, opened) = {
            let state = self.0.borrow();
            let old = state.open.values().filter(|opened| **opened < before);
            (old.count(), state.opened)
        };
        if old == 0 {
            return;
        }
        self.0.send_modify(|state| state.renewed = Some(before));
        let wanted = opened.saturating_add(u64::try_from(old).unwrap_or(u64::MAX));
        let again = states.wait_for(|state| state.opened >= wanted);
        // A late watch is reopened when the window is over.
        let _ = tokio::time::timeout(OPENED_AGAIN, again).await;
    }
}

/// The body of a response, of a watch or of another request.
pub struct Answer<B> {
    body: B,
    watch: Option<Open>,
    /// Whether a renewal ended the body: a reader may poll once more.
    ended: bool,
}

/// An open watch.
struct Open {
    renewed: BoxFuture<'static, ()>,
    key: u64,
    watches: Watches,
}

impl<B> Answer<B> {
    /// Wraps a response that is not a watch.
    pub fn plain(response: Response<B>) -> Response<Self> {
        response.map(|body| Self {
            body,
            watch: None,
            ended: false,
        })
    }
}

impl<B: http_body::Body + Unpin> http_body::Body for Answer<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        if self.ended {
            return Poll::Ready(None);
        }
        // Data that has arrived is read first: nothing is lost with the connection.
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        match &mut self.watch {
            Some(open) if frame.is_pending() => {
                self.ended = open.renewed.as_mut().poll(cx).is_ready();
                if self.ended { Poll::Ready(None) } else { frame }
            }
            _ => frame,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let key = self.key;
        self.watches.0.send_modify(|state| {
            state.open.remove(&key);
        });
    }
}

#[cfg(test)]
mod tests {
    use http_body::Body as _;

    use super::*;

    const MINUTE: Duration = Duration::from_mins(1);

    /// A body that sends nothing and never ends.
    struct Silent;

    impl http_body::Body for Silent {
        type Data = std::io::Cursor<Vec<u8>>;
        type Error = std::convert::Infallible;

        fn poll_frame(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
            Poll::Pending
        }
    }

    fn opened(watches: &Watches) -> Answer<Silent> {
        watches.follow(Response::new(Silent)).into_body()
    }

    /// Whether the watch ends within a second.
    async fn ends(body: &mut Answer<Silent>) -> bool {
        let frame = std::future::poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx));
        tokio::time::timeout(Duration::from_secs(1), frame)
            .await
            .is_ok_and(|frame| frame.is_none())
    }

    #[tokio::test(start_paused = true)]
    async fn only_old_watches_are_renewed() {
        let watches = Watches::default();
        let mut old = opened(&watches);
        tokio::time::sleep(2 * MINUTE).await;
        let mut young = opened(&watches);
        watches.renew(MINUTE).await;
        assert!(ends(&mut old).await);
        assert!(ends(&mut old).await, "and reports it again");
        assert!(!ends(&mut young).await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_window_begins_when_the_watches_are_open_again() {
        let watches = Watches::default();
        let mut old = opened(&watches);
        tokio::time::sleep(2 * MINUTE).await;
        let again = watches.clone();
        let follower = tokio::spawn(async move {
            while !ends(&mut old).await {}
            drop(old);
            tokio::time::sleep(Duration::from_millis(200)).await;
            opened(&again)
        });
        let began = Instant::now();
        watches.renew(MINUTE).await;
        assert_eq!(began.elapsed(), Duration::from_millis(200));
        let mut new = follower.await.unwrap();
        assert!(!ends(&mut new).await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_watch_that_is_gone_is_not_waited_for() {
        let watches = Watches::default();
        drop(opened(&watches));
        tokio::time::sleep(2 * MINUTE).await;
        let began = Instant::now();
        watches.renew(MINUTE).await;
        assert_eq!(began.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_is_slow_delays_a_window_by_a_second_at_most() {
        let watches = Watches::default();
        let _old = opened(&watches);
        tokio::time::sleep(2 * MINUTE).await;
        let began = Instant::now();
        watches.renew(MINUTE).await;
        assert_eq!(began.elapsed(), OPENED_AGAIN);
    }
}
