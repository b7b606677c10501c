//! Bodies of several sizes in one pod, one window for each. The subject sends every body back: the first
//! answer is compared byte by byte, and the sizes of all others by the load generator's counts.

use std::time::Instant;

use serde_json::Value;
use wasmbench_api::run::{Expectation, Method};
use wasmbench_model::wire::document::{Answer, LoadDocument, PayloadSize, TimedWindow};
use wasmbench_model::wire::failure::{Failure, FailureReason};
use wasmbench_model::wire::request::{Load, LoadRequest, Payload};
use wasmbench_model::wire::sent::{Sent, SentBody};

use super::window::Window;
use super::{Amounts, absent, bench, failure};
use crate::output::progress;
use crate::settings::Settings;
use crate::target::{Origin, Target};
use crate::{answer, body, http, request};

/// The status of a body that is sent back.
const ECHOED: u16 = 200;

/// Measures all sizes, in ascending order, and notes each as soon as it is measured. What is missing in
/// the window of one is missing in all of them.
pub fn measure(
    settings: &Settings,
    request: &LoadRequest,
    payload: &Payload,
    document: &mut LoadDocument,
) -> Result<(), Failure> {
    let deadline = Instant::now() + Amounts::from_load(request.load).budget;
    for bytes in &payload.bytes {
        let echo = Echo::new(settings, request, payload, *bytes)?;
        let size = echo.measure(settings, payload, deadline, document)?;
        progress(&format!("{bytes} bytes: {} requests", size.requests));
        document.sizes.push(size);
    }
    Ok(())
}

/// A subject that sends bodies of one size back.
struct Echo<'a> {
    request: &'a LoadRequest,
    target: Target,
    bytes: u32,
    /// What it answers with: its variant's prefix, and the body.
    expected: Vec<u8>,
}

impl<'a> Echo<'a> {
    fn new(
        settings: &Settings,
        request: &'a LoadRequest,
        payload: &Payload,
        bytes: u32,
    ) -> Result<Self, Failure> {
        let seed = payload.seed;
        let sent = Sent {
            path: payload.path.clone(),
            method: Method::Post,
            headers: vec![],
            body: Some(SentBody::Generated { bytes, seed }),
        };
        let body = body::bytes(&sent, &settings.bodies)?;
        let origin = Origin::new(request.address, request.port, request.scheme);
        let target = Target::from_sent(origin, &sent, body)
            .map_err(|error| request::bad(error.to_string()))?;
        let body = target.body.as_deref().unwrap_or_default();
        Ok(Self {
            expected: [request.body_prefix.as_bytes(), body].concat(),
            request,
            bytes,
            target,
        })
    }

    fn measure(
        &self,
        settings: &Settings,
        payload: &Payload,
        deadline: Instant,
        document: &mut LoadDocument,
    ) -> Result<PayloadSize, Failure> {
        let begin = Instant::now();
        let answer = self.first_answer()?;
        let amounts = Amounts::from_load(Load::Duration {
            seconds: payload.seconds,
            warmup_seconds: payload.warmup_seconds,
        });
        let mut bench = bench(settings, self.request, (&self.target, &[]), &answer);
        bench.load.status = ECHOED;
        bench.deadline = deadline;
        let warm = bench.warm_up(&amounts, begin.elapsed())?;
        let amount = amounts.timed.at(warm.warmup.rps);
        let window = bench.quieter_of_two(|| bench.window(amount, &warm, warm.buckets))?;
        self.check(&window)?;
        let missing = absent::reasons(&window.timed, document.cpus.as_ref(), &bench);
        document.absent.extend(missing);
        let (requests, failed) = window.counts();
        Ok(PayloadSize {
            bytes: self.bytes,
            answer_bytes: answer.body_bytes,
            requests,
            failed,
            window: TimedWindow {
                // Of the counts, those above are all that is used.
                fortio: Value::Null,
                further: vec![],
                ..window.timed
            },
        })
    }

    /// The first answer, which has to be the body that was sent.
    fn first_answer(&self) -> Result<Answer, Failure> {
        let response = http::ask(&self.target).map_err(|error| self.wrong(&error.to_string()))?;
        if response.status == ECHOED && response.body == self.expected {
            let prefix = &self.request.body_prefix;
            return Ok(answer::judge(&response, &Expectation::default(), prefix).answer);
        }
        let (status, bytes) = (response.status, response.body.len());
        Err(self.wrong(&format!(
            "status {status} with another body, of {bytes} bytes"
        )))
    }

    /// Checks that there was an answer, and that every answer had the size of the first.
    fn check(&self, window: &Window) -> Result<(), Failure> {
        if let Err(codes) = &window.answered {
            let message = format!(
                "no request with a body of {} bytes was answered with status {ECHOED}: {codes}",
                self.bytes
            );
            return Err(failure(FailureReason::NoSuccessfulRequest, message));
        }
        let expected = self.expected.len() as u64;
        let is_echo = |run: &Value| {
            let sizes = &run["Seen"]["Bytes"];
            let ends = [&sizes["Min"], &sizes["Max"]].map(Value::as_u64);
            sizes["Count"] == 0 || ends == [Some(expected); 2]
        };
        if window.timed.runs().all(is_echo) {
            return Ok(());
        }
        Err(self.wrong(&format!("some answers under load had not {expected} bytes")))
    }

    fn wrong(&self, came: &str) -> Failure {
        let message = format!(
            "POST {} with a body of {} bytes: the same body is expected, with status {ECHOED}, and what came is: {came}; \
             name a path that echoes in sweeps.payload.path, or leave the size out",
            self.target.path, self.bytes
        );
        failure(FailureReason::WrongAnswer, message)
    }
}
