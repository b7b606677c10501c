//! What a summary says of a run: numbers, ratios, doubts and the verdict, for the good case and
//! for everything that goes wrong.

#![allow(clippy::unwrap_used, reason = "a broken fixture must stop the test")]

mod all_requests;
mod answers;
mod comparisons;
mod headline;
mod instruments;
mod missing;
mod noise;
mod of_sweeps;
mod own_cpus;
mod support;
