//! Tests that stop or change something that all tests share, or that need more than one node.

mod api_server;
mod forged_history;
mod large_runs;
mod leader;
mod listed_namespaces;
mod operator_killed;
mod precision;
mod second_installation;
mod several_nodes;
mod undecodable;
