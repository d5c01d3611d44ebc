package compare

import (
	"strconv"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
)

// findings collects what a comparison finds.
type findings struct {
	result  Result
	bound   *ident.Bindings
	masker  *Masker
	tallies map[message]*tally
	tallied []*tally // in the order in which they came
}

// add keeps a difference. The excerpts of its values show no tokens.
func (f *findings) add(d diff.Difference) {
	if !f.admit(&d) {
		return
	}
	d.Fingerprint = f.fingerprint(&d)
	d.Reason = f.masker.reason(d.Reason)
	d.Ref, d.Cand = diff.Cut(f.masker.Mask(d.Ref.Text), f.masker.Mask(d.Cand.Text))
	f.result.Differences = append(f.result.Differences, d)
}

// notCompared counts what was recorded but not compared.
func (f *findings) notCompared(reason string, n int) {
	if n > 0 {
		ident.Put(&f.result.NotCompared, reason, f.result.NotCompared[reason]+n)
	}
}

// refuse keeps a rejected rule, once.
func (f *findings) refuse(r jsondiff.Refusal) {
	for _, other := range f.result.Refused {
		if other.Rule == r.Rule && other.Kind == r.Kind {
			return
		}
	}
	f.result.Refused = append(f.result.Refused, r)
}

// fingerprint returns the fingerprint of a difference. If the texts do not say enough, d.Fingerprint already is a
// digest of the values.
func (f *findings) fingerprint(d *diff.Difference) string {
	values, bare := d.Fingerprint, f.bound.Skeletons()
	if values == "" {
		values = diff.Digest(bare.Of(0, d.Ref.Text), bare.Of(1, d.Cand.Text))
	}
	place := d.At.InEveryRun()
	if d.Stream != "" {
		place = diff.Unnumbered(place)
	}
	if stem := bare.Of(0, place); stem != place || f.bound.Vocabulary.Mentions(1, place) {
		place = bare.Of(1, stem)
	}
	return diff.Fingerprint("difference", string(d.Kind), place, values)
}

// nameIDs puts names into the sentences about confused ids, and lists the names of the ids in differences.
func (f *findings) nameIDs() {
	if len(f.result.Differences) == 0 {
		return
	}
	n := ident.NewNamer(f.bound)
	for i := range f.result.Differences {
		d := &f.result.Differences[i]
		if why, ok := n.Confusion(d); ok && f.masker.Mask(why.Text()) == why.Text() {
			d.Reason = why
		}
		n.Mention(0, d.Ref.String())
		n.Mention(1, d.Cand.String())
	}
	for _, name := range n.Used() {
		if both := name.Reference + "\n" + name.Candidate; f.masker.Mask(both) == both { // a secret must not get a name
			f.result.Names = append(f.result.Names, name)
		}
	}
}

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
