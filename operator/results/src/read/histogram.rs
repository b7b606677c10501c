//! A latency histogram with interpolated percentiles. Values are in microseconds.

/// Requests whose latency lies between two values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bucket {
    /// Lower edge, in microseconds.
    pub start: f64,
    /// Upper edge, in microseconds.
    pub end: f64,
    /// Requests.
    pub count: u64,
}

impl Bucket {
    /// How many requests of the bucket took at most `at`.
    fn up_to(&self, at: f64) -> f64 {
        if at >= self.end {
            return self.count as f64;
        }
        self.before(at)
    }

    /// How many requests of the bucket took less than `at`: in a bucket of zero width all are at
    /// its edge.
    fn before(&self, at: f64) -> f64 {
        if at <= self.start {
            return 0.0;
        }
        let inside = (at - self.start) / (self.end - self.start);
        self.count as f64 * inside.min(1.0)
    }
}

/// Buckets in ascending order that do not overlap.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    buckets: Vec<Bucket>,
}

impl Histogram {
    /// Creates a histogram from these buckets, or returns what is wrong with them.
    pub fn new(buckets: Vec<Bucket>) -> Result<Self, String> {
        let sound = |b: &Bucket| 0.0 <= b.start && b.start <= b.end && b.end.is_finite();
        if !buckets.iter().all(sound) {
            return Err("has a bucket whose edges are no latencies".to_owned());
        }
        if buckets.windows(2).any(|pair| pair[1].start < pair[0].end) {
            return Err("has buckets that overlap".to_owned());
        }
        Ok(Self { buckets })
    }

    /// The requests of several histograms over the same edges. The outermost buckets of each may be
    /// narrower, because fortio cuts them at the smallest and the largest value. Overlapping
    /// buckets are therefore merged.
    pub fn joined(all: &[Self]) -> Self {
        let mut every: Vec<Bucket> = all.iter().flat_map(|one| one.buckets.clone()).collect();
        every.sort_by(|a, b| a.start.total_cmp(&b.start).then(a.end.total_cmp(&b.end)));
        let mut buckets: Vec<Bucket> = vec![];
        for one in every {
            match buckets.last_mut().filter(|last| one.start < last.end) {
                Some(last) => {
                    last.end = last.end.max(one.end);
                    last.count += one.count;
                }
                None => buckets.push(one),
            }
        }
        Self { buckets }
    }

    /// The number of all requests.
    pub fn count(&self) -> u64 {
        self.buckets.iter().map(|bucket| bucket.count).sum()
    }

    /// The latency below which `share` (0 to 1) of the requests stayed, in microseconds,
    /// interpolated linearly inside its bucket. `None` without requests.
    pub fn percentile(&self, share: f64) -> Option<f64> {
        let rank = share.clamp(0.0, 1.0) * self.count() as f64;
        let mut below = 0.0;
        let mut last = None;
        for bucket in self.buckets.iter().filter(|bucket| bucket.count > 0) {
            let count = bucket.count as f64;
            if rank <= below + count {
                let inside = (rank - below) / count;
                return Some(bucket.start + inside * (bucket.end - bucket.start));
            }
            below += count;
            last = Some(bucket.end);
        }
        last
    }

    /// The width of the bucket from which the percentile at `share` is taken, in microseconds.
    pub fn width_at(&self, share: f64) -> Option<f64> {
        let value = self.percentile(share)?;
        let holds = |b: &&Bucket| b.count > 0 && b.start <= value && value <= b.end;
        // A value on an edge belongs to both neighbours, and either is correct.
        let widths = self.buckets.iter().filter(holds).map(|b| b.end - b.start);
        widths.reduce(f64::min)
    }

    /// This histogram without the requests of `other`, which must be a part of it. The outermost
    /// buckets of a part are narrower, because fortio cuts them at the smallest and the largest
    /// value. Buckets are therefore matched by their midpoint.
    pub fn without(&self, other: &Self) -> Result<Self, String> {
        let mut rest = self.clone();
        for part in other.buckets.iter().filter(|part| part.count > 0) {
            let middle = f64::midpoint(part.start, part.end);
            let holds = |whole: &&mut Bucket| {
                whole.start <= middle && middle <= whole.end && whole.count >= part.count
            };
            let whole = rest.buckets.iter_mut().find(holds).ok_or_else(|| {
                format!(
                    "{} failed requests around {middle} us are not among all",
                    part.count
                )
            })?;
            whole.count -= part.count;
        }
        Ok(rest)
    }
}

/// The requests of several histograms, whose buckets may differ.
#[derive(Clone, Copy, Debug)]
pub struct Merged<'a>(pub &'a [&'a Histogram]);

impl Merged<'_> {
    /// The number of all requests.
    pub fn count(&self) -> u64 {
        self.0.iter().map(|histogram| histogram.count()).sum()
    }

    /// The latency below which `share` (0 to 1) of all requests stayed, in microseconds. As in
    /// [`Histogram::percentile`], requests are assumed to be spread evenly over their bucket, so
    /// that the edges of other histograms can divide them. `None` without requests.
    pub fn percentile(&self, share: f64) -> Option<f64> {
        let occupied = || {
            let buckets = self.0.iter().flat_map(|histogram| &histogram.buckets);
            buckets.filter(|bucket| bucket.count > 0)
        };
        let below = |requests: fn(&Bucket, f64) -> f64, at: f64| -> f64 {
            occupied().map(|bucket| requests(bucket, at)).sum()
        };
        let mut edges: Vec<f64> = occupied().flat_map(|b| [b.start, b.end]).collect();
        edges.sort_by(f64::total_cmp);
        edges.dedup();
        let rank = share.clamp(0.0, 1.0) * self.count() as f64;
        let at = edges.partition_point(|edge| below(Bucket::up_to, *edge) < rank);
        // Because of rounding, the sums may miss the rank of the largest latency.
        let high = *edges.get(at).or(edges.last())?;
        let Some(low) = at.checked_sub(1).map(|before| edges[before]) else {
            return Some(high);
        };
        let (before, reached) = (below(Bucket::up_to, low), below(Bucket::before, high));
        let inside = (rank - before) / (reached - before);
        // All other requests are at the edge itself.
        let is_between = reached > before && (0.0..1.0).contains(&inside);
        Some(if is_between {
            low + inside * (high - low)
        } else {
            high
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn histogram(edges_and_counts: &[(f64, f64, u64)]) -> Histogram {
        let bucket = |&(start, end, count): &(f64, f64, u64)| Bucket { start, end, count };
        Histogram::new(edges_and_counts.iter().map(bucket).collect()).unwrap()
    }

    #[test]
    fn a_percentile_is_interpolated_inside_its_bucket() {
        let histogram = histogram(&[(0.0, 10.0, 5), (10.0, 30.0, 5)]);
        assert_eq!(histogram.percentile(0.25), Some(5.0));
        assert_eq!(histogram.percentile(0.75), Some(20.0));
        assert_eq!(histogram.percentile(1.0), Some(30.0));
    }

    #[test]
    fn the_width_is_that_of_the_bucket_that_holds_the_percentile() {
        let histogram = histogram(&[(0.0, 10.0, 4), (10.0, 20.0, 0), (20.0, 60.0, 6)]);
        assert_eq!(histogram.width_at(0.25), Some(10.0));
        assert_eq!(histogram.width_at(0.75), Some(40.0));
        assert_eq!(Histogram::default().width_at(0.5), None);
    }

    #[test]
    fn parts_with_narrower_edges_are_merged_bucket_by_bucket() {
        let one = histogram(&[(0.0, 10.0, 5), (10.0, 17.0, 2)]);
        let other = histogram(&[(3.0, 10.0, 1), (10.0, 20.0, 4), (20.0, 21.0, 1)]);
        let expected = histogram(&[(0.0, 10.0, 6), (10.0, 20.0, 6), (20.0, 21.0, 1)]);
        assert_eq!(Histogram::joined(&[one, other]), expected);
    }

    #[test]
    fn an_empty_histogram_has_no_percentile() {
        assert_eq!(Histogram::default().percentile(0.5), None);
    }

    #[test]
    fn a_part_with_narrower_edges_is_subtracted_from_its_bucket() {
        let all = histogram(&[(0.0, 10.0, 5), (10.0, 30.0, 5)]);
        let part = histogram(&[(12.0, 17.0, 2)]);
        assert_eq!(
            all.without(&part).unwrap(),
            histogram(&[(0.0, 10.0, 5), (10.0, 30.0, 3)])
        );
    }

    #[test]
    fn subtracting_more_than_a_histogram_holds_fails() {
        let all = histogram(&[(0.0, 10.0, 5)]);
        assert!(all.without(&histogram(&[(0.0, 10.0, 6)])).is_err());
        assert!(all.without(&histogram(&[(50.0, 60.0, 1)])).is_err());
    }

    #[test]
    fn bucket_edges_must_be_latencies_in_order() {
        let bucket = |start, end| Bucket {
            start,
            end,
            count: 1,
        };
        assert!(Histogram::new(vec![bucket(5.0, 1.0)]).is_err());
        assert!(Histogram::new(vec![bucket(-1.0, 1.0)]).is_err());
        assert!(Histogram::new(vec![bucket(0.0, f64::NAN)]).is_err());
        assert!(Histogram::new(vec![bucket(5.0, 6.0), bucket(1.0, 2.0)]).is_err());
    }

    prop_compose! {
        fn any_histogram()(
            steps in prop::collection::vec((0.0..100.0f64, 0.0..100.0f64, 0u64..1000), 1..30)
        ) -> Histogram {
            let mut edge = 0.0;
            let bucket = |(gap, width, count)| {
                let start = edge + gap;
                edge = start + width;
                Bucket { start, end: edge, count }
            };
            Histogram::new(steps.into_iter().map(bucket).collect()).unwrap()
        }
    }

    #[test]
    fn a_slow_tenth_of_trials_shows_in_the_tail_of_all_requests() {
        let quick = histogram(&[(90.0, 100.0, 1000)]);
        let slow = histogram(&[(90.0, 100.0, 500), (900.0, 1000.0, 500)]);
        let trials = [&quick, &quick, &quick, &quick, &slow];
        let mut p99: Vec<f64> = trials.map(|trial| trial.percentile(0.99).unwrap()).into();
        p99.sort_by(f64::total_cmp);
        assert!(p99[2] < 100.0, "the median of the trials");
        let all = Merged(&trials);
        assert_eq!(all.count(), 5000);
        assert!((all.percentile(0.99).unwrap() - 990.0).abs() < 1e-6);
        assert!((all.percentile(0.5).unwrap() - 95.555).abs() < 1e-2);
    }

    #[test]
    fn requests_of_one_latency_are_a_step() {
        let edge = histogram(&[(10.0, 10.0, 5), (40.0, 40.0, 5)]);
        let all = Merged(&[&edge, &edge]);
        assert_eq!(all.percentile(0.2), Some(10.0));
        assert_eq!(all.percentile(0.7), Some(40.0));
        assert_eq!(all.percentile(1.0), Some(40.0));
        let nothing = Histogram::default();
        assert_eq!(Merged(&[&nothing]).percentile(0.5), None);
        assert_eq!(Merged(&[]).percentile(0.5), None);
    }

    proptest! {
        #[test]
        fn copies_of_a_histogram_merge_to_the_same_percentiles(
            histogram in any_histogram(), share in 0.0..=1.0f64, times in 1usize..4
        ) {
            let again = vec![&histogram; times];
            match (Merged(&again).percentile(share), histogram.percentile(share)) {
                // Any latency between two buckets has the same share below it.
                (Some(merged), Some(own)) => {
                    let rank = |at| histogram.buckets.iter().map(|b| b.up_to(at)).sum::<f64>();
                    let apart = (rank(merged) - rank(own)).abs();
                    prop_assert!(apart <= 1e-6 * histogram.count() as f64, "{merged} {own}");
                }
                (merged, own) => prop_assert_eq!(merged, own),
            }
        }

        #[test]
        fn merged_percentiles_lie_between_those_of_the_parts(
            one in any_histogram(), other in any_histogram(), share in 0.01..=0.99f64
        ) {
            let own = [&one, &other].map(|part| part.percentile(share));
            if let [Some(one_at), Some(other_at)] = own {
                let merged = Merged(&[&one, &other]).percentile(share).unwrap();
                let (low, high) = (one_at.min(other_at), one_at.max(other_at));
                let room = 1e-6 * high;
                prop_assert!(low - room <= merged && merged <= high + room, "{own:?} {merged}");
            }
        }

        #[test]
        fn percentiles_stay_within_the_bounds_and_rise(
            histogram in any_histogram(), one in 0.0..=1.0f64, other in 0.0..=1.0f64
        ) {
            prop_assume!(histogram.count() > 0);
            let (low, high) = (one.min(other), one.max(other));
            let at = |share| histogram.percentile(share).unwrap();
            let occupied = || histogram.buckets.iter().filter(|b| b.count > 0);
            prop_assert!(at(low) <= at(high) + 1e-9);
            prop_assert!(occupied().next().unwrap().start <= at(low) + 1e-9);
            prop_assert!(at(high) <= occupied().next_back().unwrap().end + 1e-9);
        }

        #[test]
        fn a_histogram_minus_itself_is_empty(histogram in any_histogram()) {
            prop_assert_eq!(histogram.without(&histogram).map(|rest| rest.count()), Ok(0));
        }
    }
}
