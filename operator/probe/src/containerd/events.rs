//! containerd's events on containers and images, each with a time on the node's clock in
//! nanoseconds: stamped by the shims and containerd themselves, not on arrival here.

use futures::StreamExt as _;
use futures::channel::mpsc::{UnboundedReceiver, unbounded};
use prost::Message as _;

use super::messages::{About, Envelope, Filters, SnapshotCommit, TaskExit, Timestamp};
use super::{Containerd, NAMESPACE};
use crate::output::progress;

const RECORD: &str = "/containers/create";
const IMAGE: &str = "/images/create";
const COMMIT: &str = "/snapshot/commit";
const CREATE: &str = "/tasks/create";
const START: &str = "/tasks/start";
const EXIT: &str = "/tasks/exit";

/// What happened to a container or an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happened {
    /// An image is on the node, pulled and unpacked.
    ImageCreated,
    /// A layer of an image was unpacked.
    LayerUnpacked,
    /// A container is recorded, without a process.
    Recorded,
    /// Its process exists, stopped before its first instruction.
    Created,
    /// Its process runs.
    Started,
    /// Its process ended.
    Exited,
}

/// What happened to a container or an image, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuntimeEvent {
    /// The container's id, the image's name, or the layer's chain ID.
    pub of: String,
    /// What happened.
    pub happened: Happened,
    /// Nanoseconds since the Unix epoch.
    pub at: i64,
}

impl Containerd {
    /// Follows the events until the receiver is dropped. containerd confirms a subscription only
    /// with its first event, so nothing waits for the confirmation.
    pub fn events(&self) -> UnboundedReceiver<RuntimeEvent> {
        let filter = |topic: &str| format!("namespace=={NAMESPACE},topic==\"{topic}\"");
        let topics = [CREATE, START, EXIT, RECORD, IMAGE, COMMIT];
        let filters = topics.map(filter).into();
        let path = "/containerd.services.events.v1.Events/Subscribe";
        let (sender, receiver) = unbounded();
        let containerd = self.clone();
        tokio::spawn(async move {
            let subscription = containerd.follow::<_, Envelope>(path, Filters { filters });
            let mut answers = match subscription.await {
                Ok(answers) => answers,
                Err(error) => return progress(&format!("no events: {error}")),
            };
            while let Some(answer) = answers.next().await {
                let envelope = match answer {
                    Ok(envelope) => envelope,
                    Err(status) => {
                        progress(&format!("containerd's events ended: {status}"));
                        return;
                    }
                };
                let news = event_of(&envelope).map(|event| sender.unbounded_send(event));
                if news.is_some_and(|sent| sent.is_err()) {
                    return;
                }
            }
        });
        receiver
    }
}

/// The event in an envelope; `None` if it is of no interest or has no time.
fn event_of(envelope: &Envelope) -> Option<RuntimeEvent> {
    let value = envelope.event.as_ref()?.value.as_slice();
    let stamped = envelope.timestamp.as_ref().map(Timestamp::unix_nanoseconds);
    let happened = match envelope.topic.as_str() {
        IMAGE => Happened::ImageCreated,
        RECORD => Happened::Recorded,
        CREATE => Happened::Created,
        START => Happened::Started,
        COMMIT => Happened::LayerUnpacked,
        EXIT => return exit(value, stamped),
        _ => return None,
    };
    let of = if happened == Happened::LayerUnpacked {
        SnapshotCommit::decode(value).ok()?.name
    } else {
        About::decode(value).ok()?.name
    };
    let at = stamped?;
    Some(RuntimeEvent { of, happened, at })
}

/// The exit of a container's own process; `None` for other processes in it.
fn exit(value: &[u8], stamped: Option<i64>) -> Option<RuntimeEvent> {
    let exit = TaskExit::decode(value).ok()?;
    let is_its_own = exit.id.is_empty() || exit.id == exit.container_id;
    let at = exit.exited_at.map(|at| at.unix_nanoseconds()).or(stamped);
    is_its_own.then_some(RuntimeEvent {
        of: exit.container_id,
        happened: Happened::Exited,
        at: at?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // What containerd 2.3.4 sent while a container of its runc shim came and went.
    const CREATED: &str = include_str!("fixtures/task-create.hex");
    const STARTED: &str = include_str!("fixtures/task-start.hex");
    const EXITED: &str = include_str!("fixtures/task-exit.hex");
    const DELETED: &str = include_str!("fixtures/task-delete.hex");

    fn envelope(hex: &str) -> Envelope {
        let digits: Vec<char> = hex.trim().chars().collect();
        let byte =
            |pair: &[char]| u8::from_str_radix(&pair.iter().collect::<String>(), 16).unwrap();
        let bytes: Vec<u8> = digits.chunks(2).map(byte).collect();
        Envelope::decode(bytes.as_slice()).unwrap()
    }

    fn event(happened: Happened, at: i64) -> RuntimeEvent {
        let of = "first-container".to_owned();
        RuntimeEvent { of, happened, at }
    }

    #[test]
    fn real_events_become_moments_to_the_nanosecond() {
        for (hex, expected) in [
            (
                CREATED,
                Some(event(Happened::Created, 1_795_271_251_913_222_643)),
            ),
            (
                STARTED,
                Some(event(Happened::Started, 1_795_271_251_923_635_134)),
            ),
            (
                EXITED,
                Some(event(Happened::Exited, 1_795_271_252_975_837_214)),
            ),
            (DELETED, None),
        ] {
            assert_eq!(event_of(&envelope(hex)), expected);
        }
    }

    #[test]
    fn an_end_is_when_the_process_ended_and_not_when_it_was_reported() {
        let exited = envelope(EXITED);
        let reported = exited.timestamp.unwrap().unix_nanoseconds();
        assert!(event_of(&exited).unwrap().at < reported);
    }

    #[test]
    fn the_end_of_another_process_in_the_container_is_not_its_end() {
        let mut exited = envelope(EXITED);
        let payload = exited.event.as_mut().unwrap();
        let mut exit = TaskExit::decode(payload.value.as_slice()).unwrap();
        exit.id = "probe-7".into();
        payload.value = exit.encode_to_vec();
        assert_eq!(event_of(&exited), None);
    }

    #[test]
    fn without_a_time_or_a_payload_there_is_no_event() {
        let mut started = envelope(STARTED);
        started.timestamp = None;
        assert_eq!(event_of(&started), None);
        let mut empty = envelope(STARTED);
        empty.event = None;
        assert_eq!(event_of(&empty), None);
        let mut torn = envelope(CREATED);
        torn.event.as_mut().unwrap().value.truncate(5);
        assert_eq!(event_of(&torn), None);
    }
}
