//! A single-threaded HTTP server over a readiness loop, and the workloads of the benchmark.
