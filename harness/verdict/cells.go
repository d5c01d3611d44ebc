package verdict

import (
	"fmt"
	"slices"
	"strings"
)

// Cells sort what was found by two questions: do the targets differ there, and who is outside the contract? That tells
// what to mend: the candidate, the reference, both, or the contract.
//
// A violation that explains a difference is told with it. One that no difference has to do with stands where the targets
// are equal: of both when the other side breaks the same schema at the same place in the same way, and of one side alone
// when nobody has compared what is wrong. To be equal and both inside is nothing to tell.
//
// Shortfalls are in no cell: it is the scenario that they are held against. Nor are there cells without a reference.
type Cells struct {
	Differ Row `json:"differ,omitzero"`
	Equal  Row `json:"equal,omitzero"`
}

// A Row has a cell for each answer to who is outside. Where targets are equal, the contract is never silent.
type Row struct {
	Candidate []Told `json:"candidate,omitempty"`
	Reference []Told `json:"reference,omitempty"`
	Both      []Told `json:"both,omitempty"`
	Silent    []Told `json:"contract_silent,omitempty"`
}

// Told is one thing in a cell.
type Told struct {
	Scenario string `json:"scenario"`
	Target   string `json:"target"` // the candidate, whoever is outside
	// Findings are the indexes of the scenario's findings that tell it: a difference and then the violations that explain
	// it, or one violation, or the reference's and the candidate's that are alike.
	Findings []int `json:"findings"`
}

// cell returns the cell of an answer.
func (r *Row) cell(b Blame) *[]Told {
	switch b {
	case BlameCandidate:
		return &r.Candidate
	case BlameReference:
		return &r.Reference
	case BlameBoth:
		return &r.Both
	default:
		return &r.Silent
	}
}

func (r *Row) put(b Blame, t Told) {
	cell := r.cell(b)
	*cell = append(*cell, t)
}

// blames is the order in which reports have the cells of a row.
var blames = []Blame{BlameCandidate, BlameReference, BlameBoth, BlameNobody}

// String counts what is in the cells: "differ: candidate 3, contract silent 1 · equal: both 2"; "" when there is nothing.
func (c Cells) String() string {
	var rows []string
	for _, row := range []struct {
		name string
		Row
	}{{"differ", c.Differ}, {"equal", c.Equal}} {
		var counts []string
		for _, b := range blames {
			if n := len(*row.cell(b)); n > 0 {
				counts = append(counts, fmt.Sprintf("%s %d", b, n))
			}
		}
		if counts != nil {
			rows = append(rows, row.name+": "+strings.Join(counts, ", "))
		}
	}
	return strings.Join(rows, " · ")
}

// Of returns the cells with what is told of the scenarios that are asked for.
func (c Cells) Of(is func(scenario string) bool) Cells {
	some := func(r Row) (out Row) {
		for _, b := range blames {
			for _, t := range *r.cell(b) {
				if is(t.Scenario) {
					out.put(b, t)
				}
			}
		}
		return out
	}
	return Cells{some(c.Differ), some(c.Equal)}
}

// add takes in what a scenario shows, of each candidate by itself.
func (c *Cells) add(s *Scenario) {
	for i := 1; i < len(s.Targets); i++ {
		c.pair(s, s.Targets[0].Name, s.Targets[i].Name)
	}
}

// pair takes in what a scenario shows of the reference and a candidate.
func (c *Cells) pair(s *Scenario, reference, candidate string) {
	explained := map[int]bool{}
	for i := range s.Findings {
		d := &s.Findings[i]
		if d.Class != Difference || d.Target != candidate {
			continue
		}
		t := Told{s.ID, candidate, []int{i}}
		for k := range s.Findings {
			if s.Findings[k].explains(d, reference) {
				t.Findings = append(t.Findings, k)
				explained[k] = true
			}
		}
		c.Differ.put(d.Blame, t)
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

// equal takes in violations that no difference has to do with. Those that are alike are told in pairs.
func (c *Cells) equal(s *Scenario, candidate string, ref, cand []int) {
	for _, r := range ref {
		b, t := BlameReference, Told{s.ID, candidate, []int{r}}
		if k := slices.IndexFunc(cand, func(k int) bool { return s.Findings[r].alike(&s.Findings[k]) }); k >= 0 {
			b, t.Findings = BlameBoth, append(t.Findings, cand[k])
			cand = slices.Delete(cand, k, k+1)
		}
		c.Equal.put(b, t)
	}
	for _, k := range cand {
		c.Equal.put(BlameCandidate, Told{s.ID, candidate, []int{k}})
	}
}

// explains reports whether a violation is one of those that the contract has against a side of a difference.
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

// alike reports whether two violations, of the reference and of a candidate, say the same but for what a target has made
// up.
func (f *Finding) alike(g *Finding) bool {
	return f.Kind == g.Kind && f.Step == g.Step && f.Stream == g.Stream && (f.burst || f.exchange == g.exchange) && f.schema() == g.schema() &&
		f.spot() == g.spot()
}

func (f *Finding) schema() string {
	if len(f.Contract) == 0 {
		return ""
	}
	return f.Contract[0].Schema
}

// spot is where in the script a finding is, whomever it is about.
func (f *Finding) spot() string {
	if f.At == "" {
		return f.Place
	}
	return strings.TrimSuffix(f.At, " ("+string(f.Blame)+")")
}
