//! The section on what scouts saw before the first block, as far as it stands out.

use wasmbench_model::units;
use wasmbench_model::wire::scout::{AfterAnswer, BodyFraming};
use wasmbench_results::read::scout::{Arrived, LookedAt, ScoutSummary};
use wasmbench_results::summary::Summary;

use crate::section::Section;
use crate::sheet::Sheet;
use crate::table::Table;

/// Longest remark, in characters; the records have all of it.
const MAX_REMARK_CHARS: usize = 256;

/// The section; `None` where every answer ended before its connection, and the node was quiet.
pub fn section(summary: &Summary) -> Option<Section> {
    let mut section = Section::new("Before the first block");
    if let Some(answers) = answers(summary) {
        section = section.paragraph("Answers that stand out.").table(answers);
    }
    section.list(noise(summary)).if_any()
}

/// The answers that did not come as most do, one row per variant and workload.
fn answers(summary: &Summary) -> Option<Table> {
    let all = summary.scouts.iter().flat_map(|scout| {
        scout
            .workloads
            .iter()
            .map(move |observed| (scout, observed))
    });
    let unusual: Vec<(&ScoutSummary, &LookedAt)> =
        all.filter(|(_, observed)| !observed.is_usual()).collect();
    if unusual.is_empty() {
        return None;
    }
    let sheet = Sheet::new(unusual)
        .left("Variant", |(scout, _)| scout.variant.clone())
        .left("Workload", |(_, observed)| observed.workload.clone())
        .right("Status", |(_, observed)| {
            each(observed, |one| one.status.to_string())
        })
        .right("Body", |(_, observed)| {
            each(observed, |one| units::bytes(one.body_bytes as f64))
        })
        .left("Its end", |(_, observed)| {
            each(observed, |one| end(one.framing).to_owned())
        })
        .left("Connection", |(_, observed)| {
            each(observed, |one| connection(one.connection).to_owned())
        })
        .left("Remark", |(_, observed)| {
            observed
                .message
                .as_ref()
                .map(|text| units::truncate(text, MAX_REMARK_CHARS))
        });
    Some(sheet.table())
}

/// What the answers have of something, each different value once.
fn each(observed: &LookedAt, value: impl Fn(&Arrived) -> String) -> Option<String> {
    let mut values: Vec<String> = observed.answers.iter().map(value).collect();
    values.dedup();
    (!values.is_empty()).then(|| values.join(", then "))
}

const fn end(framing: BodyFraming) -> &'static str {
    match framing {
        BodyFraming::Length => "length",
        BodyFraming::Chunked => "last chunk",
        BodyFraming::UntilClose => "end of the connection",
        BodyFraming::NoBody => "no body",
    }
}

const fn connection(after: AfterAnswer) -> &'static str {
    match after {
        AfterAnswer::Kept => "kept",
        AfterAnswer::CloseAnnounced => "closed, as announced",
        AfterAnswer::Closed => "closed, unannounced",
        AfterAnswer::MoreBytes => "more bytes than the answer",
    }
}

fn noise(summary: &Summary) -> impl Iterator<Item = String> {
    summary.scouts.iter().filter_map(|scout| {
        let noise = scout.noise.as_ref()?;
        Some(format!(
            "While nothing of the run worked, before {}: {noise}",
            scout.variant
        ))
    })
}
