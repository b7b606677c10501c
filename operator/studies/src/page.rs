//! `docs/studies.md`: all studies at a glance, and for each a page with what it teaches, its table, the same as a picture, and
//! the reasons for differences.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use wasmbench_report::table::{escape, lines};

use crate::compared::{DIFFERS, Row, rows};
use crate::measured::{Length, Measured};
use crate::published::{Published, Study};
use crate::terminal::{here, table};
use crate::{Ours, by_workload, coverage, experiments, plot};

const GENERATED: &str =
    "<!-- Generated from manifests/studies and operator/studies/measured by `make generate`. -->";
/// Where the studies are listed.
const STUDIES: &str = "STUDIES\n";
const HEAD: &str = "\
Five documents compare containers, native code and Wasm runtimes. [manifests/studies](../manifests/studies) repeats them as nearly as pods allow:
variants that stand for theirs, the same kinds of workloads and, where a document names them, the same numbers of connections. A comment says
where each deviates. Each has a page: what it got right, what its harness caused, its figures compared with ours, and why they differ.

STUDIES

```sh
kubectl apply -f manifests/studies/gateway-report-short.yaml   # minutes, for a first look
kubectl apply -f manifests/studies/gateway-report.yaml         # hours, for numbers
make demo-studies                                              # all short ones on the local cluster, and these tables
hack/studies/run --full --write STUDY...                       # the whole ones, and these pages
```

## How to read the tables

A row is a variant as a multiple of its base, as the document has it and as it was measured here. The first row of each group is the
base itself, with its value. Values cannot be compared across machines, and ratios only roughly: the same ratio differed by up to a factor of 2.3 between
two machines ([numbers](methodology.md#when-not-to-believe-it)).

| column | |
|---|---|
| AT | connections, or instances (pods, or functions of a process) that start at once; *mean* over all of them |
| VARIANT, IN THE DOCUMENT | the variant of the manifest, and the name of what it stands for |
| WORKLOAD | the name in the manifest, or of a geometric mean over several workloads, taken in each block |
| PUBLISHED | computed from what the document prints; `1.00-1.20x`: its text states a range or a bound; `-`: a figure without printed numbers, or no value |
| HERE | the ratio within blocks with its 95 % interval ([how](methodology.md#comparisons)), which two blocks leave wide: then the row decides nothing. `*`: one of the [reasons](methodology/noise-and-validity.md) after *not trustworthy* at the top of the page concerns this ratio or its whole run. `-`: not measured |
| PER CORE | of throughput: the same for requests per second of CPU time that the pod used (1 / CPU time per request). It is computed: no pod had a core to itself. Where requests are light, the load generator takes most of the CPU time that both share, so that throughput moves less than what the subject costs |
| HERE/PUBL. | the one ratio as a multiple of the other; of a range, of what in it is nearest |
| WHY | where they are more than a factor of @ apart: the reasons below the table that may explain it; `?`: a conjecture. Below that factor a row has no reason, even if its interval excludes the published ratio |

A row of a variant that the document does not have, or for which it has no value, has `-` as its name there. Points that were not measured have no row:
the last list of a page counts the values of each table that were measured, and names the others and the run that would measure them. It also
says which run each point is of: points of two runs do not make one curve.

Reasons were sought for the direction in which a ratio moved. What moved it the other way, and was outweighed, is not listed. Below a reason stand pairs
of variants or of points of our runs that bear on it, with their ratio. Where a pair differs by just what the reason names, it shows the size of that;
elsewhere it shows only that the difference is absent here. A conjecture fits, and nothing here tests it.
";
/// Whose shims those of the manifests are.
const SHIMS: &str = "- shims: this repository's builds on the runwasi library, not runwasi's releases ([wasmtime](../variants/wasmtime-shim.md), \
[WasmEdge](../variants/wasmedge.md))";

/// Before the figures whose runs were not all on the same model of CPU.
const MODELS: &str = "The rows of these figures are from more than one model of CPU. Compare only rows of the same run:";

/// A file of the documentation.
#[derive(Debug)]
pub struct Page {
    /// Path within `docs`.
    pub path: String,
    /// Markdown, or a picture.
    pub text: String,
}

/// The page of all studies, then one for each. `ours` gives what there is of a study here.
pub fn pages<'a>(published: &'a Published, ours: impl Fn(&str) -> Ours<'a>) -> Vec<Page> {
    let studies: Vec<_> = published
        .studies
        .iter()
        .map(|study| (study, ours(&study.name)))
        .collect();
    let first = Page {
        path: "studies.md".into(),
        text: overview(&studies),
    };
    let others = studies
        .iter()
        .flat_map(|(study, ours)| of_study(study, *ours));
    std::iter::once(first).chain(others).collect()
}

fn overview(studies: &[(&Study, Ours<'_>)]) -> String {
    let all = studies.iter().map(|(study, ours)| {
        format!(
            "[{0}](studies/{0}.md): {1}. Here: {2}. {3}",
            study.name,
            escape(&study.title),
            escape(&found(*ours)),
            differences(&rows(study, ours.measured))
        )
    });
    let head = HEAD
        .replace('@', &DIFFERS.to_string())
        .replace(STUDIES, &lines("- ", all));
    format!("# The studies, published and repeated\n\n{GENERATED}\n\n{head}")
}

/// How much was measured, in a few words.
fn found(ours: Ours<'_>) -> String {
    let Some(measured) = ours.measured else {
        return "not measured yet".into();
    };
    let runs = || measured.runs.values();
    let mut parts = vec![coverage::runs(ours)];
    if runs().any(|run| run.length == Length::Short) {
        parts.push("runs of the shortened manifest".into());
    }
    let blocks = runs().map(|run| run.blocks).min();
    parts.extend(blocks.map(|blocks| format!("at least {blocks} blocks")));
    let doubts: BTreeSet<&str> = runs()
        .flat_map(|run| &run.doubts)
        .map(String::as_str)
        .collect();
    if !doubts.is_empty() {
        let doubts: Vec<&str> = doubts.into_iter().collect();
        parts.push(format!(
            "some ratios not trustworthy: {}",
            doubts.join(", ")
        ));
    }
    parts.join("; ")
}

/// The page, and the picture where there is one.
fn of_study(study: &Study, ours: Ours<'_>) -> Vec<Page> {
    let rows = rows(study, ours.measured);
    let picture = plot::svg(study, &rows).map(|text| Page {
        path: format!("studies/{}.svg", study.name),
        text,
    });
    let page = Page {
        path: format!("studies/{}.md", study.name),
        text: text(study, ours, &rows, picture.is_some()),
    };
    std::iter::once(page).chain(picture).collect()
}

fn text(study: &Study, ours: Ours<'_>, rows: &[Row<'_>], has_picture: bool) -> String {
    let mut text = settings(study, ours);
    text.push_str(&lessons(study));
    text.push_str("\n## Published, and here\n\n");
    if has_picture {
        let _ = writeln!(
            text,
            "![Ratios of the document and from here, with intervals]({}.svg)\n",
            study.name
        );
    }
    if let Some(note) = &study.note {
        let _ = writeln!(text, "{note}\n");
    }
    text.push_str(&table(rows).markdown());
    let _ = writeln!(text, "\n{}", differences(rows));
    text.push_str(&list(MODELS, coverage::models(study, ours).iter()));
    text.push_str(&by_workload::section(study, ours));
    text.push_str("\n## Why\n\n");
    for (why, number) in study.why.iter().zip(1..) {
        let _ = writeln!(text, "{number}. {}", why.text);
        text.push_str(&experiments::list(study, why, ours.measured));
    }
    text.push_str("\n## Sources, and what was measured\n");
    text.push_str(&missing(study, ours.measured));
    let tables = coverage::tables(study, ours);
    let tables = tables.iter().map(|table| escape(table));
    text.push_str(&list(
        "Where the document has the figures, and how many of its values were measured here:",
        tables,
    ));
    text
}

/// The document, and where both sides were measured.
fn settings(study: &Study, ours: Ours<'_>) -> String {
    let head = [
        format!("# {}", study.name),
        String::new(),
        GENERATED.into(),
        String::new(),
        format!("{}.", escape(&study.title)),
        String::new(),
        format!("- there: {}", escape(&study.setting)),
    ];
    let places = here(study, ours.measured);
    let here = places
        .iter()
        .map(|here| format!("- here: {}", escape(here)));
    let shims = ours.manifest.has_shims().then(|| SHIMS.to_owned());
    let links = [
        format!("- measured: {}", escape(&coverage::runs(ours))),
        format!(
            "- manifest: [{0}.yaml](../../manifests/studies/{0}.yaml), which names each deviation",
            study.name
        ),
        "- how to read the table: [studies.md](../studies.md#how-to-read-the-tables)".into(),
    ];
    lines("", head.into_iter().chain(here).chain(shims).chain(links))
}

fn lessons(study: &Study) -> String {
    let lessons = &study.lessons;
    [
        list("What it got right:", lessons.right.iter()),
        list("What its harness caused:", lessons.harness.iter()),
        list("What nobody should repeat:", lessons.avoid.iter()),
    ]
    .concat()
}

/// Variants without a number, and those that nothing stands for, each with its reason.
fn missing(study: &Study, measured: Option<&Measured>) -> String {
    let without = measured.into_iter().flat_map(Measured::without);
    let without =
        without.map(|without| format!("{}: {}", escape(&without.variant), escape(&without.reason)));
    let absent = study.variants.iter().filter_map(|variant| {
        let reason = variant.absent.as_ref()?;
        Some(format!("{}: {}", escape(&variant.name), escape(reason)))
    });
    let missing = study.missing.iter();
    let missing = missing.map(|one| format!("{}: {}", escape(&one.what), escape(&one.why)));
    [
        list("Without a number here, in whole or in part:", without),
        list("Left out:", absent.chain(missing)),
    ]
    .concat()
}

/// How many ratios differ, in one sentence.
fn differences(rows: &[Row<'_>]) -> String {
    let compared = rows.iter().filter(|row| row.factor().is_some()).count();
    if compared == 0 {
        return "Nothing is compared yet.".into();
    }
    let differ = rows.iter().filter(|row| row.differs()).count();
    let surely = rows.iter().filter(|row| row.surely_differs()).count();
    let outside = rows.iter().filter(|row| row.is_outside()).count();
    format!(
        "Of {compared} rows with both ratios, the two are more than a factor of {DIFFERS} apart in {differ}, and with the whole \
         interval in {surely}; in {outside} the interval excludes the published ratio."
    )
}

fn list<T: std::fmt::Display>(title: &str, items: impl Iterator<Item = T>) -> String {
    let items = lines("- ", items.map(|item| item.to_string()));
    if items.is_empty() {
        return items;
    }
    format!("\n{title}\n\n{items}")
}
