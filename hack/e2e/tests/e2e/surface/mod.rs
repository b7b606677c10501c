//! What others see of wasmbench: here, what the chart gives to Prometheus.

mod prometheus;
