package run

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/stub"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/transport/httpwire"
	"github.com/lockstep-dev/lockstep/harness/transport/sse"
)

// A feed is a stream whose server is the test.
type feed struct {
	*stream
	server *io.PipeWriter
}

func newFeed(t *testing.T, events string) *feed {
	body, server := io.Pipe()
	f := &feed{stream: &stream{rec: &transcript.Stream{Name: "feed"}, agreed: -1, outside: func(*transcript.Event) bool { return false }}, server: server}
	f.wire = &httpwire.Stream{Watch: sse.Open(body, nil)}
	t.Cleanup(func() { f.wire.Close() })
	f.says(t, events)
	return f
}

// says sends events of one letter each, and returns when they are recorded.
func (f *feed) says(t *testing.T, events string) {
	t.Helper()
	before := f.length()
	for _, e := range strings.Split(events, "") {
		io.WriteString(f.server, "data: "+e+"\n\n")
	}
	for _, changed := f.wire.Count(func(*transcript.Event) bool { return true }); f.length() < before+len(events); {
		<-changed
		_, changed = f.wire.Count(func(*transcript.Event) bool { return true })
	}
}

// data returns the data of all recorded events.
func (f *feed) data() string {
	f.record()
	var all strings.Builder
	for _, ev := range f.rec.Events {
		all.WriteString(ev.Data)
	}
	return all.String()
}

func settled(t *testing.T, ref, cand *feed) {
	s := bareSession(&Options{Settle: time.Minute})
	for _, f := range []*feed{ref, cand} {
		d := driverOf(bareRun(s.opts, &Target{}))
		d.streams.add(f.stream)
		s.drivers = append(s.drivers, d)
	}
	s.settleStream(t.Context(), "feed")
	for _, f := range []*feed{ref, cand} {
		f.hangUp(f.wire.Close)
	}
}

// If an event arrives on one stream while the other one is being read, it must not count on that side alone.
func TestAnEventThatComesWhileTheEndIsAgreedOnCountsOnNoSide(t *testing.T) {
	ref, cand := newFeed(t, "ab"), newFeed(t, "ab")
	cand.outside = func(*transcript.Event) bool {
		cand.outside = func(*transcript.Event) bool { return false }
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
	cand.outside = func(*transcript.Event) bool {
		cand.outside = func(*transcript.Event) bool { return false }
		ref.server.Close()
		ref.wire.AwaitEnd(t.Context())
		return false
	}
	settled(t, ref, cand)
	for _, f := range []*feed{ref, cand} {
		if f.record(); f.rec.Ended != transcript.EndedByClient {
			t.Errorf("a stream was ended by the %s", f.rec.Ended)
		}
	}
}

// What a target requests between the agreement and the end of the scenario counts on neither side, unless no rule
// answers it.
func TestWhatIsAskedWhenTheEndIsAgreedOnCountsOnNoSide(t *testing.T) {
	s := bareSession(&Options{})
	for range 2 {
		d := driverOf(bareRun(s.opts, &Target{}))
		u := newUpstream("llm", &stub.Server{}, nil, 0, d.targetRun, &s.asked)
		d.upstreams.list, s.drivers = []*upstream{u}, append(s.drivers, d)
		u.begin(u.step("chat"), false)(&transcript.Exchange{})
	}
	ref := s.drivers[0].upstreams.list[0]
	late := ref.begin(ref.step("chat"), false)
	if s.upstreamsSettled(true) {
		t.Fatal("one has asked more than the other, and still does")
	}
	late(&transcript.Exchange{})
	cand := s.drivers[1].upstreams.list[0]
	cand.begin(cand.step("chat"), false)(&transcript.Exchange{})
	if !s.upstreamsSettled(true) {
		t.Fatal("both have asked the same")
	}
	ref.begin(ref.step("chat"), false)(&transcript.Exchange{})
	ref.begin(ref.step("other"), false)(&transcript.Exchange{})
	ref.Unexpected(&transcript.Exchange{}, "")
	asked := func(u *upstream) (out []string) {
		steps, _ := u.record()
		for _, s := range steps {
			out = append(out, fmt.Sprintf("%s %d", s.ID, len(s.Exchanges)))
		}
		return out
	}
	same(t, "the reference's requests", asked(ref), []string{scenario.UpstreamID("llm", "chat") + " 2", scenario.UpstreamID("llm", scenario.UnexpectedRule) + " 1"})
	same(t, "the candidate's requests", asked(cand), []string{scenario.UpstreamID("llm", "chat") + " 2"})
}
