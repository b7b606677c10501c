//! Keeps a status small: it is sent with every change of its run to everyone who watches. What is
//! left out is counted, and the report has it.

use serde::Serialize;
use strum::IntoEnumIterator as _;
use wasmbench_api::status::{Omitted, SummaryRow};
use wasmbench_results::vocabulary::measure::{Measured as _, Metric, Says};

/// Whether a ratio is kept longest because it says how fast a variant is.
fn is_headline(metric: &str) -> bool {
    let mut fast = Metric::iter().filter(|one| one.measure().says == Says::HowFast);
    fast.any(|one| <&str>::from(one) == metric)
}

/// Length of `value` as JSON.
pub fn json_bytes(value: &impl Serialize) -> usize {
    serde_json::to_vec(value).map_or(0, |json| json.len())
}

/// The `rows`, as far as they fit into `bytes` of JSON. What people miss least goes first: points
/// that are neither a peak, a knee nor an end of the sweep; then ratios of CPU time and memory;
/// then, starting at the last row, all numbers but ratios; and finally whole rows.
pub fn fitted(
    mut rows: Vec<SummaryRow>,
    baseline: &str,
    bytes: usize,
) -> (Vec<SummaryRow>, Option<Omitted>) {
    if json_bytes(&rows) <= bytes {
        return (rows, None);
    }
    let mut omitted = Omitted {
        points: leave_points(&mut rows, baseline),
        ..Omitted::default()
    };
    if json_bytes(&rows) > bytes {
        let ratios = rows.iter_mut().map(|row| {
            let all = row.versus_baseline.len();
            row.versus_baseline
                .retain(|ratio| is_headline(&ratio.metric));
            all - row.versus_baseline.len()
        });
        omitted.ratios = count(ratios.sum());
    }
    let mut length = json_bytes(&rows);
    for row in rows.iter_mut().rev() {
        if length <= bytes {
            break;
        }
        let before = json_bytes(row);
        omitted.points += leave_numbers(row);
        length -= before - json_bytes(row);
    }
    while length > bytes
        && let Some(row) = rows.pop()
    {
        // The row and its comma.
        length -= json_bytes(&row) + 1;
        omitted.rows += 1;
    }
    (rows, Some(omitted))
}

/// The `names`, as far as they fit into `bytes` of JSON, and the number left out.
pub fn names(names: &[String], bytes: usize) -> (Vec<String>, u32) {
    let mut used = 0;
    let fitting = names.iter().take_while(|name| {
        // The name and its comma.
        used += json_bytes(name) + 1;
        used <= bytes
    });
    let kept: Vec<String> = fitting.cloned().collect();
    let omitted = count(names.len() - kept.len());
    (kept, omitted)
}

/// Keeps only the points of each curve at which variants are compared. Returns the number of
/// removed points.
fn leave_points(rows: &mut [SummaryRow], baseline: &str) -> u32 {
    let knees: Vec<(String, u32)> = rows
        .iter()
        .filter(|row| row.variant == baseline)
        .filter_map(|row| {
            let knee = row.throughput.as_ref()?.knee.as_ref()?;
            Some((row.workload.clone(), knee.connections))
        })
        .collect();
    let mut left_out = 0;
    for row in rows {
        if let Some(curve) = &mut row.throughput {
            let knee = curve.knee.as_ref().map(|knee| knee.connections);
            let compared = knees.iter().find(|(workload, _)| *workload == row.workload);
            let kept = [curve.at_connections, knee, compared.map(|(_, knee)| *knee)];
            let all = curve.points.len();
            curve.points.retain(|p| kept.contains(&Some(p.connections)));
            left_out += all - curve.points.len();
        }
        let all = row.cold_start.len();
        let numbers = row.cold_start.iter().map(|point| point.concurrency);
        let ends = [numbers.clone().min(), numbers.max()];
        row.cold_start
            .retain(|point| ends.contains(&Some(point.concurrency)));
        left_out += all - row.cold_start.len();
        let rates = row.open_loop.len();
        let highest = row
            .open_loop
            .iter()
            .map(|point| point.percent_of_peak)
            .max();
        row.open_loop
            .retain(|point| Some(point.percent_of_peak) == highest);
        left_out += rates - row.open_loop.len();
    }
    count(left_out)
}

/// Removes the points of a row and keeps its ratios. Returns the number of removed points.
fn leave_numbers(row: &mut SummaryRow) -> u32 {
    let curve = row.throughput.take();
    let points = curve.map_or(0, |curve| curve.points.len());
    let warm = usize::from(row.warm_latency.take().is_some());
    let cold = std::mem::take(&mut row.cold_start).len();
    let open = std::mem::take(&mut row.open_loop).len();
    count(points + warm + cold + open)
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use wasmbench_api::status::{ColdStartPoint, Knee, PointSummary, Ratio, ThroughputSummary};

    use super::*;

    fn row(variant: &str, knee: u32) -> SummaryRow {
        let point = |connections| PointSummary {
            connections,
            ..PointSummary::default()
        };
        let ratio = |metric: &str| Ratio {
            metric: metric.into(),
            ..Ratio::default()
        };
        let cold = |concurrency| ColdStartPoint {
            concurrency,
            ..ColdStartPoint::default()
        };
        SummaryRow {
            variant: variant.into(),
            workload: "hello".into(),
            cold_start: [1, 2, 4].map(cold).into(),
            open_loop: vec![],
            density: None,
            warm_latency: Some(point(1)),
            throughput: Some(ThroughputSummary {
                at_connections: Some(50),
                knee: Some(Knee {
                    connections: knee,
                    rps: 1.0,
                }),
                points: [1, 10, 20, 30, 40, 50, 60].map(point).into(),
                ..ThroughputSummary::default()
            }),
            versus_baseline: ["throughputRps", "warmP50", "cpuPerRequest", "memory"]
                .map(ratio)
                .into(),
        }
    }

    fn rows() -> Vec<SummaryRow> {
        vec![row("base", 20), row("other", 40)]
    }

    /// What remains when `bytes` fewer than all rows need may be used.
    fn without(bytes: usize) -> (Vec<SummaryRow>, Omitted) {
        let (kept, omitted) = fitted(rows(), "base", json_bytes(&rows()) - bytes);
        (kept, omitted.unwrap())
    }

    #[test]
    fn what_fits_stays_whole() {
        let (kept, omitted) = fitted(rows(), "base", json_bytes(&rows()));
        assert_eq!((kept, omitted), (rows(), None));
    }

    #[test]
    fn names_that_do_not_fit_are_counted() {
        let all: Vec<String> = ["one", "two", "three"].map(ToOwned::to_owned).into();
        assert_eq!(names(&all, 20), (all.clone(), 0));
        assert_eq!(names(&all, 19), (all[..2].to_vec(), 1));
        assert_eq!(names(&all, 0), (vec![], 3));
    }

    #[test]
    fn points_between_peak_and_knee_go_first() {
        let (kept, omitted) = without(1);
        let points = |row: &SummaryRow| -> Vec<u32> {
            let curve = row.throughput.as_ref().unwrap();
            curve.points.iter().map(|point| point.connections).collect()
        };
        assert_eq!(points(&kept[0]), [20, 50]);
        // The baseline's knee too, because variants are compared there.
        assert_eq!(points(&kept[1]), [20, 40, 50]);
        let cold: Vec<u32> = kept[0].cold_start.iter().map(|p| p.concurrency).collect();
        assert_eq!(cold, [1, 4]);
        assert_eq!((omitted.points, omitted.ratios, omitted.rows), (11, 0, 0));
    }

    #[test]
    fn then_ratios_then_numbers_and_last_whole_rows() {
        let thin = json_bytes(&rows()) - json_bytes(&without(1).0);
        let (kept, omitted) = without(thin + 1);
        assert_eq!(kept[0].versus_baseline.len(), 2);
        assert_eq!((omitted.ratios, omitted.rows), (4, 0));

        let thinner = json_bytes(&rows()) - json_bytes(&kept);
        let (kept, omitted) = without(thinner + 1);
        assert!(kept[0].throughput.is_some() && kept[1].throughput.is_none());
        assert_eq!(kept[1].versus_baseline.len(), 2);
        assert_eq!((omitted.points, omitted.rows), (11 + 6, 0));

        let (kept, omitted) = without(json_bytes(&rows()) - 200);
        assert_eq!((kept.len(), omitted.rows), (1, 1));
        assert!(json_bytes(&kept) <= 200, "{}", json_bytes(&kept));
        assert_eq!(fitted(rows(), "base", 0).0, []);
    }
}
