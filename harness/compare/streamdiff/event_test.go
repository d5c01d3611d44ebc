package streamdiff

import (
	"testing"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// The sizes of frames differ whenever the data does. That alone is no other way of writing.
func TestMessagesOfOtherLengthsMayBeWrittenInTheSameWay(t *testing.T) {
	text := func(data, framing string) *transcript.Event {
		return &transcript.Event{Item: transcript.ItemText, Data: data, Framing: framing}
	}
	for _, tc := range []struct {
		name      string
		ref, cand *transcript.Event
		same      bool
	}{
		{"equal", text("abc", "text 3"), text("xyz", "text 3"), true},
		{"another length", text("abc", "text 3"), text("abcd", "text 4"), true},
		{"in two frames", text("abc", "text 3"), text("abcd", "text 2, end 2"), false},
		{"split elsewhere", text("abc", "text 1, end 2"), text("abc", "text 2, end 1"), false},
		{"of an event stream", &transcript.Event{Data: "abc", Framing: "data: •\n\n"}, &transcript.Event{Data: "abcd", Framing: "data:•\n\n"}, false},
		{"another line end", &transcript.Event{Item: transcript.ItemLine, Data: "abc", Framing: "•\n"}, &transcript.Event{Item: transcript.ItemLine, Data: "abcd", Framing: "•\r\n"}, false},
	} {
		if got := sameFraming(tc.ref, tc.cand); got != tc.same {
			t.Errorf("%s: %t", tc.name, got)
		}
	}
}

func TestBytesThatAreNotTextAreToldApart(t *testing.T) {
	for want, ev := range map[string]*transcript.Event{
		`text`:             {Item: transcript.ItemText, Data: "text"},
		`"\x00\xfasecret"`: {Item: transcript.ItemBinary, Data: "\x00\xfasecret"},
		`"\xfb"`:           {Item: transcript.ItemLine, Data: "\xfb"},
	} {
		if got := ReadableData(ev); got != want {
			t.Errorf("%q is shown as %s, want %s", ev.Data, got, want)
		}
	}
}

func TestANameThatRepeatsTheLabelIsLeftOut(t *testing.T) {
	for want, at := range map[string][2]string{
		"line 2": {"line 2", "line"}, "line 3 (exit)": {"line 3", "exit"}, "message 3 (chat)": {"message 3", "chat"}, "event 1 (message)": {"event 1", "message"},
	} {
		if got := Place(at[0], at[1]); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
