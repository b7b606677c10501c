//! When the records of complete blocks may be read while a run goes on.

use wasmbench_core::observed::Observed;
use wasmbench_core::plan::complete_blocks;
use wasmbench_core::validate::ValidatedRun;
use wasmbench_model::store::Ended;

use crate::common;

/// A run of which everything up to `block` has a measured record.
fn recorded(run: &ValidatedRun, block: u32) -> Observed {
    let trials = run.order.iter().filter(|trial| trial.block <= block);
    Observed {
        records: trials
            .map(|trial| (trial.clone(), Ended::Measured))
            .collect(),
        ..Observed::default()
    }
}

#[test]
fn records_are_read_after_a_block_and_before_the_next_one_only() {
    let run = common::validated_precise(1, 12);
    for (block, complete) in [(0, None), (1, Some(1)), (3, Some(3)), (12, None)] {
        let observed = recorded(&run, block);
        assert_eq!(complete_blocks(&run, &observed), complete, "after {block}");
    }
    let mut observed = recorded(&run, 3);
    let next = run.order.iter().find(|trial| trial.block == 4).unwrap();
    observed.records.insert(next.clone(), Ended::Measured);
    assert_eq!(complete_blocks(&run, &observed), None, "block 4 has begun");
    let mut observed = recorded(&run, 3);
    observed.report = true;
    assert_eq!(complete_blocks(&run, &observed), None, "the run has ended");
}

#[test]
fn trials_that_are_skipped_in_advance_begin_no_block() {
    let run = common::validated_precise(1, 12);
    let mut observed = recorded(&run, 3);
    let later = run.order.iter().filter(|trial| trial.block > 3);
    let skipped = later.filter(|trial| trial.cell.variant == run.spec.variants[1].name);
    for trial in skipped {
        let ended = Ended::Skipped("NotConverging".into());
        observed.records.insert(trial.clone(), ended);
    }
    assert!(observed.records.keys().any(|trial| trial.block > 3));
    assert_eq!(complete_blocks(&run, &observed), Some(3));
}
