package diff

import (
	"strings"
	"testing"
)

func TestExcerptsAreReadBack(t *testing.T) {
	long := strings.Repeat("aé\n", 3000)
	for _, values := range [][2]string{{"", ""}, {"short", "shorter"}, {long, long + "x"}, {"x" + long, long}, {long[:4000] + "1" + long, long[:4000] + "2" + long}} {
		a, b := Cut(values[0], values[1])
		if a.CutBefore != b.CutBefore {
			t.Errorf("the excerpts begin at %d and %d", a.CutBefore, b.CutBefore)
		}
		for i, e := range [2]Excerpt{a, b} {
			if got := ParseExcerpt(e.String()); got != e {
				t.Errorf("%+v is read as %+v", e, got)
			}
			if n := e.CutBefore + len(e.Text) + e.CutAfter; n != len(values[i]) || len(e.Text) > MaxShown {
				t.Errorf("%d bytes of %d are shown, and %d in all", len(e.Text), len(values[i]), n)
			}
		}
	}
	for _, text := range []string{"[x bytes cut] …", "[1234567890123456 bytes cut] …a", "a… [ bytes cut]", "[3 bytes cut]"} {
		if got := ParseExcerpt(text); got != (Excerpt{Text: text}) {
			t.Errorf("%q is read as %+v", text, got)
		}
	}
}

func TestPlacesAreWrittenAndRead(t *testing.T) {
	for _, tc := range []struct {
		at                           At
		text, contract, bare, inside string
	}{
		{At{Part: "status"}, "status", "status", "status", ""},
		{At{Part: "body", Pointers: [2]string{"/a/1", "/a/2"}}, "body /a/1", "body/a/2", "body /a/1", "/a/1"},
		{At{Message: "event 12 (ping)", Part: "data", Pointers: [2]string{"/id", "/id"}, Contract: "event data"}, "event 12 (ping) data /id", "event data/id", "event (ping) data /id", "/id"},
		{At{Message: "error line 12 (stderr)", Part: "data"}, "error line 12 (stderr) data", "data", "error line (stderr) data", ""},
		{At{Message: "line 2", Part: "data", Pointers: [2]string{"/id", "/id"}, Contract: "event data"}, "line 2 data /id", "event data/id", "line data /id", "/id"},
		{At{Message: "line 2 (tools/list result)", Part: "data", Pointers: [2]string{"/id", "/id"}, Contract: "event data"}, "line 2 (tools/list result) data /id", "event data/id", "line (tools/list result) data /id", "/id"},
		{At{Message: "message 3 (a/b)", Contract: "event"}, "message 3 (a/b)", "event", "message (a/b)", ""},
		{At{Message: "error line 1 (stderr)", Part: "data", Contract: "event data"}, "error line 1 (stderr) data", "event data", "error line (stderr) data", ""},
		{At{Message: "heartbeat 1", Contract: "event"}, "heartbeat 1", "event", "heartbeat", ""},
		{At{Message: "message 6 (close)", Part: "data", Pointers: [2]string{"/code", "/code"}, Contract: "event data"}, "message 6 (close) data /code", "event data/code", "message (close) data /code", "/code"},
		{At{Message: "error line 3 (stderr)", Contract: "event"}, "error line 3 (stderr)", "event", "error line (stderr)", ""},
		{At{Message: "line 3 (line)", Contract: "event"}, "line 3 (line)", "event", "line (line)", ""},
		{At{Message: "request 2", Part: "body", Pointers: [2]string{"/n", "/n"}}, "request 2 body /n", "body/n", "request body /n", "/n"},
		{At{Part: "body", Pointers: [2]string{"/n", "/n"}, Inside: "⟨JSON⟩ /m"}, "body /n ⟨JSON⟩ /m", "body/n", "body /n ⟨JSON⟩ /m", "/n ⟨JSON⟩ /m"},
	} {
		text := tc.at.String()
		pointer, _ := InDocument(text, true)
		if text != tc.text || tc.at.InContract(1) != tc.contract || Unnumbered(text) != tc.bare || pointer != tc.inside || PointerIn(text) != tc.inside || IsInside(text) != (tc.at.Inside != "") {
			t.Errorf("%+v: %q, %q, %q, %q", tc.at, text, tc.at.InContract(1), Unnumbered(text), pointer)
		}
	}
}

func TestReasonsHaveSentences(t *testing.T) {
	for _, tc := range []struct {
		why      Reason
		want     string
		notation bool
	}{
		{Because(ValueDiffers, ValuesDiffer), "the values differ", false},
		{Because(ValueDiffers, TimeNotation), "the times are written differently", true},
		{Because(ValueDiffers, TimeUnits, "seconds", "milliseconds"), "the times are written differently: the candidate sends seconds, the reference milliseconds", true},
		{Because(IdentityBroken, RefHadOtherPartner, "a", "b", "step 1 body", struct{}{}), `the reference's "a" was paired with the candidate's "b" at step 1 body`, false},
		{Because(IDForm, TokenPrefixes, Verbatim("‹token›"), "sk_"), `the tokens have different prefixes: ‹token› and "sk_"`, false},
	} {
		if got := tc.why.Text(); got != tc.want || IsTimeNotation(got) != tc.notation {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
}
