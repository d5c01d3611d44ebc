package verdict

import (
	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/harness/contract"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// ways are the kinds of difference that do not show in the two values alone.
var ways = map[compare.Kind]contract.How{
	compare.ElementMissing: contract.OtherLength,
	compare.ElementExtra:   contract.OtherLength,
	compare.OrderDiffers:   contract.OtherOrder,
	compare.EventMoved:     contract.OtherOrder,
	compare.IdentityBroken: contract.OtherIdentity,
	compare.IDForm:         contract.OtherForm,
}

// mostSilences bounds for how many differences of a scenario the contract is searched: a document that is another one
// from end to end differs in thousands of places.
const mostSilences = 200

// silence finds the place of the contract that admits both sides of a difference; nil when there is none.
func (j *judge) silence(i int, d *compare.Difference) *contract.Silence {
	if j.silences == nil {
		j.silences = j.Contract.Silences()
	}
	if j.silent++; j.silent > mostSilences {
		return nil
	}
	s, ok := j.silences.Of(&contract.Parting{
		Transcripts: [2]*transcript.Transcript{j.Transcripts[0], j.Transcripts[i]},
		Step:        d.Step, Exchange: d.Exchange, Stream: d.Stream, Events: d.Events, At: d.At, How: ways[d.Kind],
	})
	if !ok {
		return nil
	}
	s.Admits = j.veil.Over(s.Admits)
	s.Pin = j.veil.Over(s.Pin)
	return &s
}
