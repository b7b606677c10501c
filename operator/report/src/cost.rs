//! What a run's variants cost, for people: `kubectl wasmbench cost` and the dashboard. Takes costs and
//! produces text or HTML. Pure.

use std::fmt::Write as _;

use maud::{Markup, html};
use wasmbench_model::units;
use wasmbench_results::statistics::Spread;
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::cost::{Cost, Costs, Saved};
use wasmbench_results::summary::node_price::{HOURS_PER_MONTH, NodePrice};
use wasmbench_results::summary::shim_use::ShimSummary;
use wasmbench_results::summary::trust::{Trust, trust};
use wasmbench_results::vocabulary::measure::{Measured as _, Metric};

use crate::markup::printable;
use crate::sheet::Sheet;
use crate::table::{Table, ascii, lines};
use crate::tables::with_mark;

/// Whether to trust the run, the tables, and the assumptions behind the costs. `costs` are those of
/// `summary`.
pub fn cost_text(summary: &Summary, costs: &Costs<'_>) -> String {
    let run = costs.run;
    let mut text = ascii(&format!("{}/{}", run.namespace, run.name));
    let _ = writeln!(text, " on a node of {}", node(&costs.node));
    text.push_str(&trusted(summary));
    for (title, table) in tables(costs) {
        let _ = write!(text, "\n{title}\n{}", table.plain());
    }
    text + "\nWhat this assumes\n" + &lines("- ", assumptions(summary, costs))
}

/// The tables and the assumptions, as part of an HTML page.
pub fn cost_html(summary: &Summary, costs: &Costs<'_>) -> Markup {
    printable(&html! {
        p { "On a node of " (node(&costs.node)) "." } "\n"
        @for (title, table) in tables(costs) { (table.cards(Some(&title))) }
        h2 { "What this assumes" } "\n"
        ul { "\n" @for assumption in assumptions(summary, costs) { li { (assumption) } "\n" } } "\n"
    })
}

/// The tables with their titles: what a request costs, what an instance costs, and with a rate what so many
/// requests cost in a month.
fn tables(costs: &Costs<'_>) -> Vec<(String, Table)> {
    let (requests, instances) = (&costs.million_requests, &costs.instance_month);
    let mut tables = vec![
        (
            "A million requests".to_owned(),
            table("MILLION REQUESTS", costs.baseline, requests),
        ),
        (
            "An instance for a month".to_owned(),
            table("INSTANCE A MONTH", costs.baseline, instances),
        ),
    ];
    if let Some(rate) = costs.rate {
        let rate = units::amount(rate);
        let title = format!("A month with {rate} requests per second");
        tables.push((title, months(costs)));
    }
    tables
}

/// `4 vCPUs and 16.0 GiB at 0.10 an hour`.
fn node(node: &NodePrice) -> String {
    format!(
        "{} vCPUs and {} at {} an hour",
        node.vcpus,
        units::bytes(node.memory_bytes),
        units::amount(node.per_hour)
    )
}

fn trusted(summary: &Summary) -> String {
    let indented = |message: &str| lines("  ", message.lines().map(ascii));
    match trust(summary) {
        Trust::NoNumbers => "Trustworthy: there are no numbers\n".to_owned(),
        Trust::Yes(message) => format!("Trustworthy: yes\n{}", indented(&message)),
        Trust::No { reason, message } => {
            format!("Trustworthy: NO ({reason})\n{}", indented(&message))
        }
    }
}

fn table(head: &str, baseline: &str, rows: &[Cost<'_>]) -> Table {
    let measured = rows.first().map_or("", |row| row.metric.noun());
    Sheet::new(rows)
        .left("WORKLOAD", |row| row.workload)
        .left("VARIANT", |row| with_mark(row.variant, baseline))
        .right(measured.to_uppercase(), |row| {
            let unit = row.metric.measure().unit;
            row.measured.map(|found| unit.shown(found.median))
        })
        .right(head, |row| row.cost.map(money))
        .right(format!("VERSUS {baseline}"), |row| row.ratio_text())
        .left("MISSING", |row| row.missing.clone())
        .table()
}

/// What a month at the rate costs, and what it saves.
fn months(costs: &Costs<'_>) -> Table {
    let saved = |saved: Saved| {
        let amount = units::amount(saved.amount);
        let ends = saved
            .interval
            .map(|(low, high)| format!(" ({} to {})", units::amount(low), units::amount(high)));
        amount + &ends.unwrap_or_default()
    };
    Sheet::new(&costs.rate_month)
        .left("WORKLOAD", |row| row.workload)
        .left("VARIANT", |row| with_mark(row.variant, costs.baseline))
        .right("A MONTH", |row| row.cost.map(money))
        .right("SAVES", |row| costs.saved(row).map(saved))
        .left("MISSING", |row| row.missing.clone())
        .table()
}

/// `0.000305 (0.000301 to 0.000312)`.
fn money(cost: Spread) -> String {
    let [median, low, high] = [cost.median, cost.low, cost.high].map(units::amount);
    format!("{median} ({low} to {high})")
}

fn assumptions(summary: &Summary, costs: &Costs<'_>) -> Vec<String> {
    let share = costs.node.cpu_utilisation;
    let requests = format!(
        "A request costs its share of the node's CPU time, of which {} does work: with half of that it costs twice as much.",
        units::percent(share)
    );
    let memory = format!(
        "An instance costs its share of the node's memory for {HOURS_PER_MONTH} hours, whether it gets requests or not."
    );
    let both = "Each is priced as if all of the node was paid for that alone: what runs out first on your nodes decides your \
                bill. Do not add them up.";
    let ratios = "Ratios are the run's, from blocks: they hold for any price, and need not be those of the medians shown.";
    let pod = "CPU time is that of the pod: nothing of its shim, the kubelet, a load balancer or traffic is in it.";
    let mut all = vec![
        requests,
        memory,
        both.to_owned(),
        pod.to_owned(),
        ratios.to_owned(),
    ];
    if !summary.capacity.is_empty() {
        all.push(
            "Both are those at the highest rung that meets the target, at which a pod is as busy as it may be. Their ratios are of \
             the same blocks, and have no verdict: the run judges capacities."
                .to_owned(),
        );
    }
    if costs.instance_month.iter().any(is_of_loaded_pod) {
        all.push(format!(
            "Memory is what a pod holds after its load{}. What an idle instance adds to a node is measured by the sweep density.",
            outside(&summary.shims)
        ));
    }
    all
}

fn is_of_loaded_pod(cost: &Cost<'_>) -> bool {
    cost.metric == Metric::Memory
}

/// What shims hold outside the pods: `, not including its shim (native 4.00 MiB)`.
fn outside(shims: &[ShimSummary]) -> String {
    let of_shim = |shim: &ShimSummary| {
        let bytes = units::bytes(shim.anonymous_bytes.median);
        format!("{} {bytes}", ascii(&shim.variant))
    };
    let held: Vec<String> = shims.iter().map(of_shim).collect();
    if held.is_empty() {
        return String::new();
    }
    format!(", not including its shim ({})", held.join(", "))
}
