package main

// Seen is what fortio's runner does not count: connections, answers that are none, and sizes.
type Seen struct {
	// Connections opened in the timed part, beyond those that were open before it.
	Connections int64
	// Announced counts the answers that announced the end of their connection.
	Announced int64
	// Resent counts the requests that were sent again, because their connection ended before the
	// service had received them, as far as its kernel acknowledged.
	Resent int64
	// Failures counts the requests without a complete answer, or with more than that.
	Failures Failures
	// Bytes of the bodies of successful answers.
	Bytes Sizes
}

// Sizes of bodies, in bytes.
type Sizes struct {
	Count, Sum, Min, Max int64
}

func (s *Seen) answer(bytes int64) { s.Bytes.add(Sizes{1, bytes, bytes, bytes}) }

func (s *Seen) add(other *Seen) {
	s.Connections += other.Connections
	s.Announced += other.Announced
	s.Resent += other.Resent
	for failure, count := range other.Failures {
		s.Failures[failure] += count
	}
	s.Bytes.add(other.Bytes)
}

func (s *Sizes) add(other Sizes) {
	if other.Count == 0 {
		return
	}
	if s.Count == 0 {
		*s = other
		return
	}
	s.Count += other.Count
	s.Sum += other.Sum
	s.Min = min(s.Min, other.Min)
	s.Max = max(s.Max, other.Max)
}
