//! What others see of wasmbench: here, what the chart gives to Prometheus, and what it is told.

mod prometheus;
mod regression;
