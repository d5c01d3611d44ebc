package compare

import (
	"strings"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// conversing returns a target that connected to a socket of a stub once for each list of messages.
func conversing(connections ...[]transcript.Event) *transcript.Transcript {
	t := &transcript.Transcript{Upstream: []transcript.Step{{ID: "api.feed", Kind: "upstream"}}}
	for i, events := range connections {
		name := "api.feed" + strings.Repeat(" again", i)
		t.Streams = append(t.Streams, &transcript.Stream{Name: name, Step: "api.feed", Wire: transcript.WireSocket, Stub: true, Ended: transcript.EndedByServer, Events: events})
		t.Upstream[0].Exchanges = append(t.Upstream[0].Exchanges, &transcript.Exchange{
			Request: transcript.Request{Method: "GET", Target: "/feed"}, Response: &transcript.Response{Status: 101}, Stream: name,
		})
	}
	return t
}

func said(texts ...string) (out []transcript.Event) {
	out = append(out, transcript.Event{Name: "text", Item: transcript.ItemText, Sent: true, Data: `{"type":"hello"}`, Framing: "text 16"})
	for _, text := range texts {
		item := transcript.ItemText
		if strings.HasPrefix(text, `{"code"`) {
			item = transcript.ItemClose
		}
		out = append(out, transcript.Event{Name: string(item), Item: item, Data: text, Framing: "text 9"})
	}
	return out
}

func TestWhatTargetsSendOnSocketsOfStubs(t *testing.T) {
	const a, b, c, bye = `{"m":"a"}`, `{"m":"b"}`, `{"m":"c"}`, `{"code":1000,"reason":""}`
	for _, tc := range []struct {
		name      string
		ref, cand *transcript.Transcript
		rules     Rules
		want      string // in the only difference; "" for none
	}{
		{"the same", conversing(said(a, b, bye)), conversing(said(a, b, bye)), Rules{}, ""},
		{"a lost message", conversing(said(a, b, c)), conversing(said(a, c)), Rules{}, "event-missing"},
		{"a doubled message", conversing(said(a, b)), conversing(said(a, a, b)), Rules{}, "event-doubled"},
		{"a moved message", conversing(said(a, b, c)), conversing(said(a, c, b)), Rules{}, "event-order"},
		{"another message", conversing(said(a)), conversing(said(b)), Rules{}, "value"},
		{"another close code", conversing(said(a, bye)), conversing(said(a, `{"code":1001,"reason":""}`)), Rules{}, "value"},
		{"fewer connections", conversing(said(a), said(a)), conversing(said(a)), Rules{}, "count"},
		{"another message on the second connection", conversing(said(a), said(b)), conversing(said(a), said(c)), Rules{}, "value"},
		{"a rule of the stub", conversing(said(a)), conversing(said(b)), Rules{Stubs: map[string]Step{"api": {Volatile: []jsondiff.Volatile{{At: "$.m", Kind: jsondiff.Text}}}}}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []string
			for _, d := range Transcripts(nil, tc.ref, tc.cand, &tc.rules).Differences {
				got = append(got, string(d.Kind)+" "+d.Step)
			}
			if tc.want == "" && got != nil || tc.want != "" && (len(got) != 1 || !strings.Contains(got[0], tc.want) || !strings.HasSuffix(got[0], " api.feed")) {
				t.Errorf("differences %q, want one: %q", got, tc.want)
			}
		})
	}
}

// A candidate that ends the socket, while the reference leaves it to the stub, is named as the one that did.
func TestTheEndOfASocketOfAStubNamesTheSides(t *testing.T) {
	ref, cand := conversing(said()), conversing(said())
	ref.Streams[0].Ended = transcript.EndedByClient
	all := Transcripts(nil, ref, cand, &Rules{}).Differences
	if len(all) != 1 || !strings.Contains(all[0].Ref.Text, "by the stub") || !strings.Contains(all[0].Cand.Text, "by the target") {
		t.Errorf("differences %+v", all)
	}
}

// retrying returns a target whose requests to a rule begin at some times, and whose responses end 100 ms later.
func retrying(c transcript.Cadence, starts ...time.Duration) *transcript.Transcript {
	t := &transcript.Transcript{Upstream: []transcript.Step{
		{ID: "api.down", Kind: "upstream", Exchanges: []*transcript.Exchange{{Response: &transcript.Response{Status: 503}, Sent: 0, Done: 100 * time.Millisecond}}},
		{ID: "api.up", Kind: "upstream", Cadence: &c},
	}}
	for _, at := range starts {
		t.Upstream[1].Exchanges = append(t.Upstream[1].Exchanges, &transcript.Exchange{Response: &transcript.Response{Status: 503}, Sent: at, Done: at + 100*time.Millisecond})
	}
	return t
}

func TestTheCadenceOfRequestsToUpstreams(t *testing.T) {
	const s, ms = time.Second, time.Millisecond
	steady := transcript.Cadence{Every: s, Tolerance: 200 * ms, Since: "api.down"}
	growing := transcript.Cadence{Every: s, Growing: 2, Most: 3 * s, Tolerance: 200 * ms}
	for _, tc := range []struct {
		name string
		t    *transcript.Transcript
		want string
	}{
		{"in time", retrying(steady, 1100*ms, 2200*ms), ""},
		{"at once", retrying(steady, 110*ms), "request 1: the target asked again too early: want 1s after the end of the response before, give or take 200ms, got 10ms"},
		{"late", retrying(steady, 1100*ms, 3*s), "request 2: the target asked again too late: want 1s after the end of the response before, give or take 200ms, got 1.8s"},
		{"growing", retrying(growing, 0, 1100*ms, 3200*ms, 6300*ms), ""},
		{"not growing", retrying(growing, 0, 1100*ms, 2200*ms), "request 3: the target asked again too early: want 2s after the end of the response before, give or take 200ms, got 1s"},
		{"the first may come at any time", retrying(growing, 5*s), ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []string
			for _, u := range AllUnmet(nil, tc.t, &Rules{}) {
				if u.Kind == UpstreamCadence {
					got = append(got, u.Place+": "+u.Text+": want "+u.Want+", got "+u.Got)
				}
			}
			if strings.Join(got, "\n") != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// A client that keeps the connection for a while after the close frames may connect again meanwhile.
func TestACadenceCountsFromTheCloseFrames(t *testing.T) {
	tr := conversing(said(`{"code":1000,"reason":""}`), said())
	closing := transcript.Event{Name: "close", Item: transcript.ItemClose, Sent: true, Data: `{"code":1000,"reason":""}`, At: 50 * time.Millisecond}
	tr.Streams[0].Events = append(tr.Streams[0].Events, closing)
	tr.Streams[0].Events[1].At = 40 * time.Millisecond
	tr.Upstream[0].Cadence = &transcript.Cadence{Every: time.Second, Tolerance: 100 * time.Millisecond}
	tr.Upstream[0].Exchanges[0].Done = 1100 * time.Millisecond
	tr.Upstream[0].Exchanges[1].Sent = 1050 * time.Millisecond
	if got := AllUnmet(nil, tr, &Rules{}); len(got) > 0 {
		t.Errorf("in time, but %+v", got)
	}
	tr.Upstream[0].Exchanges[1].Sent = 900 * time.Millisecond
	if got := AllUnmet(nil, tr, &Rules{}); len(got) != 1 || got[0].Kind != UpstreamCadence || got[0].Got != "850ms" {
		t.Errorf("too early, but %+v", got)
	}
}
