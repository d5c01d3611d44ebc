package verdict

import (
	"fmt"
	"slices"
	"strings"
)

// A BlameMatrix sorts findings by two questions: do the targets differ there, and which of them breaks the contract?
// The answer says what to fix: the candidate, the reference, both, or the contract.
//
// A violation that explains a difference is listed with it. Any other violation is in the row where the targets are
// equal. It counts for both sides if the other side breaks the same schema in the same place in the same way. It counts
// for one side if its place was not compared.
//
// Unmet expectations are not in the matrix, because the scenario demands them and not the contract. Without a
// reference, the matrix is empty.
type BlameMatrix struct {
	Differ BlameRow `json:"differ,omitzero"`
	Equal  BlameRow `json:"equal,omitzero"`
}

// A BlameRow has a cell for each blame. Where targets are equal, the contract decides.
type BlameRow struct {
	Candidate []BlameEntry `json:"candidate,omitempty"`
	Reference []BlameEntry `json:"reference,omitempty"`
	Both      []BlameEntry `json:"both,omitempty"`
	Silent    []BlameEntry `json:"contract_silent,omitempty"`
	Outside   []BlameEntry `json:"not_in_contract,omitempty"`
}

// A BlameEntry is one problem in a cell.
type BlameEntry struct {
	Scenario string `json:"scenario"`
	Target   string `json:"target"` // the candidate, whatever the blame
	// Findings are the indexes of its findings in the scenario. These are a difference and the violations that explain
	// it, or one violation, or the same violation of the reference and the candidate.
	Findings []int `json:"findings"`
}

func (r *BlameRow) entries(b Blame) *[]BlameEntry {
	switch b {
	case BlameCandidate:
		return &r.Candidate
	case BlameReference:
		return &r.Reference
	case BlameBoth:
		return &r.Both
	case BlameOutside:
		return &r.Outside
	default:
		return &r.Silent
	}
}

func (r *BlameRow) add(b Blame, t BlameEntry) {
	cell := r.entries(b)
	*cell = append(*cell, t)
}

// blames is the order of the cells in a row.
var blames = []Blame{BlameCandidate, BlameReference, BlameBoth, BlameNobody, BlameOutside}

// String counts the entries: "differ: candidate 3, contract silent 1 · equal: both 2"; "" when there are none.
func (c BlameMatrix) String() string {
	var rows []string
	for _, row := range []struct {
		name string
		BlameRow
	}{{"differ", c.Differ}, {"equal", c.Equal}} {
		var counts []string
		for _, b := range blames {
			if n := len(*row.entries(b)); n > 0 {
				counts = append(counts, fmt.Sprintf("%s %d", b, n))
			}
		}
		if counts != nil {
			rows = append(rows, row.name+": "+strings.Join(counts, ", "))
		}
	}
	return strings.Join(rows, " · ")
}

// Filter returns the matrix of some of the scenarios.
func (c BlameMatrix) Filter(is func(scenario string) bool) BlameMatrix {
	some := func(r BlameRow) (out BlameRow) {
		for _, b := range blames {
			for _, t := range *r.entries(b) {
				if is(t.Scenario) {
					out.add(b, t)
				}
			}
		}
		return out
	}
	return BlameMatrix{some(c.Differ), some(c.Equal)}
}

// add adds the findings of a scenario, separately for each candidate.
func (c *BlameMatrix) add(s *Scenario) {
	for i := 1; i < len(s.Targets); i++ {
		c.pair(s, s.Targets[0].Name, s.Targets[i].Name)
	}
}

// pair adds the findings of a scenario about the reference and one candidate.
func (c *BlameMatrix) pair(s *Scenario, reference, candidate string) {
	explained := map[int]bool{}
	for i := range s.Findings {
		d := &s.Findings[i]
		if d.Class != Difference || d.Target != candidate {
			continue
		}
		t := BlameEntry{s.ID, candidate, []int{i}}
		for k := range s.Findings {
			if s.Findings[k].explains(d, reference) {
				t.Findings = append(t.Findings, k)
				explained[k] = true
			}
		}
		c.Differ.add(d.InSummary(), t)
	}
	alone := func(target string) (out []int) {
		for i := range s.Findings {
			if f := &s.Findings[i]; f.Class == Violation && f.Target == target && !explained[i] {
				out = append(out, i)
			}
		}
		return out
	}
	c.equal(s, candidate, alone(reference), alone(candidate))
}

// equal adds violations that explain no difference. If both sides have the same violation, that is one entry.
func (c *BlameMatrix) equal(s *Scenario, candidate string, ref, cand []int) {
	for _, r := range ref {
		b, t := BlameReference, BlameEntry{s.ID, candidate, []int{r}}
		if k := slices.IndexFunc(cand, func(k int) bool { return s.Findings[r].sameViolation(&s.Findings[k]) }); k >= 0 {
			b, t.Findings = BlameBoth, append(t.Findings, cand[k])
			cand = slices.Delete(cand, k, k+1)
		}
		c.Equal.add(b, t)
	}
	for _, k := range cand {
		c.Equal.add(BlameCandidate, BlameEntry{s.ID, candidate, []int{k}})
	}
}

// explains reports whether a violation is one of the remarks against a side of a difference.
func (f *Finding) explains(d *Finding, reference string) bool {
	if f.Class != Violation || f.Step != d.Step || f.Stream != d.Stream || len(f.Contract) == 0 || !slices.Contains(d.Contract, f.Contract[0]) {
		return false
	}
	side := 1
	if f.Target == reference {
		side = 0
	}
	if f.Stream == "" {
		return f.exchange == d.Exchange(side)
	}
	return f.event == d.events[side]
}

// sameViolation reports whether violations of the reference and of a candidate are the same, apart from generated
// values.
func (f *Finding) sameViolation(g *Finding) bool {
	return f.Kind == g.Kind && f.Step == g.Step && f.Stream == g.Stream && (f.burst || f.exchange == g.exchange) && f.schema() == g.schema() &&
		f.scriptPlace() == g.scriptPlace()
}

func (f *Finding) schema() string {
	if len(f.Contract) == 0 {
		return ""
	}
	return f.Contract[0].Schema
}

// scriptPlace is the place of a finding in the script, without its target.
func (f *Finding) scriptPlace() string {
	if f.At == "" {
		return f.Place
	}
	return strings.TrimSuffix(f.At, " ("+string(f.Blame)+")")
}
