package compare

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// offCadence returns the first request that a target sent again too early or too late; nil when there is none. Delays of
// the machine extend the tolerance.
func offCadence(t *transcript.Transcript, s *transcript.Step) *Unmet {
	if s.Cadence == nil {
		return nil
	}
	c, xs := s.Cadence, s.Exchanges
	before := slices.IndexFunc(t.Upstream, func(o transcript.Step) bool { return o.ID == c.Since })
	if before >= 0 && len(t.Upstream[before].Exchanges) > 0 {
		all := t.Upstream[before].Exchanges
		xs = append([]*transcript.Exchange{all[len(all)-1]}, xs...)
	}
	skipped := len(xs) - len(s.Exchanges)
	for i := 1; i < len(xs); i++ {
		from, due := endOf(t, xs[i-1]), c.Due(i)
		got := xs[i].Sent - from
		stalled := t.MachineDelay(from, from+due, xs[i].Sent)
		text := ""
		switch {
		case got > due+c.Tolerance+stalled:
			text = "the target asked again too late"
		case got < due-c.Tolerance-stalled:
			text = "the target asked again too early"
		default:
			continue
		}
		return &Unmet{
			Kind: UpstreamCadence, Step: s.ID, Exchange: i - skipped, Event: -1, Place: fmt.Sprintf("request %d", i-skipped+1),
			Want: fmt.Sprintf("%s after the end of the response before, give or take %s", due, c.Tolerance), Got: got.Round(time.Millisecond).String(), Text: text,
		}
	}
	return nil
}

// endOf returns when a response ended for its client. A client can ask again as soon as a socket is closed by close
// frames, even if it ends the connection later.
func endOf(t *transcript.Transcript, x *transcript.Exchange) time.Duration {
	var closed [2]time.Duration // by the target, by the stub
	for _, s := range t.Streams {
		for i := range s.Events {
			if ev := &s.Events[i]; s.Name == x.Stream && ev.Item == transcript.ItemClose {
				if ev.Sent {
					closed[1] = ev.At
				} else {
					closed[0] = ev.At
				}
			}
		}
	}
	if x.Stream == "" || closed[0] == 0 || closed[1] == 0 {
		return x.Done
	}
	return min(x.Done, max(closed[0], closed[1]))
}
