//! What stops or changes something that all tests share, and what needs more nodes than one.

mod operator_killed;
mod parallel;
mod precision;
mod undecodable;
