//! Cells to comparisons. Which numbers are compared and in pairs of which trials ([`ratios`]; `known`: where blocks show only a bound), what
//! an interval allows us to say ([`verdict`]), all comparisons of a run ([`compare`]), whether they
//! are precise enough ([`precision`]), how far the order of trials shifts them ([`order_effects`]), what the run's author expects of them ([`expectations`]),
//! and which of them leads ([`lead`]).

pub mod compare;
pub mod comparison;
pub mod expectations;
mod known;
pub mod lead;
pub mod order_effects;
pub mod precision;
pub mod ratios;
pub mod verdict;
