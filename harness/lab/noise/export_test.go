package noise

import (
	"github.com/lockstep-dev/lockstep/harness/engine/runfile"
	"github.com/lockstep-dev/lockstep/harness/project"
)

// Heartbeats returns what noise reports about heartbeats.
func Heartbeats(p *project.Project, cases []*runfile.Case) []Heartbeat {
	s := &measurement{project: p, out: &Report{}, cases: cases}
	s.firstBeats()
	return s.out.Beats
}
