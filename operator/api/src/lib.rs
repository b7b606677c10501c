//! The BenchmarkRun API: types, conditions, labels. No client, no async.
