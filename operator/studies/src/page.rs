//! `docs/studies.md`: all studies at a glance, and for each a page with what it teaches, its table, the same as a picture, and
//! the reasons for differences.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use wasmbench_report::table::{escape, lines};

use crate::compared::{DIFFERS, Row, Value, ratio, rows};
use crate::measured::Measured;
use crate::plot;
use crate::published::{Experiment, Published, Study, Why};
use crate::terminal::{extent, here, table, value};

const GENERATED: &str = "<!-- Generated from manifests/studies/published.yaml and operator/studies/measured by `make generate`. -->";
/// Where the studies are listed.
const STUDIES: &str = "STUDIES\n";
const HEAD: &str = "\
Four documents compare containers and Wasm runtimes. [manifests/studies](../manifests/studies) repeats them as nearly as pods allow: variants
that stand for theirs, the same kinds of workloads and, where a document names them, the same numbers of connections. A comment says where
each deviates. Each has a page: what it got right, what its harness caused, its figures compared with ours, and why they differ.

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
| PUBLISHED | computed from what the document prints |
| HERE | the ratio within blocks with its 95 % interval ([how](methodology.md#comparisons)), which two blocks leave wide: then the row decides nothing, and *here* above says how many there were. `*`: one of the reasons after *not trustworthy* above concerns this ratio or its whole run. `-`: not measured; the manifest or the list below the table says why |
| PER CORE | of throughput: the same for requests per second of one core of the subject (1 / CPU time per request). Where requests are light, the load generator takes most of the CPU time that both share, so that throughput moves less than what the subject costs |
| HERE/PUBL. | the one ratio as a multiple of the other |
| WHY | where they are more than a factor of @ apart: the reasons below the table that may explain it |

A reason is listed only where it would move the ratio in the direction in which it moved. Below it stand pairs of variants or of points of our runs that
bear on it, with their ratio. Where a pair differs by just what the reason names, it shows the size of that; elsewhere it shows only that the
difference is absent here. A reason without a pair is a conjecture: it fits, and nothing here tests it.
";
/// Of a reason that no run shows.
const CONJECTURE: &str = "*A conjecture: no run here tests it.*";

/// A file of the documentation.
#[derive(Debug)]
pub struct Page {
    /// Path within `docs`.
    pub path: String,
    /// Markdown, or a picture.
    pub text: String,
}

/// The page of all studies, then one for each. `measured` gives what was measured of a study.
pub fn pages<'a>(
    published: &'a Published,
    measured: impl Fn(&str) -> Option<&'a Measured>,
) -> Vec<Page> {
    let studies: Vec<_> = published
        .studies
        .iter()
        .map(|study| (study, measured(&study.name)))
        .collect();
    let first = Page {
        path: "studies.md".into(),
        text: overview(&studies),
    };
    let others = studies
        .iter()
        .flat_map(|(study, measured)| of_study(study, *measured));
    std::iter::once(first).chain(others).collect()
}

fn overview(studies: &[(&Study, Option<&Measured>)]) -> String {
    let all = studies.iter().map(|(study, measured)| {
        let runs = measured.iter().flat_map(|measured| measured.runs.values());
        let extents: BTreeSet<String> = runs.map(extent).collect();
        let here = if extents.is_empty() {
            "not measured yet".to_owned()
        } else {
            extents.into_iter().collect::<Vec<_>>().join("; ")
        };
        format!(
            "[{0}](studies/{0}.md): {1}. Here: {here}. {2}",
            study.name,
            escape(&study.title),
            differences(&rows(study, *measured))
        )
    });
    let head = HEAD
        .replace('@', &DIFFERS.to_string())
        .replace(STUDIES, &lines("- ", all));
    format!("# The studies, published and repeated\n\n{GENERATED}\n\n{head}")
}

/// The page, and the picture where there is one.
fn of_study(study: &Study, measured: Option<&Measured>) -> Vec<Page> {
    let rows = rows(study, measured);
    let picture = plot::svg(study, &rows).map(|text| Page {
        path: format!("studies/{}.svg", study.name),
        text,
    });
    let page = Page {
        path: format!("studies/{}.md", study.name),
        text: text(study, measured, &rows, picture.is_some()),
    };
    std::iter::once(page).chain(picture).collect()
}

fn text(study: &Study, measured: Option<&Measured>, rows: &[Row<'_>], has_picture: bool) -> String {
    let mut text = settings(study, measured);
    text.push_str(&lessons(study));
    text.push_str("\n## Published, and here\n\n");
    if has_picture {
        let _ = writeln!(
            text,
            "![Ratios of the document and from here, with intervals]({}.svg)\n",
            study.name
        );
    }
    text.push_str(&table(rows).markdown());
    let _ = writeln!(text, "\n{}", differences(rows));
    text.push_str("\n## Why\n\n");
    for (why, number) in study.why.iter().zip(1..) {
        let _ = writeln!(text, "{number}. {}", why.text);
        text.push_str(&experiments(why, measured));
    }
    text.push_str("\n## Sources\n");
    text.push_str(&list("Where the document has the figures:", sources(study)));
    text.push_str(&missing(study, measured));
    text
}

/// The document, and where both sides were measured.
fn settings(study: &Study, measured: Option<&Measured>) -> String {
    let head = [
        format!("# {}", study.name),
        String::new(),
        GENERATED.into(),
        String::new(),
        format!("{}.", escape(&study.title)),
        String::new(),
        format!("- there: {}", escape(&study.setting)),
    ];
    let places = here(measured);
    let here = places
        .iter()
        .map(|here| format!("- here: {}", escape(here)));
    let links = [
        format!(
            "- manifest: [{0}.yaml](../../manifests/studies/{0}.yaml), which names each deviation",
            study.name
        ),
        "- how to read the table: [studies.md](../studies.md#how-to-read-the-tables)".into(),
    ];
    lines("", head.into_iter().chain(here).chain(links))
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
    [
        list("Without a number here, in whole or in part:", without),
        list("Left out:", absent),
    ]
    .concat()
}

/// What shows a reason, with the size of its effect.
fn experiments(why: &Why, measured: Option<&Measured>) -> String {
    if why.shown.is_empty() {
        return lines("   - ", [CONJECTURE]);
    }
    let shown = why.shown.iter().map(|one| experiment(one, measured));
    lines("   - ", shown)
}

fn experiment(one: &Experiment, measured: Option<&Measured>) -> String {
    let figure = one.figure;
    let [(variant, at), (over, over_at)] = one.sides();
    let place = (figure, one.workload.as_str());
    let found =
        measured.and_then(|measured| ratio(measured, place, (variant, at), (over, over_at)));
    let effect = found.map_or_else(
        || "not measured yet".into(),
        |found| escape(&value(&Value::Ratio(found))),
    );
    let base = if variant == over {
        figure.at(over_at)
    } else {
        format!("`{over}`")
    };
    format!(
        "{}: {} of `{}`, {}, `{variant}` compared with {base}: **{effect}**",
        one.what,
        figure.noun(),
        one.workload,
        figure.at(at),
    )
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

/// How many ratios differ, in one sentence.
fn differences(rows: &[Row<'_>]) -> String {
    let compared = rows.iter().filter(|row| row.factor().is_some()).count();
    if compared == 0 {
        return "Nothing is compared yet.".into();
    }
    let differ = rows.iter().filter(|row| row.differs()).count();
    let surely = rows.iter().filter(|row| row.surely_differs()).count();
    format!(
        "Of {compared} rows with both ratios, {differ} are more than a factor of {DIFFERS} apart, {surely} of them with the whole \
         interval."
    )
}

fn list<T: std::fmt::Display>(title: &str, items: impl Iterator<Item = T>) -> String {
    let items = lines("- ", items.map(|item| item.to_string()));
    if items.is_empty() {
        return items;
    }
    format!("\n{title}\n\n{items}")
}
