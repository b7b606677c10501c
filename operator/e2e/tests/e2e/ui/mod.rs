//! Wasmbench as others see it: what the chart leaves behind, what it exports to Prometheus and
//! gets from it, and what the dashboard shows in a browser.

mod dashboard;
mod installation;
mod prometheus;
mod regression;
