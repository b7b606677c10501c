//! Payload trials to cells: medians over blocks.

use std::collections::BTreeMap;

use wasmbench_api::BenchmarkRunSpec;
use wasmbench_model::rounding::{round_number, round_time};
use wasmbench_model::wire::record::Point;

use crate::cells::payload::{BlockSize, PayloadBlock, PayloadCell, PayloadDetail, SizeSummary};
use crate::cells::recorded::Recorded;
use crate::cells::variant_validity::VariantValidity;
use crate::read::observation::Observation;
use crate::read::payload_trial::{MEGABYTE, PayloadTrial, SizeNumbers};
use crate::statistics::{Line, Spread, median};
use crate::vocabulary::cell::CellSummary;
use crate::vocabulary::doubt::Reason;

/// The trials by block.
type Blocks<'a> = BTreeMap<u32, &'a PayloadTrial>;

/// The cell of payload; `None` for a point of another sweep. A trial in which a request failed is not
/// valid.
pub fn cell(
    spec: &BenchmarkRunSpec,
    recorded: &Recorded<'_>,
    validity: VariantValidity<'_>,
) -> Option<PayloadCell> {
    if recorded.cell.point != Point::Payload {
        return None;
    }
    let sweep = spec.sweeps.payload.as_ref()?;
    let cell = recorded.cell.clone();
    let wrong = validity.of_every_trial(&cell.variant, &cell.workload);
    let all: Blocks<'_> = recorded.measured(Observation::payload);
    let (counts, shown) = recorded.shown(&all, |trial| wrong.is_none() && !trial.has_errors());
    let detail = PayloadDetail {
        path: sweep.path.clone(),
        connections: sweep.connections,
        errors: failed(&all),
        ..summarise(&shown)
    };
    let sets_limit = spec.sets_cpu_limit(&cell.variant);
    let own = [
        (Reason::ErrorsInLoad, detail.errors > 0),
        (Reason::Throttled, detail.is_throttled() && !sets_limit),
    ];
    let invalid = validity.invalid_because(&cell, counts, own);
    Some(CellSummary::new(cell, counts, detail, invalid))
}

fn failed(blocks: &Blocks<'_>) -> u64 {
    let sizes = blocks.values().flat_map(|trial| &trial.sizes);
    sizes.map(|size| size.failed).sum()
}

fn summarise(blocks: &Blocks<'_>) -> PayloadDetail {
    let lines = || blocks.values().filter_map(|trial| trial.line());
    let sizes = || blocks.values().flat_map(|trial| &trial.sizes);
    let noisy = blocks
        .values()
        .filter(|trial| trial.noise().is_over_limit());
    PayloadDetail {
        fixed_cpu_microseconds: spread(lines().map(|line| line.start), round_time),
        cpu_microseconds_per_megabyte: spread(lines().map(|line| line.slope), round_time),
        off_line_share: median(blocks.values().filter_map(|trial| trial.off_line()))
            .map(round_number),
        throttled_periods: sizes().map(|size| size.throttled_periods).sum(),
        throttled_share: sizes()
            .filter_map(|size| size.throttled_share)
            .reduce(f64::max)
            .map(round_number),
        noisy_blocks: u32::try_from(noisy.count()).unwrap_or(u32::MAX),
        sizes: of_sizes(blocks),
        blocks: blocks
            .iter()
            .map(|(block, trial)| block_of(*block, trial))
            .collect(),
        ..PayloadDetail::default()
    }
}

fn spread(numbers: impl Iterator<Item = f64>, round: fn(f64) -> f64) -> Option<Spread> {
    Spread::from_values(numbers).map(|spread| spread.map(round))
}

fn of_sizes(blocks: &Blocks<'_>) -> Vec<SizeSummary> {
    let mut by_bytes: BTreeMap<u32, Vec<&SizeNumbers>> = BTreeMap::new();
    for size in blocks.values().flat_map(|trial| &trial.sizes) {
        by_bytes.entry(size.bytes).or_default().push(size);
    }
    by_bytes
        .into_iter()
        .map(|(bytes, of_size)| of_blocks(bytes, &of_size))
        .collect()
}

/// One size, from its numbers of all blocks.
fn of_blocks(bytes: u32, blocks: &[&SizeNumbers]) -> SizeSummary {
    let numbers = |number: fn(&SizeNumbers) -> Option<f64>, round: fn(f64) -> f64| {
        spread(blocks.iter().filter_map(|size| number(size)), round)
    };
    SizeSummary {
        bytes,
        trials: u32::try_from(blocks.len()).unwrap_or(u32::MAX),
        rps: numbers(|size| size.rps, round_number),
        received_megabytes_per_second: numbers(
            |size| Some(size.rps? * f64::from(size.bytes) / MEGABYTE),
            round_number,
        ),
        sent_megabytes_per_second: numbers(
            |size| Some(size.rps? * size.answer_bytes as f64 / MEGABYTE),
            round_number,
        ),
        cpu_microseconds_per_request: numbers(|size| size.cpu, round_time),
    }
}

fn block_of(block: u32, trial: &PayloadTrial) -> PayloadBlock {
    let line = trial.line();
    let cost = |of: fn(Line) -> f64| line.map(|line| round_time(of(line)));
    let sizes = trial.sizes.iter().map(|size| BlockSize {
        bytes: size.bytes,
        rps: size.rps.map(round_number),
        cpu_microseconds_per_request: size.cpu.map(round_time),
    });
    PayloadBlock {
        block,
        fixed_cpu_microseconds: cost(|line| line.start),
        cpu_microseconds_per_megabyte: cost(|line| line.slope),
        sizes: sizes.collect(),
    }
}
