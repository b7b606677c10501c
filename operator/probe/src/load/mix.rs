//! A mix: what the generator sends, and the right answers to its requests. The first request is that
//! of the trial; the further ones are asked for here, before and after the load.

use std::time::Duration;

use wasmbench_api::run::Expectation;
use wasmbench_model::wire::document::FurtherAnswer;
use wasmbench_model::wire::failure::Failure;
use wasmbench_model::wire::request::LoadRequest;
use wasmbench_model::wire::sent::MixPart;

use super::{unchanged, wrong_part};
use crate::body;
use crate::generator::task::Part;
use crate::ready::{Patience, Question, Readying};
use crate::request;
use crate::settings::Settings;
use crate::target::{Origin, Target};

/// The requests of a mix; none where there is one request.
pub struct Mix {
    /// What the generator sends.
    pub parts: Vec<Part>,
    expects: Vec<Expectation>,
}

impl Mix {
    /// Reads the mix of `request`.
    pub fn read(settings: &Settings, request: &LoadRequest) -> Result<Self, Failure> {
        let part = |part: &MixPart| -> Result<Part, Failure> {
            let body = body::bytes(&part.sent, &settings.bodies)?;
            let origin = Origin::new(request.address, request.port, request.scheme);
            let target = Target::from_sent(origin, &part.sent, body)
                .map_err(|error| request::bad(error.to_string()))?;
            Ok(Part {
                name: part.name.clone(),
                target,
                status: part.expect.status,
                weight: part.weight,
            })
        };
        Ok(Self {
            parts: request
                .mix
                .iter()
                .map(part)
                .collect::<Result<_, Failure>>()?,
            expects: request.mix.iter().map(|part| part.expect.clone()).collect(),
        })
    }

    /// The further requests, each with its name.
    fn questions<'a>(
        &'a self,
        ready: Option<&'a Readying>,
        variant_prefix: &'a str,
    ) -> impl Iterator<Item = (&'a str, Question<'a>)> {
        let parts = self.parts.iter().zip(&self.expects).skip(1);
        parts.map(move |(part, expect)| {
            let question = Question {
                ready,
                target: &part.target,
                expect,
                variant_prefix,
            };
            (part.name.as_str(), question)
        })
    }

    /// Waits for the right answers to the further requests, as far as they come.
    pub fn wait(
        &self,
        ready: Option<&Readying>,
        variant_prefix: &str,
        patience: Patience,
        answers: &mut Vec<FurtherAnswer>,
    ) -> Result<(), Failure> {
        for (name, question) in self.questions(ready, variant_prefix) {
            let waited = question.wait(patience);
            let right = waited.outcome.as_ref().ok().cloned();
            answers.push(FurtherAnswer {
                request: name.to_owned(),
                before: right.or(waited.wrong_answer),
                after: None,
            });
            waited
                .outcome
                .map_err(|failure| wrong_part(name, failure))?;
        }
        Ok(())
    }

    /// Asks the further requests once more after the load; up to `failures` failed answers to each do
    /// not count.
    pub fn ask_again(
        &self,
        variant_prefix: &str,
        patience: Duration,
        failures: u32,
        answers: &mut [FurtherAnswer],
    ) -> Result<(), Failure> {
        let questions = self.questions(None, variant_prefix);
        for ((name, question), answer) in questions.zip(answers) {
            let after = question.ask_again(patience, failures);
            answer.after = after.as_ref().ok().map(|judged| judged.answer.clone());
            if let Some(before) = &answer.before {
                unchanged(question.expect, before, after)
                    .map_err(|failure| wrong_part(name, failure))?;
            }
        }
        Ok(())
    }
}
