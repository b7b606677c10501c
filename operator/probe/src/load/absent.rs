//! Why numbers are missing: an absent number must not leave the reader to guess. Pure.

use std::collections::BTreeMap;

use wasmbench_model::wire::document::TimedWindow;
use wasmbench_model::wire::instrument::CpuLists;

use super::timed::Bench;

/// The numbers that `window` and `cpus` lack, each with the reason, by the name of its field.
pub fn reasons(
    window: &TimedWindow,
    cpus: Option<&CpuLists>,
    bench: &Bench<'_>,
) -> BTreeMap<String, String> {
    let no_meter = bench.meter.as_ref().err().map(String::as_str);
    let edges = "could not be read at both edges of every part of the window";
    let generator = "the generator's CPU clock could not be read";
    let subject = no_meter.unwrap_or(edges);
    let no_upstream = bench
        .upstream
        .as_ref()
        .map(|found| found.as_ref().err().map_or(edges, |why| why));
    let no_companions = bench
        .companions
        .as_ref()
        .map(|found| found.as_ref().err().map_or(edges, |why| why));
    let all = [
        ("subject", window.subject.is_none(), subject),
        (
            "node",
            window.node.is_none(),
            "/proc/stat could not be read",
        ),
        (
            "generatorCpuNanoseconds",
            window.generator_cpu_nanoseconds.is_none(),
            generator,
        ),
        (
            "instances",
            bench.instances.is_some() && window.instances.is_none(),
            "the subject did not add up what its instances cost",
        ),
        (
            "upstreamCpuNanoseconds",
            no_upstream.is_some() && window.upstream_cpu_nanoseconds.is_none(),
            no_upstream.unwrap_or_default(),
        ),
        (
            "companionsCpuNanoseconds",
            no_companions.is_some() && window.companions_cpu_nanoseconds.is_none(),
            no_companions.unwrap_or_default(),
        ),
        (
            "cpus",
            cpus.is_none(),
            "the processes of the subject could not be found in /proc",
        ),
    ];
    let missing = all.into_iter().filter(|(_, is_missing, _)| *is_missing);
    missing
        .map(|(name, _, why)| (name.to_owned(), why.to_owned()))
        .collect()
}
