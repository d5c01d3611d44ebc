package mutate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// A Score says which mutants were found, and which were not.
type Score struct {
	Seed uint64 `json:"seed"`
	// Mutants counts all mutants, and Judged those that were judged.
	Mutants int           `json:"mutants"`
	Judged  int           `json:"judged"`
	Took    time.Duration `json:"took_ns"` // for judging
	// Families has the families whose mutants matter, in the order of their operators.
	Families []Family `json:"families"`
	// Killed and Matter are the sums over Families.
	Killed int `json:"killed"`
	Matter int `json:"matter"`
	// Harmless counts the judged mutants that do not matter.
	Harmless    int    `json:"harmless"`
	FalseAlarms []Case `json:"false_alarms"`
	Survivors   []Case `json:"survivors"`
	// Waived counts the scenarios that were left out because findings in them are accepted.
	Waived int `json:"waived"`
	// Incomplete says why not all chosen mutants were judged; "" when they were.
	Incomplete string `json:"incomplete,omitempty"`
}

// A Family is a row of the table.
type Family struct {
	Name      string          `json:"name"`
	Killed    int             `json:"killed"`
	Judged    int             `json:"judged"`
	Operators []OperatorScore `json:"operators"`
}

// An OperatorScore is the result of one operator's mutants.
type OperatorScore struct {
	Name    string `json:"name"`
	Doc     string `json:"doc"`
	Matters bool   `json:"matters"`
	Mutants int    `json:"mutants"` // number of mutants
	Judged  int    `json:"judged"`
	Found   int    `json:"found"`
}

// A Case is a mutant that survives although it matters, or is found although it does not matter.
type Case struct {
	Operator string `json:"operator"`
	Scenario string `json:"scenario"`
	Target   string `json:"target"`
	Place    string `json:"place"`
	Before   string `json:"before"`
	After    string `json:"after"`
	// Hidden is the rule that hides a survivor. Found is the first finding of a false alarm.
	Hidden string `json:"hidden_by,omitempty"`
	Found  string `json:"found,omitempty"`
}

// Percent is the share of killed mutants among those that matter.
func (s *Score) Percent() float64 {
	if s.Matter == 0 {
		return 0
	}
	return 100 * float64(s.Killed) / float64(s.Matter)
}

// NewScore returns a score with a row for each operator.
func NewScore(operators []Operator, seed uint64) *Score {
	s := &Score{Seed: seed, FalseAlarms: []Case{}, Survivors: []Case{}}
	for _, op := range operators {
		if len(s.Families) == 0 || s.Families[len(s.Families)-1].Name != op.Family {
			s.Families = append(s.Families, Family{Name: op.Family})
		}
		f := &s.Families[len(s.Families)-1]
		f.Operators = append(f.Operators, OperatorScore{Name: op.Name, Doc: op.Doc, Matters: op.Matters})
	}
	return s
}

// Operator returns the row of an operator by its name.
func (s *Score) Operator(name string) *OperatorScore {
	for i := range s.Families {
		for k := range s.Families[i].Operators {
			if op := &s.Families[i].Operators[k]; op.Name == name {
				return op
			}
		}
	}
	return nil
}

// Conclude computes the sums, and sorts the cases, because they were judged in random order.
func (s *Score) Conclude() {
	s.Killed, s.Matter, s.Harmless, s.Judged, s.Mutants = 0, 0, 0, 0, 0
	for i := range s.Families {
		f := &s.Families[i]
		f.Killed, f.Judged = 0, 0
		for _, op := range f.Operators {
			s.Mutants += op.Mutants
			s.Judged += op.Judged
			if !op.Matters {
				s.Harmless += op.Judged
				continue
			}
			f.Killed += op.Found
			f.Judged += op.Judged
		}
		s.Killed += f.Killed
		s.Matter += f.Judged
	}
	for _, cases := range [][]Case{s.Survivors, s.FalseAlarms} {
		slices.SortFunc(cases, func(a, b Case) int {
			return cmp.Or(
				cmp.Compare(a.Operator, b.Operator), cmp.Compare(a.Hidden, b.Hidden), cmp.Compare(a.Scenario, b.Scenario),
				cmp.Compare(a.Place, b.Place), cmp.Compare(a.Before, b.Before), cmp.Compare(a.After, b.After),
			)
		})
	}
}

// JSON writes the score as one JSON document.
func (s *Score) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(s)
}

// Text writes the score for a person: a table of the families, then survivors, grouped by operator and rule, then false
// alarms. With verbose, it lists every case, and the operators.
func (s *Score) Text(w io.Writer, verbose bool) error {
	p := &printer{w: w}
	s.table(p, verbose)
	s.cases(p, "lives", s.Survivors, verbose)
	s.cases(p, "false alarm", s.FalseAlarms, verbose)
	p.line("%s", s.throughput())
	if s.Waived > 0 {
		p.line("left out: %d scenarios with findings that are accepted", s.Waived)
	}
	if s.Incomplete != "" {
		p.line("incomplete: %s", s.Incomplete)
	}
	p.line("killed %d of %d that matter: %s; %d of %d that do not were flagged", s.Killed, s.Matter, percent(s.Killed, s.Matter), len(s.FalseAlarms), s.Harmless)
	return p.err
}

func (s *Score) table(p *printer, verbose bool) {
	p.line("%-16s %9s  %s", "family", "killed", "of")
	for _, f := range s.Families {
		if f.Operators[0].Matters {
			p.line("%-16s %9d  %-8d %s", f.Name, f.Killed, f.Judged, percent(f.Killed, f.Judged))
		}
		if !verbose {
			continue
		}
		for _, op := range f.Operators {
			p.line("  %-24s %d found of %d judged, of %d: %s", op.Name, op.Found, op.Judged, op.Mutants, op.Doc)
		}
	}
	p.line("")
}

// cases writes cases. It groups those with the same operator and reason.
func (s *Score) cases(p *printer, what string, cases []Case, verbose bool) {
	const groups = 40
	shown := 0
	for i := 0; i < len(cases); {
		n := i + 1
		for n < len(cases) && cases[n].Operator == cases[i].Operator && cases[n].Hidden == cases[i].Hidden {
			n++
		}
		if shown++; shown > groups && !verbose {
			p.line("… and %d more; --verbose and --json have them all\n", len(cases)-i)
			return
		}
		p.line("%s: %s, %d×", what, cases[i].Operator, n-i)
		if hidden := cases[i].Hidden; hidden != "" {
			p.line("  hidden by: %s", hidden)
		}
		for k, c := range cases[i:n] {
			if k == 1 && !verbose {
				break
			}
			p.line("  %s (%s): %s", c.Scenario, c.Target, c.Place)
			p.line("    %s → %s", visible(c.Before), visible(c.After))
			if c.Found != "" {
				p.line("    found: %s", visible(c.Found))
			}
		}
		p.line("")
		i = n
	}
}

func (s *Score) throughput() string {
	line := fmt.Sprintf("judged %d of %d mutants in %.1f s", s.Judged, s.Mutants, s.Took.Seconds())
	if s.Took > 0 && s.Judged > 0 {
		line += fmt.Sprintf(", %d a minute", int(float64(s.Judged)/s.Took.Minutes()))
	}
	return line + fmt.Sprintf(" · seed %d", s.Seed)
}

func percent(n, of int) string {
	if of == 0 {
		return "—"
	}
	// Rounded down, so 100 % means all of them.
	return fmt.Sprintf("%.2f %%", float64(int(10000*float64(n)/float64(of)))/100)
}

// visible returns a value as one line with all special characters escaped; "—" for an empty value.
func visible(s string) string {
	if s == "" {
		return "—"
	}
	q := fmt.Sprintf("%+q", s)
	return strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`)
}

// A printer writes lines until a write fails.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}
