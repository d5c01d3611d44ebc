package streamdiff

import (
	"strconv"
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// An eventPair compares two corresponding events.
type eventPair struct {
	*Recordings
	pair
}

// compare compares two corresponding events.
func (s eventPair) compare() {
	ref, cand := s.ref.event, s.cand.event
	at := func(part string) diff.At {
		return diff.At{Message: eventPlace(s.ref), Part: part, Contract: "event " + part}
	}
	report := func(d diff.Difference) {
		d.Events = [2]int{s.ref.index, s.cand.index}
		s.report(d)
	}
	seen := [2]time.Time{s.Runs[0].Started.Add(ref.At), s.Runs[1].Started.Add(cand.At)}
	renamed := s.names(at(""), diff.EventNames, EventName(ref), EventName(cand), seen, report)
	if !renamed {
		s.names(at("event field"), diff.EventFields, eventType(ref), eventType(cand), seen, report)
	}
	stream := "stream " + s.Sides[0].Name
	pl := ident.Place{Where: ident.InStream(s.Sides[0], at("data")), Seen: seen, Timeline: stream, Of: [2]string{stream, stream}}
	if ref.Undispatched != cand.Undispatched {
		d := withoutData(at("data"), ref, cand)
		d.Fingerprint = s.JSON.ContentsDigest([2]jsondiff.Content{EventContent(ref), EventContent(cand)}, s.Volatile)
		report(d)
		return
	}
	s.JSON.Content(pl, s.Volatile, [2]jsondiff.Content{EventContent(ref), EventContent(cand)}, func(d diff.Difference) {
		if renamed && d.Ref.Text == jsondiff.Quoted(EventName(ref)) && d.Cand.Text == jsondiff.Quoted(EventName(cand)) {
			return // the data contains the name, which is reported already
		}
		report(d)
	})
	pl = ident.Place{Where: ident.InStream(s.Sides[0], at("id")), Seen: seen}
	if why := s.JSON.IDs.Texts(ref.ID, cand.ID, pl); !why.None() && !(why.Code == diff.TextsDiffer && s.JSON.Encoded(pl, ref.ID, cand.ID, report)) {
		report(diff.Difference{Reason: why, At: at("id"), Ref: diff.ShowSome(ref.ID), Cand: diff.ShowSome(cand.ID)})
	}
	if ref.Retry != cand.Retry {
		report(diff.Difference{Reason: diff.Because(diff.ValueDiffers, diff.RetriesDiffer), At: at("retry"), Ref: diff.ShowSome(ref.Retry), Cand: diff.ShowSome(cand.Retry)})
	}
	if s.Rules.Exact && ref.Framing != cand.Framing && !renamed {
		report(diff.Difference{
			Reason: diff.Because(diff.EventFraming, diff.EventNotation), At: at("framing"),
			Ref: diff.Show(strconv.Quote(ref.Framing)), Cand: diff.Show(strconv.Quote(cand.Framing)),
		})
	}
}

// names compares two names of events, which may contain ids, and returns whether they differ.
func (s eventPair) names(at diff.At, otherwise diff.Code, ref, cand string, seen [2]time.Time, report func(diff.Difference)) (differ bool) {
	at.Contract = "event name"
	why := s.JSON.IDs.Texts(ref, cand, ident.Place{Where: ident.InStream(s.Sides[0], diff.At{Message: at.Message, Part: at.Contract}), Seen: seen})
	if why.None() {
		return false
	}
	if why.Code == diff.TextsDiffer {
		why = diff.Because(diff.EventName, otherwise)
	}
	report(diff.Difference{Reason: why, At: at, Ref: diff.Excerpt{Text: ref}, Cand: diff.Excerpt{Text: cand}})
	return true
}

// withoutData describes two events of which only one has data. Clients do not receive the other one
// (WHATWG HTML 9.2.6).
func withoutData(at diff.At, ref, cand *transcript.Event) diff.Difference {
	if ref.Undispatched {
		return diff.Difference{Reason: diff.Because(diff.FieldExtra, diff.EventWithoutData, diff.Side(0)), At: at, Ref: diff.ShowSome(""), Cand: diff.Show(cand.Data)}
	}
	return diff.Difference{Reason: diff.Because(diff.FieldMissing, diff.EventWithoutData, diff.Side(1)), At: at, Ref: diff.Show(ref.Data), Cand: diff.ShowSome("")}
}
