//! What others see of wasmbench: what the chart leaves behind, what it gives to Prometheus, and what it is told.

mod dashboard;
mod installation;
mod prometheus;
mod regression;
