package compare

import (
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// runs are the transcripts of both sides.
type runs struct{ sides [2]*transcript.Transcript }

// seen returns when something was seen on each side, given the offsets.
func (r runs) seen(ref, cand time.Duration) [2]time.Time {
	return [2]time.Time{r.sides[0].Started.Add(ref), r.sides[1].Started.Add(cand)}
}
