package verdict

import (
	"fmt"
	"maps"
	"slices"
)

// A Scenario is the judgement of one scenario.
type Scenario struct {
	ID       string    `json:"id"`
	File     string    `json:"file"`
	Line     int       `json:"line"`
	Why      string    `json:"why"`
	Tags     []string  `json:"tags,omitempty"`
	Verdict  Verdict   `json:"verdict"`
	Reasons  []Reason  `json:"reasons,omitempty"` // why it is unknown
	Findings []Finding `json:"findings,omitempty"`
	// Repeated is set when the scenario was run more than once. All else is about the worst of its runs then.
	Repeated *Repeated `json:"repeated,omitempty"`
	Targets  []Target  `json:"targets"` // what each did, the reference first
	Compared Compared  `json:"compared"`
	// Names are the names of the ids that differences mention.
	Names  []Name `json:"names,omitempty"`
	Millis int64  `json:"ms"` // how long it took on the slowest target
	// assumed is what the check over the whole run looks at, see Constants.
	assumed assumed
	// Applied are the rules that selected something with any candidate, by what compare.Result calls them.
	Applied []string `json:"-"`
}

// A Name is the name of two ids that are bound to each other.
type Name struct {
	Target    string `json:"target"` // the candidate
	Name      string `json:"name"`   // "‹session 2›"
	Reference string `json:"reference"`
	Candidate string `json:"candidate"`
}

// A Reason says why a scenario could not be judged.
type Reason struct {
	Target string   `json:"target,omitempty"`
	Step   string   `json:"step,omitempty"`
	Line   int      `json:"line,omitempty"`
	Text   string   `json:"text"`
	Kind   string   `json:"kind,omitempty"` // of a rule that is refused: a jsondiff.RefusalKind
	Log    []string `json:"log,omitempty"`  // the target's last lines, when they may help
}

// A Target is what one target did in a scenario.
type Target struct {
	Name      string `json:"name"`
	Exchanges int    `json:"exchanges"`          // answers that came
	Events    int    `json:"events"`             // heartbeats aside
	Success   int    `json:"success"`            // answers with a 2xx status
	Upstream  int    `json:"upstream,omitempty"` // requests that it has sent to stubs
	// Waited is for how many milliseconds of a scenario the machine kept it from going on, when that is worth a word. How long
	// it waited in a whole run is not shown: scenarios wait at the same time.
	Waited int64 `json:"waited_ms,omitempty"`
}

// Compared counts pairs.
type Compared struct {
	Exchanges   int            `json:"exchanges"`
	Events      int            `json:"events"`
	NotCompared map[string]int `json:"not_compared,omitempty"` // by reason
	// Unnamed counts answers in which header fields differ that no rule names, by field.
	Unnamed map[string]int `json:"unnamed_headers,omitempty"`
}

// String describes a reason in one line.
func (r Reason) String() string {
	s := r.Text
	if r.Step != "" {
		s = fmt.Sprintf("step %s: %s", r.Step, s)
	}
	if r.Target != "" {
		s = r.Target + ": " + s
	}
	return s
}

// maxUnnamed bounds how many names of header fields a judgement keeps: a server can make them up.
const maxUnnamed = 500

// add adds up what was compared.
func (c *Compared) add(other *Compared) {
	c.Exchanges += other.Exchanges
	c.Events += other.Events
	for reason, n := range other.NotCompared {
		c.leaveOut(reason, n)
	}
	for _, name := range slices.Sorted(maps.Keys(other.Unnamed)) { // so that the same run keeps the same ones
		if c.Unnamed == nil {
			c.Unnamed = map[string]int{}
		}
		if _, known := c.Unnamed[name]; known || len(c.Unnamed) < maxUnnamed {
			c.Unnamed[name] += other.Unnamed[name]
		}
	}
}

// leaveOut counts what was not compared.
func (c *Compared) leaveOut(reason string, n int) {
	if c.NotCompared == nil {
		c.NotCompared = map[string]int{}
	}
	c.NotCompared[reason] += n
}

// Repeated says what came of a scenario that was run several times.
type Repeated struct {
	Of      int `json:"of"`      // runs
	Differ  int `json:"differ"`  // how many of them differ
	Unknown int `json:"unknown"` // how many could not be judged
	Shown   int `json:"shown"`   // which of them the scenario shows, from 1
}

// Count takes in the verdict of a run.
func (r *Repeated) Count(v Verdict) {
	r.Of++
	switch v {
	case Differ:
		r.Differ++
	case Unknown:
		r.Unknown++
	}
}

// Consistent reports whether all runs came to the same.
func (r *Repeated) Consistent() bool {
	return r.Differ+r.Unknown == 0 || r.Differ == r.Of || r.Unknown == r.Of
}

// String says how many of the runs differ: "2 of 5 differ, 1 is unknown".
func (r *Repeated) String() string {
	text := fmt.Sprintf("%d of %d differ", r.Differ, r.Of)
	if r.Unknown > 0 {
		text += fmt.Sprintf(", %d unknown", r.Unknown)
	}
	return text
}
