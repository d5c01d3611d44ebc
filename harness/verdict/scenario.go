package verdict

import (
	"fmt"
	"maps"
	"slices"

	"github.com/lockstep-dev/lockstep/harness/transcript"
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
	// Repeated is set when the scenario ran more than once. Then all other fields are about the worst of its runs.
	Repeated *Repeated `json:"repeated,omitempty"`
	Targets  []Target  `json:"targets"` // what each target did, the reference first
	Compared Compared  `json:"compared"`
	// Names are the names of the ids that differences mention.
	Names  []Name `json:"names,omitempty"`
	Millis int64  `json:"ms"` // how long it took on the slowest target
	// assumed is what the check over the whole run uses, see Constants.
	assumed assumed
	// Applied are the rules that selected something for any candidate, by their names in compare.Result.
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
	Kind   string   `json:"kind,omitempty"` // for a refused rule: a jsondiff.RefusalKind
	Log    []string `json:"log,omitempty"`  // the target's last lines, if they may help
}

// A Target is what one target did in a scenario.
type Target struct {
	Name      string `json:"name"`
	Exchanges int    `json:"exchanges"` // number of responses
	transcript.Tally
	Success int `json:"success"` // responses with a 2xx status, and those that open a socket
	// Unauthorized counts responses with status 401: the request lacked credentials, or had wrong ones.
	Unauthorized int `json:"unauthorized,omitempty"`
	Calls        int `json:"calls,omitempty"`    // what a driver was told to do, if it answered
	Done         int `json:"done,omitempty"`     // calls without an error
	Upstream     int `json:"upstream,omitempty"` // requests that it has sent to stubs
	// Waited is how many milliseconds of a scenario the machine kept it waiting, unless that is negligible. There is no
	// sum for a whole run, because scenarios wait at the same time.
	Waited int64 `json:"waited_ms,omitempty"`
}

// Compared counts the compared pairs.
type Compared struct {
	Exchanges int `json:"exchanges"`
	transcript.Tally
	NotCompared map[string]int `json:"not_compared,omitempty"` // by reason
	// Unnamed counts, by field, responses with different values of a header field that no rule names.
	Unnamed map[string]int `json:"unnamed_headers,omitempty"`
}

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

// maxUnnamed limits how many names of header fields a judgement keeps, because a server can generate them.
const maxUnnamed = 500

// add adds the counts of another comparison.
func (c *Compared) add(other *Compared) {
	c.Exchanges += other.Exchanges
	c.Add(other.Tally)
	for reason, n := range other.NotCompared {
		c.leaveOut(reason, n)
	}
	for _, name := range slices.Sorted(maps.Keys(other.Unnamed)) { // sorted, so that the same run keeps the same names
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

// A Repeated sums up the runs of a scenario that ran several times.
type Repeated struct {
	Of      int `json:"of"`      // number of runs
	Differ  int `json:"differ"`  // number of runs that differ
	Unknown int `json:"unknown"` // number of runs that could not be judged
	Shown   int `json:"shown"`   // number of the run that the scenario shows, from 1
}

// Count counts the verdict of a run.
func (r *Repeated) Count(v Verdict) {
	r.Of++
	switch v {
	case Differ:
		r.Differ++
	case Unknown:
		r.Unknown++
	}
}

// Consistent reports whether all runs had the same verdict.
func (r *Repeated) Consistent() bool {
	return r.Differ+r.Unknown == 0 || r.Differ == r.Of || r.Unknown == r.Of
}

// Steady reports whether all runs were red in the same way: all differ, or none could be judged.
func (r *Repeated) Steady() bool { return r.Consistent() && r.Differ+r.Unknown > 0 }

// String says how many of the runs differ: "2 of 5 differ, 1 is unknown".
func (r *Repeated) String() string {
	text := fmt.Sprintf("%d of %d differ", r.Differ, r.Of)
	if r.Unknown > 0 {
		text += fmt.Sprintf(", %d unknown", r.Unknown)
	}
	return text
}
