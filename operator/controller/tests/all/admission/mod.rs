//! The chart's admission policies, evaluated without a cluster: what the operator really creates is
//! admitted, and anything more is refused. The one expression that asks the API server for the
//! requester's rights (`authorizer`) needs a cluster; only the conditions for asking are tested
//! here.

mod cold_starts;
mod leader;
mod origin;
mod owned;
mod people;
mod pods;
mod probes;
mod scale;
mod support;
