//! `docs/studies.md`: all studies with their tables and the reasons for differences.

use std::fmt::Write as _;

use wasmbench_report::table::{escape, lines};

use crate::beside::{DIFFERS, Row, rows};
use crate::measured::Measured;
use crate::published::{Published, Study};
use crate::terminal::{here, table};

const HEAD: &str = "\
# The studies, published and repeated

<!-- Generated from manifests/studies/published.yaml and hack/studies/measured by `make generate`. -->

Four documents compare containers and Wasm runtimes. [manifests/studies](../manifests/studies) repeats them: the same variants, workloads,
connection counts and durations, on real runtimes, as pods, with a comment for each deviation.

```sh
kubectl apply -f manifests/studies/gateway-report-short.yaml   # minutes, for a first look
kubectl apply -f manifests/studies/gateway-report.yaml         # hours, for numbers
make demo-studies                                              # all short ones on the local cluster, and these tables
hack/studies/run --write STUDY...                              # the same, and this page
```

## How to read the tables

A row is a variant as a multiple of its base, as the document has it and as it was measured here. The first row of each group is the
base itself, with its value. Ratios to the base can be compared across machines, as far as anything can; values cannot.

| column | |
|---|---|
| AT | connections, or pods that start at once; *mean* over all of them |
| VARIANT, IN THE DOCUMENT | the variant of the manifest, and the name of what it stands for |
| PUBLISHED | computed from what the document prints |
| HERE | the ratio within blocks with its 95 % interval ([how](methodology.md#comparisons)), which few blocks leave *wide*: more than a factor of 10, and then not shown. `-`: not measured; the manifest or the list below the table says why |
| PER CORE | of throughput: the same for requests per second of one core of the subject (1 / CPU time per request). The load generator has most of the CPUs that both share, so that throughput moves less than what the subject costs |
| HERE/PUBL. | the one ratio as a multiple of the other |
| WHY | where they are more than a factor of @ apart: the reasons below the table that may explain it |

The reasons are explanations that fit, written by hand; no experiment has singled them out.
";

/// The whole page. `measured` gives what was measured of a study.
pub fn markdown<'a>(
    published: &'a Published,
    measured: impl Fn(&str) -> Option<&'a Measured>,
) -> String {
    let mut page = HEAD.replace('@', &DIFFERS.to_string());
    for study in &published.studies {
        page.push_str(&section(study, measured(&study.name)));
    }
    page
}

fn section(study: &Study, measured: Option<&Measured>) -> String {
    let rows = rows(study, measured);
    let mut text = lines(
        "",
        [
            String::new(),
            format!("## {}", study.name),
            String::new(),
            format!("{}.", escape(&study.title)),
            String::new(),
            format!("- there: {}", escape(&study.setting)),
            format!("- here: {}", escape(&here(measured))),
            format!(
                "- manifest: [{0}.yaml](../manifests/studies/{0}.yaml)",
                study.name
            ),
            String::new(),
        ],
    );
    text.push_str(&table(&rows).markdown());
    text.push_str(&list("Where the document has them:", sources(study)));
    text.push_str(&list(
        "Without a number, in whole or in part:",
        measured.iter().flat_map(|measured| {
            let without = measured.without.iter();
            without
                .map(|without| format!("{}: {}", escape(&without.variant), escape(&without.reason)))
        }),
    ));
    text.push_str(&list(
        "Left out:",
        study.variants.iter().filter_map(|variant| {
            let reason = variant.absent.as_ref()?;
            Some(format!("{}: {}", escape(&variant.name), escape(reason)))
        }),
    ));
    text.push_str(&differences(&rows));
    text.push_str("\nWhy:\n\n");
    for (why, number) in study.why.iter().zip(1..) {
        let _ = writeln!(text, "{number}. {}", why.text);
    }
    text
}

/// Where in the document each figure is.
fn sources(study: &Study) -> impl Iterator<Item = String> {
    study.tables.iter().map(|table| {
        let figure = table.figure.noun();
        format!(
            "{figure}, {}: {}",
            escape(&table.workload),
            escape(&table.source)
        )
    })
}

/// Where the ratios differ, in one sentence.
fn differences(rows: &[Row<'_>]) -> String {
    let compared = rows.iter().filter(|row| row.factor().is_some()).count();
    let differ = rows.iter().filter(|row| row.differs()).count();
    if compared == 0 {
        return "\nNothing is compared yet.\n".into();
    }
    format!(
        "\nOf {compared} ratios that both have, {differ} are more than a factor of {DIFFERS} apart.\n"
    )
}

fn list(title: &str, items: impl Iterator<Item = String>) -> String {
    let items = lines("- ", items);
    if items.is_empty() {
        return items;
    }
    format!("\n{title}\n\n{items}")
}
