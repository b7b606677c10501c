//! The chart's admission policies, evaluated without a cluster: what the operator really creates
//! passes, and everything more is refused. The one expression that asks the API server for the
//! requester's rights (`authorizer`) needs a cluster; here only the question when it is asked.

mod cold_starts;
mod origin;
mod owned;
mod people;
mod pods;
mod probes;
mod support;
