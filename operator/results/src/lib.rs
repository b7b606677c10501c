//! The results of a run: records in, a summary out. Pure: plain data in, plain data out.
//!
//! The folders are storeys. Each needs only those before it, which a test of the controller checks:
//!
//! 1. [`statistics`]: what numbers say, whatever they measure.
//! 2. [`vocabulary`]: what is measured, and the terms that distinguish results.
//! 3. [`read`]: one record to the numbers of its trial, and what all records say about the run.
//! 4. [`cells`]: the trials of a variant under a workload at a point to one cell.
//! 5. [`judge`]: cells to comparisons, each with a verdict.
//! 6. [`doubts`]: the rules about what speaks against the numbers.
//! 7. [`summary`]: all of it together, how far it can be trusted, and the result in one line.
//! 8. [`runs`]: runs compared with each other, and followed over time.
//!
//! Everything is computed only from the run and its records, in a fixed order and without a
//! clock, so that the operator and `kubectl wasmbench report` produce identical bytes.

pub mod cells;
pub mod doubts;
pub mod judge;
pub mod read;
pub mod runs;
pub mod statistics;
pub mod summary;
pub mod vocabulary;
