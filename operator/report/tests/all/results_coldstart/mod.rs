//! Cold starts from records to every place where people see them.

mod blind;
mod comparisons;
mod late;
mod limits;
mod precision;
mod report;
mod shown;
mod support;
mod validity;
