package run

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/transport/httpwire"
	"github.com/lockstep-dev/lockstep/harness/transport/sse"
)

// A feed is a stream whose server a test is.
type feed struct {
	*stream
	server *io.PipeWriter
}

func newFeed(t *testing.T, events string) *feed {
	body, server := io.Pipe()
	f := &feed{stream: &stream{rec: &transcript.Stream{Name: "feed"}, cut: -1, beats: func(*transcript.Event) bool { return false }}, server: server}
	f.Stream = &httpwire.Stream{Watch: sse.Open(body, nil)}
	t.Cleanup(func() { f.Watch.Close() })
	f.says(t, events)
	return f
}

// says sends events, a letter each, and returns when they are recorded.
func (f *feed) says(t *testing.T, events string) {
	t.Helper()
	before := f.length()
	for _, e := range strings.Split(events, "") {
		io.WriteString(f.server, "data: "+e+"\n\n")
	}
	for _, changed := f.Watch.Count(func(*transcript.Event) bool { return true }); f.length() < before+len(events); {
		<-changed
		_, changed = f.Watch.Count(func(*transcript.Event) bool { return true })
	}
}

// data returns what was recorded.
func (f *feed) data() string {
	f.record()
	var all strings.Builder
	for _, ev := range f.rec.Events {
		all.WriteString(ev.Data)
	}
	return all.String()
}

func settled(t *testing.T, ref, cand *feed) {
	r := &stage{opts: &Options{Settle: time.Minute}}
	for _, f := range []*feed{ref, cand} {
		r.walkers = append(r.walkers, &walker{stage: r, streams: map[string]*stream{"feed": f.stream}})
	}
	r.settle(t.Context(), "feed")
	for _, f := range []*feed{ref, cand} {
		f.hangUp(f.Watch.Close)
	}
}

// An event that comes on one stream while the other is being looked at would count on that side alone.
func TestAnEventThatComesWhileTheEndIsAgreedOnCountsOnNoSide(t *testing.T) {
	ref, cand := newFeed(t, "ab"), newFeed(t, "ab")
	cand.beats = func(*transcript.Event) bool {
		cand.beats = func(*transcript.Event) bool { return false }
		ref.says(t, "c")
		return false
	}
	settled(t, ref, cand)
	if r, c := ref.data(), cand.data(); r != "ab" || c != "ab" {
		t.Errorf("the streams have %q and %q, want ab on both sides", r, c)
	}
}

func TestAnEndThatComesWhenTheEndIsAgreedOnCountsOnNoSide(t *testing.T) {
	ref, cand := newFeed(t, "ab"), newFeed(t, "ab")
	cand.beats = func(*transcript.Event) bool {
		cand.beats = func(*transcript.Event) bool { return false }
		ref.server.Close()
		ref.Watch.AwaitEnd(t.Context())
		return false
	}
	settled(t, ref, cand)
	for _, f := range []*feed{ref, cand} {
		if f.record(); f.rec.Ended != transcript.EndedByClient {
			t.Errorf("a stream was ended by the %s", f.rec.Ended)
		}
	}
}

// What is asked between the agreement and the end of the scenario counts on no side, unless nothing answers it.
func TestWhatIsAskedWhenTheEndIsAgreedOnCountsOnNoSide(t *testing.T) {
	r := &stage{opts: &Options{}}
	for range 2 {
		w := &walker{stage: r, server: &Target{}, t: &transcript.Transcript{}}
		u := &upstream{w: w, name: "llm", underWay: map[*transcript.Step]int{}}
		w.upstreams, r.walkers = []*upstream{u}, append(r.walkers, w)
		u.begin(u.step("chat"), false)(&transcript.Exchange{})
	}
	ref := r.walkers[0].upstreams[0]
	late := ref.begin(ref.step("chat"), false)
	if r.upstreamsSettled(true) {
		t.Fatal("one has asked more than the other, and still does")
	}
	late(&transcript.Exchange{})
	cand := r.walkers[1].upstreams[0]
	cand.begin(cand.step("chat"), false)(&transcript.Exchange{})
	if !r.upstreamsSettled(true) {
		t.Fatal("both have asked the same")
	}
	ref.begin(ref.step("chat"), false)(&transcript.Exchange{})
	ref.begin(ref.step("other"), false)(&transcript.Exchange{})
	ref.Stray(&transcript.Exchange{}, "")
	for _, w := range r.walkers {
		w.upstreams[0].record()
	}
	asked := func(w *walker) (out []string) {
		for _, s := range w.t.Upstream {
			out = append(out, fmt.Sprintf("%s %d", s.ID, len(s.Exchanges)))
		}
		return out
	}
	same(t, "the reference's requests", asked(r.walkers[0]), []string{scenario.UpstreamID("llm", "chat") + " 2", scenario.UpstreamID("llm", scenario.UnexpectedRule) + " 1"})
	same(t, "the candidate's requests", asked(r.walkers[1]), []string{scenario.UpstreamID("llm", "chat") + " 2"})
}
