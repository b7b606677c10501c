//! What goes over the connection in answer to one request. Pure: a behaviour and the moment in,
//! bytes, pauses and the end out.

use std::io::Write as _;
use std::iter::once;
use std::time::Duration;

use crate::behaviour::{Behaviour, Fault, Kind};
use crate::strict;

/// Between head and body of `/http10`.
const BODY_PAUSE: Duration = Duration::from_millis(200);
/// Before each byte of `/trickle`.
const BYTE_PAUSE: Duration = Duration::from_millis(10);

/// What the answer depends on in addition to its behaviour.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// Which request of a load this is over all connections, from 1; `None` for a probe's own.
    pub of_load: Option<u64>,
    /// Which request of its connection this is, from 1.
    pub of_connection: u64,
    /// Whether the client keeps the connection.
    pub is_kept: bool,
    /// Time since the start of the process.
    pub uptime: Duration,
    /// How the request differs from the only one that `/strict` takes.
    pub difference: Option<&'static str>,
}

/// The answer in steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// What happens one after the other.
    pub steps: Vec<Step>,
    /// What becomes of the connection.
    pub end: End,
}

/// One write, or a pause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Bytes that are written at once.
    Write(Vec<u8>),
    /// Nothing for so long.
    Pause(Duration),
}

/// What becomes of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It carries further requests.
    Kept,
    /// It is closed.
    Closed,
    /// It is reset.
    Reset,
}

/// The answer at this moment.
pub fn script(behaviour: &Behaviour, moment: &Moment) -> Script {
    let end = if moment.is_kept {
        End::Kept
    } else {
        End::Closed
    };
    let answer = Answer::new(behaviour, moment);
    let after = |pause: Option<Duration>| pause.map(Step::Pause).into_iter();
    let one_write = |bytes: Vec<u8>, end: End| Script {
        steps: after(behaviour.pause).chain([Step::Write(bytes)]).collect(),
        end,
    };
    match behaviour.kind {
        Kind::Chunks { each } => one_write(answer.in_chunks(each), end),
        Kind::Continue => {
            let interim = b"HTTP/1.1 100 Continue\r\n\r\n";
            one_write([&interim[..], &answer.whole(end)].concat(), end)
        }
        Kind::Http10 => without_length(answer, behaviour.pause),
        Kind::Limit {
            requests,
            is_announced,
        } if moment.of_connection >= requests => {
            let last = if is_announced { End::Closed } else { end };
            one_write(answer.whole(last), End::Closed)
        }
        Kind::Trickle => in_bytes(&answer, behaviour.pause, end),
        Kind::Fault { fault, percent } if is_hit(moment, percent) => broken(fault, answer, end),
        Kind::Plain
        | Kind::Busy { .. }
        | Kind::Early
        | Kind::Fault { .. }
        | Kind::Grow { .. }
        | Kind::Limit { .. }
        | Kind::Log
        | Kind::Starting { .. }
        | Kind::Strict
        | Kind::Work { .. } => one_write(answer.whole(end), end),
    }
}

fn without_length(answer: Answer, pause: Option<Duration>) -> Script {
    let head = format!("HTTP/1.0 {} As requested\r\n\r\n", answer.status).into_bytes();
    let pause = Step::Pause(pause.unwrap_or(BODY_PAUSE));
    let steps = vec![Step::Write(head), pause, Step::Write(answer.body)];
    let end = End::Closed;
    Script { steps, end }
}

fn in_bytes(answer: &Answer, pause: Option<Duration>, end: End) -> Script {
    let pause = pause.unwrap_or(BYTE_PAUSE);
    let bytes = answer.body.iter();
    let bytes = bytes.flat_map(|byte| [Step::Pause(pause), Step::Write(vec![*byte])]);
    let steps = once(Step::Write(answer.head(end))).chain(bytes).collect();
    Script { steps, end }
}

/// Whether this request is one of the `percent` in 100 of a load, which are evenly spread.
fn is_hit(moment: &Moment, percent: u64) -> bool {
    moment
        .of_load
        .is_some_and(|request| request * percent / 100 > (request - 1) * percent / 100)
}

fn broken(fault: Fault, answer: Answer, end: End) -> Script {
    let half = |answer: Answer| {
        let mut bytes = answer.whole(end);
        bytes.truncate(bytes.len() - answer.body.len().div_ceil(2));
        bytes
    };
    let (bytes, end) = match fault {
        Fault::Cut => (half(answer), End::Closed),
        Fault::Long => (half(answer), end),
        Fault::Reset => (half(answer), End::Reset),
        Fault::Shed => (Answer::SHED.whole(end), end),
        Fault::Silent => (vec![], End::Closed),
        Fault::Twice { gap: None } => (answer.whole(end).repeat(2), end),
        Fault::Twice { gap: Some(gap) } => {
            let once = Step::Write(answer.whole(end));
            let steps = vec![once.clone(), Step::Pause(gap), once];
            return Script { steps, end };
        }
    };
    let steps = vec![Step::Write(bytes)];
    Script { steps, end }
}

struct Answer {
    status: u16,
    is_json: bool,
    body: Vec<u8>,
}

impl Answer {
    const SHED: Self = Self {
        status: 503,
        is_json: false,
        body: vec![],
    };

    fn new(behaviour: &Behaviour, moment: &Moment) -> Self {
        if behaviour.kind == Kind::Strict {
            return Self::strict(behaviour.status, moment);
        }
        let mut status = behaviour.status;
        let mut bytes = behaviour.body_bytes;
        if let Kind::Starting { time, until } = behaviour.kind
            && moment.uptime < time
        {
            status = until;
        }
        if let Kind::Grow { to, after } = behaviour.kind
            && moment.of_load.is_some_and(|request| request > after)
        {
            bytes = Some(to);
        }
        let body = if has_no_body(status) {
            vec![]
        } else {
            bytes.map_or_else(|| b"hello".to_vec(), |bytes| vec![b'x'; bytes])
        };
        Self {
            status,
            is_json: false,
            body,
        }
    }

    /// JSON to the right request, whose keys change places with every request of a connection.
    fn strict(status: u16, moment: &Moment) -> Self {
        let [odd, even] = strict::ANSWERS;
        let json = if moment.of_connection % 2 == 1 {
            odd
        } else {
            even
        };
        Self {
            status: moment.difference.map_or(status, |_| 422),
            is_json: moment.difference.is_none(),
            body: moment.difference.unwrap_or(json).as_bytes().to_vec(),
        }
    }

    fn whole(&self, end: End) -> Vec<u8> {
        let mut bytes = self.head(end);
        bytes.extend_from_slice(&self.body);
        bytes
    }

    fn head(&self, end: End) -> Vec<u8> {
        let (status, length) = (self.status, self.body.len());
        let length = if has_no_body(status) {
            String::new()
        } else {
            format!("Content-Length: {length}\r\n")
        };
        let location = match status {
            301..=303 | 307 | 308 => "Location: /\r\n",
            _ => "",
        };
        let kind = if self.is_json {
            "Content-Type: application/json\r\n"
        } else {
            ""
        };
        let close = match end {
            End::Kept => "",
            End::Closed | End::Reset => "Connection: close\r\n",
        };
        format!("HTTP/1.1 {status} As requested\r\n{length}{location}{kind}{close}\r\n")
            .into_bytes()
    }

    fn in_chunks(&self, each: usize) -> Vec<u8> {
        let mut bytes = format!(
            "HTTP/1.1 {} As requested\r\nTransfer-Encoding: chunked\r\n\r\n",
            self.status
        )
        .into_bytes();
        for chunk in self.body.chunks(each.max(1)) {
            // Writing to memory never fails.
            let _ = write!(bytes, "{:x}\r\n", chunk.len());
            bytes.extend_from_slice(chunk);
            bytes.extend_from_slice(b"\r\n");
        }
        bytes.extend_from_slice(b"0\r\n\r\n");
        bytes
    }
}

/// Statuses whose answers end with the head, by RFC 9112.
fn has_no_body(status: u16) -> bool {
    matches!(status, 100..200 | 204 | 304)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(of_load: Option<u64>) -> Moment {
        Moment {
            of_load,
            of_connection: 1,
            is_kept: true,
            uptime: Duration::ZERO,
            difference: None,
        }
    }

    fn hits(percent: u64, requests: u64) -> u64 {
        let hits = (1..=requests).filter(|request| is_hit(&moment(Some(*request)), percent));
        hits.count() as u64
    }

    #[test]
    fn faults_are_evenly_spread_and_exactly_as_many_as_requested() {
        for (percent, requests, expected) in [
            (20, 5, 1),
            (20, 1000, 200),
            (30, 10, 3),
            (100, 7, 7),
            (0, 1000, 0),
        ] {
            assert_eq!(hits(percent, requests), expected, "{percent} of {requests}");
        }
    }

    #[test]
    fn a_probes_own_request_meets_no_fault() {
        let behaviour = Behaviour::parse("/cut").unwrap();
        let good = script(&Behaviour::parse("/").unwrap(), &moment(None));
        assert_eq!(script(&behaviour, &moment(None)), good);
        assert_ne!(script(&behaviour, &moment(Some(1))), good);
    }

    #[test]
    fn only_good_answers_take_as_long_as_requested() {
        let behaviour = Behaviour::parse("/shed?percent=50&pause_milliseconds=7").unwrap();
        let pause = Step::Pause(Duration::from_millis(7));
        let steps = |request| script(&behaviour, &moment(Some(request))).steps;
        assert!(steps(1).contains(&pause) && !steps(2).contains(&pause));
    }

    #[test]
    fn a_starting_service_answers_differently_until_it_has_started() {
        let behaviour = Behaviour::parse("/starting?seconds=20&until=404").unwrap();
        let mut now = moment(None);
        assert_eq!(Answer::new(&behaviour, &now).status, 404);
        now.uptime = Duration::from_secs(20);
        assert_eq!(Answer::new(&behaviour, &now).status, 200);
    }
}
