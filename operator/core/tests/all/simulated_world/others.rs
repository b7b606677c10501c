//! What other runs see of this one, and do to it.

use wasmbench_core::observed::{ObservedPod, Occupant, RunName};

use super::World;

impl World {
    /// What may use a node for this run of that name: its pods that have not ended, and Jobs that may
    /// still start one. A run that holds a node looks at the probes of others only. `lives` if this run can
    /// still measure.
    pub fn occupants(&self, name: &RunName, lives: bool, probes_only: bool) -> Vec<Occupant> {
        let observed = &self.observed;
        let subjects = observed.subjects.iter().chain(&observed.cold_subjects);
        let others = subjects.map(|one| &one.pod).chain(&observed.upstreams);
        let others = others.filter(|_| !probes_only);
        let pods = observed.probes.iter().filter_map(|one| one.pod.as_ref());
        let pods = pods.chain(others).filter(|pod| pod.works());
        let may_start = observed.probes.iter();
        let may_start = may_start.filter(|one| one.pod.is_none() && one.end.is_none());
        let jobs = may_start.filter(|one| !one.deleting);
        let pods = pods.map(|pod| (pod.node.clone(), pod.name.clone()));
        let jobs = jobs.map(|one| (self.claimed.clone(), one.job.clone()));
        let found = pods.chain(jobs);
        let found = found.filter_map(|(node, what)| {
            Some(Occupant {
                node: node?,
                what,
                run: name.clone(),
                lives,
            })
        });
        found.collect()
    }

    /// Somebody removes all pods and Jobs of the run.
    pub fn is_swept(&mut self) {
        let now = self.now;
        let goes = |pod: &mut ObservedPod| pod.deleting = pod.deleting.or(Some(now));
        let observed = &mut self.observed;
        let subjects = observed
            .subjects
            .iter_mut()
            .chain(&mut observed.cold_subjects);
        subjects.map(|one| &mut one.pod).for_each(goes);
        observed.upstreams.clear();
        for probe in &mut observed.probes {
            probe.deleting = true;
        }
    }
}
