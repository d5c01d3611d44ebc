package verdict

import (
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/compare"
	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/contract"
	"github.com/lockstep-dev/lockstep/harness/contract/schema"
	"github.com/lockstep-dev/lockstep/harness/contract/spec"
	"github.com/lockstep-dev/lockstep/harness/contract/specgap"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// difference makes a finding of a difference between the reference and a candidate, with the related violations of each
// side.
func (j *judge) difference(i int, d diff.Difference, outside [2][]contract.Violation) Finding {
	f := Finding{
		Class: Difference, Kind: string(d.Kind), Step: d.Step, Target: j.Transcripts[i].Target, Stream: d.Stream,
		Place: d.At.String(), stablePlace: d.At.InEveryRun(), Text: d.Text(), Element: d.At.Element, Reference: d.Ref.String(), Candidate: d.Cand.String(),
		Fingerprint: d.Fingerprint, exchange: d.Exchange, exchanges: d.Exchanges, event: max(d.Events[0], d.Events[1]), events: d.Events, arrivals: arrivals(j.Transcripts[0], j.Transcripts[i], d),
	}
	refWords, candWords := remarks(j.Transcripts[0].Target, outside[0]), remarks(f.Target, outside[1])
	f.Contract = append(refWords, candWords...)
	switch {
	case len(refWords) > 0 && len(candWords) > 0:
		f.Blame = BlameBoth
	case len(candWords) > 0:
		f.Blame = BlameCandidate
	case len(refWords) > 0:
		f.Blame = BlameReference
	case j.Contract.IsAbsent():
		f.Blame = BlameOutside
	case j.script.stubOf(d.Step) != "":
		f.Blame = BlameNobody // the contract says nothing about requests to upstreams
	default:
		f.Blame, f.SpecGap = BlameNobody, j.gaps.find(j.Transcripts[0], j.Transcripts[i], &d)
	}
	return f
}

func remarks(target string, vs []contract.Violation) []Remark {
	var out []Remark
	for _, v := range vs {
		out = append(out, Remark{target, v.Place, v.Text, v.Schema, v.Line})
	}
	return out
}

// relevantViolations returns a side's violations that are related to a difference, at its place or around it. An
// invalid date says nothing about a title that differs next to it.
func relevantViolations(d diff.Difference, all []diff.Difference, vs, others []contract.Violation, side int) []contract.Violation {
	var out []contract.Violation
	for _, v := range vs {
		if sameMessage(d, v, side) && (spoilsMessage[v.Kind] || atSamePlace(d, v, side) || followsStatus(d, v, all, others, side)) {
			out = append(out, v)
		}
	}
	return out
}

// sameMessage reports whether a violation is in the response or event that a difference is about.
func sameMessage(d diff.Difference, v contract.Violation, side int) bool {
	if d.Stream != "" {
		return v.Stream == d.Stream && d.Events[side] >= 0 && v.Event == d.Events[side]
	}
	return v.Stream == "" && v.Step == d.Step && d.Exchange >= 0 && v.Exchange == d.Exchanges[side]
}

func atSamePlace(d diff.Difference, v contract.Violation, side int) bool {
	return within(v.Place, d.At.InContract(side)) || within(d.At.InContract(side), v.Place)
}

// followsStatus reports whether a violation only follows from another status, because the status decides which schema
// the body has to obey. Then the other side obeys the contract at that place with the same content.
func followsStatus(d diff.Difference, v contract.Violation, all []diff.Difference, others []contract.Violation, side int) bool {
	if d.Kind != diff.StatusDiffers {
		return false
	}
	return !slices.ContainsFunc(others, func(o contract.Violation) bool {
		return sameMessage(d, o, 1-side) && o.Place == v.Place
	}) && !slices.ContainsFunc(all, func(o diff.Difference) bool {
		return o.Kind != diff.StatusDiffers && sameMessage(o, v, side) && atSamePlace(o, v, side)
	})
}

// spoilsMessage are the violations that concern the whole message, whatever their place.
var spoilsMessage = map[contract.Kind]bool{
	spec.UndocumentedStatus:    true,
	spec.UndocumentedMediaType: true,
	spec.MissingBody:           true,
	spec.UndocumentedBody:      true,
	schema.JSONSyntax:          true,
	schema.JSONTrailingText:    true,
	spec.UndocumentedEvent:     true,
	spec.UndocumentedComment:   true,
	spec.EventData:             true,
}

// within reports whether a place is inside of another one, or the same: "body/error/code" is in "body/error", and in
// "body"; "event data" is in "event". Names of header fields are compared without case.
func within(place, other string) bool {
	if strings.HasPrefix(place, "header ") {
		return strings.EqualFold(place, other)
	}
	rest, in := strings.CutPrefix(place, other)
	return in && (rest == "" || rest[0] == '/' || rest[0] == ' ')
}

// blameOf returns the blame for something that one target did on its own.
func (j *judge) blameOf(i int) Blame {
	if i == 0 && !j.Alone {
		return BlameReference
	}
	return BlameCandidate
}

// violation makes a finding of a violation. labels are the names of the events on its stream.
func (j *judge) violation(i int, v contract.Violation, labels []string) Finding {
	f := Finding{
		Class: Violation, Kind: string(v.Kind), Step: v.Step, Target: j.Transcripts[i].Target, Stream: v.Stream,
		Place: v.Place, Text: v.Text, Blame: j.blameOf(i), exchange: v.Exchange, exchanges: [2]int{v.Exchange, v.Exchange}, event: v.Event,
		Contract: []Remark{{j.Transcripts[i].Target, v.Place, v.Text, v.Schema, v.Line}},
	}
	if s := j.script.steps[v.Step]; s != nil {
		f.burst = s.Burst && v.Stream == ""
	}
	if v.Stream != "" {
		f.Place = labels[v.Event] + strings.TrimPrefix(v.Place, "event")
	}
	place := f.Place
	if f.Stream != "" {
		place = diff.Unnumbered(place)
	}
	text := f.Text
	if j.declared.has(j.Transcripts[i], &v) { // it shows a value that changes from run to run
		text = v.Schema
	}
	f.Fingerprint = compare.Fingerprint(j.Rules, j.Transcripts[i], string(f.Class), f.Kind, place, text)
	return f
}

func (j *judge) unmet(i int, s compare.Unmet) Finding {
	return Finding{
		Class: Unmet, Kind: string(s.Kind), Step: s.Step, Target: j.Transcripts[i].Target, Stream: s.Stream,
		Place: s.Place, Text: s.Text, Want: s.Want, Got: s.Got, Blame: j.blameOf(i),
		Fingerprint: s.Fingerprint, exchange: s.Exchange, exchanges: [2]int{s.Exchange, s.Exchange}, event: s.Event,
	}
}

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

// A message identifies a message that violations are about.
type message struct {
	of              *transcript.Transcript
	step, stream    string
	exchange, event int
}

// declaredPlaces finds out which values are covered by a rule. It keeps the places of one message, because the
// violations of a message follow one another.
type declaredPlaces struct {
	rules *compare.Rules
	of    message
	in    func(place string) bool
}

// has reports whether a rule covers the value that breaks the contract.
func (d *declaredPlaces) has(t *transcript.Transcript, v *contract.Violation) bool {
	if m := (message{t, v.Step, v.Stream, v.Exchange, v.Event}); d.in == nil || m != d.of {
		d.of, d.in = m, d.placesIn(t, v)
	}
	return d.in(v.Place)
}

// placesIn returns a function that reports whether a rule covers a place of the message that breaks the contract.
func (d *declaredPlaces) placesIn(t *transcript.Transcript, v *contract.Violation) func(place string) bool {
	for _, s := range t.Streams {
		if v.Stream != "" && s.Name == v.Stream && v.Event < len(s.Events) {
			return d.rules.DeclaredInEvent(s.Step, &s.Events[v.Event])
		}
	}
	for i := range t.Steps {
		if s := &t.Steps[i]; s.ID == v.Step && v.Stream == "" && v.Exchange < len(s.Exchanges) && s.Exchanges[v.Exchange].Response != nil {
			return d.rules.Declared(s.ID, s.Exchanges[v.Exchange].Response)
		}
	}
	return func(string) bool { return false }
}
