//! Looks at one workload: waits for a correct answer, then requests it twice over one connection,
//! as far as the subject keeps it.

use wasmbench_model::wire::document::Readiness;
use wasmbench_model::wire::failure::{Failure, FailureReason};
use wasmbench_model::wire::scout::{ANSWERS, AfterAnswer, ScoutWorkload, Scouted, ScoutedAnswer};

use crate::answer::Judged;
use crate::http::{Answered, Error, KeptConnection, Malformed};
use crate::ready::{Patience, Question};

/// What was observed of a workload.
pub struct Looked {
    /// How long it took to get a correct answer, or to give up.
    pub readiness: Readiness,
    /// Whether one came.
    pub was_right: bool,
    /// What is reported.
    pub scouted: Scouted,
}

/// Looks at `workload`.
pub fn look(question: &Question<'_>, workload: &ScoutWorkload, patience: Patience) -> Looked {
    // An earlier workload may have used up the time for starting. A single attempt decides nothing.
    let had_time = !patience.is_over();
    // A service that starts may answer wrongly at first, as before a load.
    let waited = question.wait(patience);
    let was_right = waited.outcome.is_ok();
    let mut observed = Observed::default();
    let outcome = observed.ask(question);
    let failure = match (waited.outcome, outcome) {
        (Err(failure), _) => Some(failure).filter(|_| had_time && !observed.has_right_answer()),
        (Ok(_), Err(error)) => Some(no_answer(&error)),
        (Ok(_), Ok(())) => observed.fault(workload),
    };
    Looked {
        readiness: waited.readiness,
        was_right,
        scouted: Scouted {
            workload: workload.name.clone(),
            answers: observed.answers,
            failure,
            not_asked: None,
            peak: None,
            no_peak: None,
        },
    }
}

#[derive(Default)]
struct Observed {
    answers: Vec<ScoutedAnswer>,
    /// What is wrong with each.
    wrong: Vec<Option<String>>,
}

impl Observed {
    /// Sends as many requests as a scout does.
    fn ask(&mut self, question: &Question<'_>) -> Result<(), Error> {
        let mut kept: Option<KeptConnection<'_>> = None;
        while self.answers.len() < ANSWERS {
            let mut connection = match kept.take() {
                Some(connection) => connection,
                None => KeptConnection::open(question.target)?,
            };
            match connection.ask()? {
                Some(answered) => {
                    let stays = answered.connection == AfterAnswer::Kept;
                    kept = stays.then_some(connection);
                    self.add(question, &answered);
                }
                // It ended between two requests, which shows only now.
                None => self.closed(),
            }
        }
        Ok(())
    }

    fn has_right_answer(&self) -> bool {
        self.wrong.iter().any(Option::is_none)
    }

    fn closed(&mut self) {
        if let Some(before) = self.answers.last_mut() {
            before.connection = AfterAnswer::Closed;
        }
    }

    fn add(&mut self, question: &Question<'_>, answered: &Answered) {
        let Judged { answer, wrong } = question.judge(&answered.response);
        self.answers.push(ScoutedAnswer {
            answer,
            framing: answered.framing,
            connection: answered.connection,
        });
        self.wrong.push(wrong);
    }

    /// What is wrong with the answers, though a correct one was seen before. One of several is left
    /// to the load, which counts how many there are. Where requests may fail, an answer with another
    /// status proves nothing.
    fn fault(&self, workload: &ScoutWorkload) -> Option<Failure> {
        let expect = &workload.expect;
        let says_something = |(answer, _): &(&ScoutedAnswer, &Option<String>)| {
            !workload.may_fail || answer.answer.status == expect.status
        };
        let both = self.answers.iter().zip(&self.wrong);
        let (answers, wrong): (Vec<_>, Vec<_>) = both.filter(says_something).unzip();
        if let Some(Some(why)) = wrong.first()
            && wrong.iter().all(|wrong| wrong.is_some())
        {
            let message =
                format!("a first answer was right, but not those on a kept connection: {why}");
            return Some(failure(FailureReason::WrongAnswer, message));
        }
        let right = wrong.iter().all(|wrong| wrong.is_none());
        let [first, second] = answers[..] else {
            return None;
        };
        let (first, second) = (&first.answer, &second.answer);
        let changed = right && !first.is_same(second);
        (expect.same_across_variants && changed).then(|| {
            let message = format!(
                "the answer changes by itself: '{}', then '{}', and expect.sameAcrossVariants asks \
                 for one answer",
                first.excerpt, second.excerpt
            );
            failure(FailureReason::AnswerChanged, message)
        })
    }
}

/// A service that does not answer once may answer the next time: this decides nothing.
fn no_answer(error: &Error) -> Failure {
    let reason = match error {
        Error::Slow(_) => FailureReason::AnswerTooSlow,
        Error::Malformed(Malformed::TooLarge) => FailureReason::AnswerTooLarge,
        Error::Tls(_) | Error::Malformed(Malformed::Tls) => FailureReason::TlsMismatch,
        Error::Connect(_) | Error::Broken(_) | Error::Malformed(_) => FailureReason::NeverListened,
    };
    failure(
        reason,
        format!("a first answer was right, but then: {error}"),
    )
}

fn failure(reason: FailureReason, message: String) -> Failure {
    Failure { reason, message }
}
