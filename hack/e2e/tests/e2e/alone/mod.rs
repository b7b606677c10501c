//! What stops or changes something that all tests share, and what needs more nodes than one.

mod api_server;
mod large_runs;
mod operator_killed;
mod parallel;
mod precision;
mod undecodable;
