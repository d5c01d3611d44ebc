package mutate

import "github.com/lockstep-dev/lockstep/harness/transcript"

// A Mutant is what a candidate did, with one change.
type Mutant struct {
	Place  string // "step 3 body /id", "stream bus event 4 data /type"
	Before string // the old value, shortened; "" for nothing
	After  string
	// Build returns the changed transcript. It is called only for mutants that are judged.
	Build func() *transcript.Transcript

	site site
}

// A site describes the place of a mutant's change by everything that comparison rules can refer to.
type site struct {
	step    string
	stream  *transcript.Stream
	event   *transcript.Event
	header  string
	doc     *document // the changed document
	pointer string    // place of the changed value in the document
	framing bool
}

// mutant returns the mutant in which change is applied to a copy of the candidate's transcript.
func (s *Subject) mutant(at site, place, before, after string, change func(*transcript.Transcript)) Mutant {
	return Mutant{
		Place: place, Before: before, After: after, site: at,
		Build: func() *transcript.Transcript {
			t := clone(s.Candidate)
			change(t)
			return t
		},
	}
}

// excerpt shortens a text for a list.
func excerpt(text string) string {
	text, _ = excerpts(text, "")
	return text
}

// excerpts shortens two texts to the part around their first difference.
func excerpts(a, b string) (string, string) {
	const length, before = 60, 20
	from := 0
	for from < len(a) && from < len(b) && a[from] == b[from] {
		from++
	}
	if from = from - before; from < before {
		from = 0
	}
	cut := func(s string) string {
		start, end := min(from, len(s)), min(from+length, len(s))
		for start > 0 && start < len(s) && s[start]&0xc0 == 0x80 {
			start--
		}
		for end > start && end < len(s) && s[end]&0xc0 == 0x80 {
			end--
		}
		out := s[start:end]
		if start > 0 {
			out = "…" + out
		}
		if end < len(s) {
			out += "…"
		}
		return out
	}
	return cut(a), cut(b)
}
