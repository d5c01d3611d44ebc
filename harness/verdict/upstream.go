package verdict

import (
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// upstream returns the name of the stub when a step is what one of its rules has answered.
func (j *judge) upstream(step string) string {
	if s := j.steps[step]; s == nil || s.Kind != "upstream" {
		return ""
	}
	name, _, _ := strings.Cut(step, ".")
	return name
}

// during returns the line of the step that was under way when a request was sent to a stub, on whichever target has sent
// it; that of the rule when none was.
func (j *judge) during(f *Finding) int {
	for _, t := range j.Transcripts {
		for i := range t.Upstream {
			if s := &t.Upstream[i]; s.ID == f.Step && len(s.Exchanges) > 0 {
				return under(t, s.Exchanges[min(max(f.exchange, 0), len(s.Exchanges)-1)].Sent)
			}
		}
	}
	return f.Line
}

// under returns the line of the last step that had begun by a time.
func under(t *transcript.Transcript, at time.Duration) int {
	line := 0
	for i := range t.Steps {
		if t.Steps[i].At <= at {
			line = t.Steps[i].Line
		}
	}
	return line
}
