package run

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// posts returns a function that returns a server's queue of posts. The server makes the queue, because it must belong
// to the fake clock.
func posts() func() chan struct{} {
	return sync.OnceValue(func() chan struct{} { return make(chan struct{}, 1) })
}

// lateHeads is a server that sends the head of a stream with its first event. A POST causes that event. For paths under
// /gone, it responds with 404 instead.
func lateHeads() http.HandlerFunc {
	posted := posts()
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "POST" {
			posted() <- struct{}{}
			return
		}
		select {
		case <-posted():
		case <-r.Context().Done():
			return
		}
		if strings.HasPrefix(r.URL.Path, "/gone") {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "event: posted\ndata: 1\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
}

// earlyHeads is a server that sends the head of a stream at once.
func earlyHeads() http.HandlerFunc {
	posted := posts()
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "POST" {
			posted() <- struct{}{}
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		select {
		case <-posted():
			io.WriteString(w, "event: posted\ndata: 1\n\n")
			w.(http.Flusher).Flush()
		case <-r.Context().Done():
		}
		<-r.Context().Done()
	}
}

// Some servers send the head with the first event, which a step after the open causes. Only the first open waits long.
func TestOpenContinuesWithoutAHeadThatComesWithTheFirstEvent(t *testing.T) {
	s := story(t, `
steps:
  - {open: a, sse: GET /event}
  - http: POST /event
  - {await: a, match: {event: posted}}
  - close: a
  - {open: b, sse: GET /event}
  - http: POST /event
  - {await: b, match: {event: posted}}
`)
	walk(t, s, options(), earlyHeads(), lateHeads(), func(t *testing.T, ref, cand *transcript.Transcript, took time.Duration) {
		for _, ts := range []*transcript.Transcript{ref, cand} {
			for _, step := range ts.Steps {
				if step.Unmet != nil || step.Fault != "" || step.Skipped != "" {
					t.Errorf("%s: step %s: %+v", ts.Target, step.ID, step)
				}
			}
			for _, of := range []int{0, 4} {
				x := ts.Steps[of].Exchanges[0]
				if x.Response == nil || x.Response.Status != 200 || x.Failure != nil || x.Stream == "" || x.Request.Target != "/event" {
					t.Errorf("%s: %+v", ts.Target, x)
				}
			}
			if len(ts.Streams) != 2 || len(ts.Streams[0].Events) != 1 || len(ts.Streams[1].Events) != 1 || ts.Streams[1].Ended != transcript.EndedByClient {
				t.Errorf("%s: streams %+v", ts.Target, ts.Streams)
			}
		}
		if at := cand.Streams[0].At; at < time.Second || cand.Steps[0].Exchanges[0].Head != at {
			t.Errorf("the head came at %s", at)
		}
		if most := options().Settle + 2*shortHeadWait; took > most {
			t.Errorf("it took %s, want %s at most", took, most)
		}
	})
}

func TestAHeadThatNeverComesIsAFailure(t *testing.T) {
	s := story(t, `
steps:
  - {open: a, sse: GET /event}
  - close: a
  - {open: b, sse: GET /event}
  - {open: c, sse: GET /event, within: 100ms}
`)
	walk(t, s, options(), lateHeads(), lateHeads(), func(t *testing.T, ref, cand *transcript.Transcript, took time.Duration) {
		for of, want := range map[int]string{0: "the stream was closed before the head", 2: "the stream was closed before the head", 3: "the step's 100ms were over before the head"} {
			x := ref.Steps[of].Exchanges[0]
			if x.Response != nil || x.Failure == nil || x.Failure.Kind != transcript.FailTimeout || x.Failure.Phase != transcript.PhaseHead || x.Failure.Text != want {
				t.Errorf("step %d: %+v, want %s", of+1, x.Failure, want)
			}
		}
		if len(ref.Streams) > 0 {
			t.Errorf("streams without a head: %+v", ref.Streams)
		}
	})
}

func TestALateHeadThatIsNoStreamIsAnAnswer(t *testing.T) {
	s := story(t, `
steps:
  - {open: a, sse: GET /gone}
  - http: POST /event
  - {await: a, match: {event: posted}}
`)
	walk(t, s, options(), lateHeads(), lateHeads(), func(t *testing.T, ref, cand *transcript.Transcript, took time.Duration) {
		x := cand.Steps[0].Exchanges[0]
		if x.Response == nil || x.Response.Status != 404 || x.Stream != "" || len(x.Response.Body.Bytes) == 0 || len(cand.Streams) > 0 {
			t.Errorf("%+v, streams %+v", x, cand.Streams)
		}
		if u := cand.Steps[2].Unmet; u == nil || u.Kind != "event" || u.Why != "there is no event stream: the answer is 404 text/plain" {
			t.Errorf("what is awaited: %+v", u)
		}
	})
}

// A late response that is not a stream does not meet a demand on the stream, even if it ends or brings no event.
func TestALateHeadThatIsNoStreamMeetsNoDemand(t *testing.T) {
	for _, tc := range []struct{ name, open, demand, want string }{
		{"its end is awaited", "", "{await: a, end: server}", "end"},
		{"an event must not come", "", "{never: a, within: 1ms}", "stream"},
		{"it is half closed", "", "{half-close: a}", "close"},
		{"it is half closed, and expected not to be there", ", expect: {status: 404}", "{half-close: a}", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := story(t, `
steps:
  - {open: a, sse: GET /gone`+tc.open+`}
  - http: POST /event
  - `+tc.demand+`
  - {await: a, end: server}
`)
			walk(t, s, options(), lateHeads(), lateHeads(), func(t *testing.T, ref, cand *transcript.Transcript, took time.Duration) {
				kind := ""
				if u := cand.Steps[2].Unmet; u != nil {
					kind = u.Kind
				}
				if kind != tc.want || cand.Steps[0].Exchanges[0].Response == nil {
					t.Errorf("the step lacks %q, want %q: %+v", kind, tc.want, cand.Steps[0].Exchanges[0])
				}
			})
		})
	}
}
