package verdict

import "fmt"

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

// Alike reports whether all runs came to the same.
func (r *Repeated) Alike() bool {
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
