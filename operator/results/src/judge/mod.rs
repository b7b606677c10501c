//! Cells to comparisons. Which numbers are compared and in pairs of which trials ([`ratios`]), what
//! an interval allows us to say ([`verdict`]), all comparisons of a run ([`compare`]), whether they
//! are precise enough ([`precision`]), and what the run's author expects of them ([`expectations`]).

pub mod compare;
pub mod comparison;
pub mod expectations;
pub mod precision;
pub mod ratios;
pub mod verdict;
