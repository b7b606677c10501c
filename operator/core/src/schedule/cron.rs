//! The times of a cron expression.

use cronexpr::{Crontab, parse_crontab};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use wasmbench_api::BenchmarkScheduleSpec;

use crate::validate::Invalid;

/// The times at which runs are due.
#[derive(Clone, Debug)]
pub struct Cron {
    times: Crontab,
    zone: TimeZone,
}

/// How far back to look for the latest time at first.
const FIRST_LOOK: SignedDuration = SignedDuration::from_hours(1);

/// Expressions that have a name, as in a `CronJob`.
const NAMED: [(&str, &str); 7] = [
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
    ("@monthly", "0 0 1 * *"),
    ("@weekly", "0 0 * * 0"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@hourly", "0 * * * *"),
];

impl Cron {
    /// The times that a spec names.
    pub fn from_spec(spec: &BenchmarkScheduleSpec) -> Result<Self, Invalid> {
        let (name, zone) = zone_of(spec)?;
        let expression = &spec.schedule;
        let text = fields_of(expression).map(|fields| format!("{fields} {name}"));
        let Some(Ok(times)) = text.map(|text| parse_crontab(&text)) else {
            return Err(invalid(
                "spec.schedule",
                format!(
                    "'{expression}' is not a cron expression: write five fields, such as '0 3 * * *' \
                     for each night at three"
                ),
            ));
        };
        let cron = Self { times, zone };
        if cron.after(Timestamp::UNIX_EPOCH).is_none() {
            return Err(invalid(
                "spec.schedule",
                format!("'{expression}' never occurs: choose a day that one of its months has"),
            ));
        }
        Ok(cron)
    }

    /// The first time after `time`; `None` if there is none.
    pub fn after(&self, time: Timestamp) -> Option<Timestamp> {
        self.times
            .find_next(time)
            .ok()
            .map(|zoned| zoned.timestamp())
    }

    /// A time for people to read, in the schedule's time zone.
    pub fn format(&self, time: Timestamp) -> String {
        let zoned = time.to_zoned(self.zone.clone());
        zoned.strftime("%Y-%m-%d %H:%M %Z").to_string()
    }

    /// The last time after `since` and not after `now`. However long ago that is, only a few times
    /// are looked at.
    pub fn latest(&self, since: Timestamp, now: Timestamp) -> Option<Timestamp> {
        let mut look = FIRST_LOOK;
        let first = loop {
            let from = now.checked_sub(look).map_or(since, |from| from.max(since));
            let first = self.after(from).filter(|time| *time <= now);
            if first.is_some() || from == since {
                break first?;
            }
            look = look.saturating_mul(2);
        };
        let times = std::iter::successors(Some(first), |time| self.after(*time));
        times.take_while(|time| *time <= now).last()
    }
}

/// The time zone of the fields, with its name.
fn zone_of(spec: &BenchmarkScheduleSpec) -> Result<(&str, TimeZone), Invalid> {
    let name = spec.time_zone.as_deref().unwrap_or("UTC");
    // `local` names the machine's own zone, which must not decide when a schedule runs.
    let zone = TimeZone::get(name)
        .ok()
        .filter(|_| !name.eq_ignore_ascii_case("local"));
    zone.map(|zone| (name, zone)).ok_or_else(|| {
        let message = format!(
            "'{name}' is not a time zone: write a name of the IANA database, such as Europe/Berlin"
        );
        invalid("spec.timeZone", message)
    })
}

/// The five fields of an expression, after replacing what a `CronJob` accepts and the parser does
/// not: named expressions, lower-case letters and `?`.
fn fields_of(expression: &str) -> Option<String> {
    let named = NAMED.iter().find(|(name, _)| *name == expression.trim());
    let text = named
        .map_or(expression, |(_, fields)| *fields)
        .to_ascii_uppercase();
    let fields: Vec<&str> = text.split_whitespace().map(any).collect();
    (fields.len() == 5).then(|| fields.join(" "))
}

fn any(field: &str) -> &str {
    if field == "?" { "*" } else { field }
}

fn invalid(field: &str, message: String) -> Invalid {
    Invalid {
        field: field.to_owned(),
        message,
    }
}
