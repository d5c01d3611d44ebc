package compare

import (
	"strconv"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
)

// A message is an exchange or a stream. Differences are counted for each message.
type message struct {
	step, stream string
	exchange     int
}

// A tally counts the differences of a message.
type tally struct {
	message
	kept, more int
}

// tallyOf returns the tally that counts a difference.
func (f *findings) tallyOf(d *diff.Difference) *tally {
	m := message{d.Step, d.Stream, d.Exchange}
	if d.Stream != "" {
		m = message{stream: d.Stream}
	}
	t := f.tallies[m]
	if t == nil {
		t = &tally{message: m}
		ident.Put(&f.tallies, m, t)
		f.tallied = append(f.tallied, t)
	}
	return t
}

// admit counts a difference, and reports whether it will be listed.
func (f *findings) admit(d *diff.Difference) bool {
	t := f.tallyOf(d)
	switch {
	case d.Kind == diff.MoreDiffer:
		t.more += d.More
		return false
	case t.kept == jsondiff.MaxDifferences:
		t.more++
		return false
	}
	t.kept++
	return true
}

// reportRest adds one difference for each message with unlisted ones, which has their number.
func (f *findings) reportRest() {
	for _, t := range f.tallied {
		if t.more == 0 {
			continue
		}
		d := diff.Difference{
			Reason: diff.Because(diff.MoreDiffer, diff.MoreDifferences, t.more), Step: t.step, Exchange: t.exchange, Stream: t.stream, Events: [2]int{-1, -1},
			At: diff.At{Part: "all of it"}, Ref: diff.ShowSome(""), Cand: diff.ShowSome(""), Fingerprint: diff.Digest(strconv.Itoa(t.more)),
		}
		for i := range f.result.Differences { // next to the others of the stream
			if o := &f.result.Differences[i]; t.stream != "" && o.Stream == t.stream {
				d.Step, d.Exchange = o.Step, o.Exchange
			}
		}
		d.Fingerprint = f.fingerprint(&d)
		f.result.Differences = append(f.result.Differences, d)
	}
}
