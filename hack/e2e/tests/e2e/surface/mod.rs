//! What others see of wasmbench: what the chart leaves behind, what it gives to Prometheus, what it is told,
//! and what the dashboard shows to a browser.

mod dashboard;
mod installation;
mod prometheus;
mod regression;
