//! What a summary reports about a run: numbers, ratios, doubts and the verdict, for the good case and
//! for everything that can go wrong.

mod additional;
mod answers;
mod comparisons;
mod cpu_limit;
mod cpus_used;
mod headline;
mod instruments;
mod logs;
mod missing;
mod mixes;
mod noise;
mod of_sweeps;
mod order;
mod own_cpus;
mod support;
mod tail;
mod traffic;
