package verdict

import (
	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/contract"
	"github.com/lockstep-dev/lockstep/harness/contract/specgap"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// differenceForms are the kinds of difference that cannot be seen in the two values alone.
var differenceForms = map[diff.Kind]specgap.How{
	diff.ElementMissing: specgap.OtherLength,
	diff.ElementExtra:   specgap.OtherLength,
	diff.OrderDiffers:   specgap.OtherOrder,
	diff.EventMoved:     specgap.OtherOrder,
	diff.IdentityBroken: specgap.OtherIdentity,
	diff.IDForm:         specgap.OtherForm,
}

// maxSearches limits for how many differences of a scenario the contract is searched, because two completely different
// documents differ in thousands of places.
const maxSearches = 200

// A gapFinder finds the places of the contract that allow both sides of a difference.
type gapFinder struct {
	contract *contract.Document
	masker   *compare.Masker
	finder   *specgap.Finder
	searches int
}

// find returns the place of the contract that allows both sides of a difference, or nil.
func (g *gapFinder) find(ref, cand *transcript.Transcript, d *diff.Difference) *specgap.Gap {
	if g.finder == nil {
		g.finder = specgap.NewFinder(g.contract.Document)
	}
	if g.searches++; g.searches > maxSearches {
		return nil
	}
	s, ok := g.finder.Find(&specgap.Divergence{
		Transcripts: [2]*transcript.Transcript{ref, cand},
		Step:        d.Step, Exchange: d.Exchange, Stream: d.Stream, Events: d.Events, At: [2]string{d.At.InContract(0), d.At.InContract(1)}, How: differenceForms[d.Kind],
	})
	if !ok {
		return nil
	}
	s.Admits = g.masker.Mask(s.Admits)
	s.Pin = g.masker.Mask(s.Pin)
	return &s
}
