//! The ratios to the baseline, and the numbers of closed loads, workload by workload.

use wasmbench_results::summary::Summary;

use crate::comparisons::{self, PAIRED, PRIMARY};
use crate::section::Section;
use crate::tables;

/// The ratios; `None` where nothing is compared.
pub fn ratios(summary: &Summary) -> Option<Section> {
    let baseline = &summary.baseline;
    let section = Section::new(format!("Ratios to {baseline}")).paragraph(format!(
        "With the 95 % interval over blocks, and what follows from it; {PRIMARY} marks what the run was to decide. {PAIRED}"
    ));
    of_workloads(summary, section, |workload| {
        let mut section = Section::new(workload);
        let ratios = comparisons::report(summary, workload);
        if !ratios.is_empty() {
            section = section.table(ratios);
        }
        section = section.paragraphs(tables::primary(summary, workload));
        let floor = tables::noise_floor(summary, workload);
        if floor.is_empty() {
            return section;
        }
        section
            .paragraph(format!(
                "Noise floor, {baseline} compared with its twin, which is the same measured a second time:"
            ))
            .table(floor)
    })
}

/// The points of closed loads; `None` without any.
pub fn loads(summary: &Summary) -> Option<Section> {
    let section = Section::new("Loads").guide(
        "Each number is the median over valid trials, with its interval; p99.9 is that of all their requests together. The \
         smallest and the largest trial are in summary.csv.",
    );
    of_workloads(summary, section, |workload| {
        let (section, points) = (Section::new(workload), tables::points(summary, workload));
        if points.is_empty() {
            section
        } else {
            section.table(points)
        }
    })
}

/// Adds the section that `of_workload` returns for each workload, under its name; `None` if all are
/// empty.
fn of_workloads(
    summary: &Summary,
    section: Section,
    of_workload: impl Fn(&str) -> Section,
) -> Option<Section> {
    let workloads = summary.compared.workloads.iter();
    let found: Vec<Section> = workloads
        .filter_map(|one| of_workload(&one.name).if_any())
        .collect();
    if found.is_empty() {
        return None;
    }
    let with_name = |all: Section, one: Section| all.heading(&one.title.clone()).append(one);
    Some(found.into_iter().fold(section, with_name))
}
