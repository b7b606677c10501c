//! What a path and its query request. Pure: text in, a behaviour or a message about what is wrong
//! with it out.

use std::str::FromStr;
use std::time::Duration;

/// How a request is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Behaviour {
    /// `status=`: the status of a good answer.
    pub status: u16,
    /// `bytes=`: the length of its body; `None` for `hello`.
    pub body_bytes: Option<usize>,
    /// `pause_milliseconds=`: how long a good answer takes; what takes long by itself states how
    /// long without this.
    pub pause: Option<Duration>,
    /// The path.
    pub kind: Kind,
}

/// What is special about the answers. All but the last two hold for every client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `/`: nothing.
    Plain,
    /// `/chunks?each=1`: a body in chunks of so many bytes.
    Chunks { each: usize },
    /// `/continue`: an interim answer first.
    Continue,
    /// `/early`: the answer comes before the request's body was read.
    Early,
    /// `/http10`: HTTP/1.0 without a length; the body comes 200 ms after the head, and the end of
    /// the connection ends it.
    Http10,
    /// `/limit?requests=1&said=true`: a connection ends after so many requests, with or without an
    /// announcement.
    Limit { requests: u64, is_announced: bool },
    /// `/strict`: 422, with what differs, unless the request is [the only right one](crate::strict);
    /// JSON, whose keys change places from one request of a connection to the next, if it is.
    Strict,
    /// `/log`: a line on standard output for each request.
    Log,
    /// `/starting?seconds=20&until=503`: another status for so long after the start.
    Starting { time: Duration, until: u16 },
    /// `/trickle`: each byte of the body comes alone, after 10 ms.
    Trickle,
    /// `/work?iterations=100000&threads=0`: CPU time, on so many threads at once; 0 for all.
    Work { iterations: u64, threads: u32 },
    /// `/busy?cpu_microseconds=10000`: exactly so much CPU time, for one request at a time. With one CPU,
    /// the capacity is one request in that time; under a limit of half a CPU, half of that.
    Busy { time: Duration },
    /// `/grow?to=300000&after=100`: bodies of another length after so many requests of a load.
    Grow { to: usize, after: u64 },
    /// `/cut?percent=100` and others: a fault in so many of a load's answers.
    Fault { fault: Fault, percent: u64 },
}

/// A fault that only a load sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// `/cut`: the connection ends in the middle of the body.
    Cut,
    /// `/long`: the announced length is never reached, and the connection stays open.
    Long,
    /// `/reset`: the connection is reset in the middle of the body.
    Reset,
    /// `/shed`: 503 at once.
    Shed,
    /// `/silent`: the connection ends without a byte of answer.
    Silent,
    /// `/twice?gap_microseconds=200`: two answers for one request; in one write without a gap.
    Twice { gap: Option<Duration> },
}

impl Behaviour {
    /// The behaviour that `target`, a path with an optional query, requests.
    pub fn parse(target: &str) -> Result<Self, String> {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let mut query = Query::parse(query);
        let behaviour = Self {
            status: query.take("status", 200)?,
            body_bytes: query.take_if_there("bytes")?,
            pause: query
                .take_if_there("pause_milliseconds")?
                .map(Duration::from_millis),
            kind: kind(path, &mut query)?,
        };
        query.finish()?;
        Ok(behaviour)
    }
}

fn kind(path: &str, query: &mut Query<'_>) -> Result<Kind, String> {
    Ok(match path {
        "/" => Kind::Plain,
        "/chunks" => Kind::Chunks {
            each: query.take("each", 1)?,
        },
        "/continue" => Kind::Continue,
        "/early" => Kind::Early,
        "/http10" => Kind::Http10,
        "/limit" => Kind::Limit {
            requests: query.take("requests", 1)?,
            is_announced: query.take("said", true)?,
        },
        "/strict" => Kind::Strict,
        "/log" => Kind::Log,
        "/starting" => Kind::Starting {
            time: Duration::from_secs(query.take("seconds", 20)?),
            until: query.take("until", 503)?,
        },
        "/trickle" => Kind::Trickle,
        "/work" => Kind::Work {
            iterations: query.take("iterations", 100_000)?,
            threads: query.take("threads", 0)?,
        },
        "/busy" => Kind::Busy {
            time: Duration::from_micros(query.take("cpu_microseconds", 10_000)?),
        },
        "/grow" => Kind::Grow {
            to: query.take("to", 300_000)?,
            after: query.take("after", 100)?,
        },
        _ => Kind::Fault {
            fault: fault(path, query)?,
            percent: query.take("percent", 100)?,
        },
    })
}

fn fault(path: &str, query: &mut Query<'_>) -> Result<Fault, String> {
    Ok(match path {
        "/cut" => Fault::Cut,
        "/long" => Fault::Long,
        "/reset" => Fault::Reset,
        "/shed" => Fault::Shed,
        "/silent" => Fault::Silent,
        "/twice" => Fault::Twice {
            gap: query
                .take_if_there("gap_microseconds")?
                .map(Duration::from_micros),
        },
        _ => return Err(format!("there is no path {path}")),
    })
}

/// The parameters that nobody has taken yet.
struct Query<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Query<'a> {
    fn parse(text: &'a str) -> Self {
        let parts = text.split('&').filter(|part| !part.is_empty());
        Self(
            parts
                .map(|part| part.split_once('=').unwrap_or((part, "")))
                .collect(),
        )
    }

    fn take<T: FromStr>(&mut self, name: &str, default: T) -> Result<T, String> {
        Ok(self.take_if_there(name)?.unwrap_or(default))
    }

    fn take_if_there<T: FromStr>(&mut self, name: &str) -> Result<Option<T>, String> {
        let Some(at) = self.0.iter().position(|(other, _)| *other == name) else {
            return Ok(None);
        };
        let (_, value) = self.0.swap_remove(at);
        let value = value.parse();
        value
            .map(Some)
            .map_err(|_| format!("{name} has a value that cannot be read"))
    }

    /// An unknown parameter would make a test pass for no reason.
    fn finish(self) -> Result<(), String> {
        match self.0.first() {
            None => Ok(()),
            Some((name, _)) => Err(format!("there is no parameter {name} here")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_without_a_query_has_its_defaults() {
        let found = Behaviour::parse("/limit").unwrap();
        let expected = Kind::Limit {
            requests: 1,
            is_announced: true,
        };
        assert_eq!(
            (found.status, found.body_bytes, found.kind),
            (200, None, expected)
        );
    }

    #[test]
    fn cpu_time_is_stated_in_microseconds() {
        let found = Behaviour::parse("/busy?cpu_microseconds=250").unwrap();
        let time = Duration::from_micros(250);
        assert_eq!(found.kind, Kind::Busy { time });
    }

    #[test]
    fn status_length_and_pause_apply_to_every_path() {
        let target = "/cut?status=404&percent=20&bytes=30&pause_milliseconds=5";
        let found = Behaviour::parse(target).unwrap();
        assert_eq!(found.pause, Some(Duration::from_millis(5)));
        let expected = Kind::Fault {
            fault: Fault::Cut,
            percent: 20,
        };
        assert_eq!(
            (found.status, found.body_bytes, found.kind),
            (404, Some(30), expected)
        );
    }

    #[test]
    fn unknown_paths_parameters_and_values_are_refused() {
        for (target, message) in [
            ("/cutt", "there is no path /cutt"),
            ("/cut?precent=20", "there is no parameter precent here"),
            ("/?status=many", "status has a value that cannot be read"),
        ] {
            assert_eq!(Behaviour::parse(target), Err(message.to_owned()));
        }
    }
}
