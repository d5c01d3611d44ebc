package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

func TestACaptureThatIsMissingOnOneSideSkipsWhatNeedsItThere(t *testing.T) {
	s := story(t, `
steps:
  - http: GET /x
    capture: {id: $.id}
  - http: GET /x/${{ id }}
  - http: GET /y
`)
	walk(t, s, options(), answer(`{"id":"7"}`), answer(`{}`), func(t *testing.T, ref, cand *transcript.Transcript, _ time.Duration) {
		same(t, "the reference's steps", outcomes(ref), []string{"1 done", "2 done", "3 done"})
		same(t, "the candidate's steps", outcomes(cand), []string{
			"1 unmet: id from $.id: there is no such value; $ is an object without members", "2 skipped: id has no value", "3 done",
		})
		if got := ref.Steps[1].Exchanges[0].Request.Target; got != "/x/7" {
			t.Errorf("the reference was asked for %s", got)
		}
	})
}

func TestExpectationsHaveEachTargetsOwnValues(t *testing.T) {
	s := story(t, `
vars: {name: "n-${{ unique }}"}
steps:
  - http: GET /x
    capture: {id: $.id}
  - http: GET /x
    expect: {json: {$.id: "${{ id }}"}, headers: {X: "${{ name }}"}, matches: {$.id: "^${{ id }}$"}}
`)
	walk(t, s, options(), answer(`{"id":"a.b"}`), answer(`{"id":7}`), func(t *testing.T, ref, cand *transcript.Transcript, _ time.Duration) {
		for _, tc := range []struct {
			t                 *transcript.Transcript
			value, expression string
		}{{ref, `"a.b"`, `^a\.b$`}, {cand, `7`, `^7$`}} {
			e := tc.t.Steps[1].Expect
			if string(e.JSON.At["$.id"]) != tc.value || e.JSON.Matches["$.id"] != tc.expression || *e.Header["X"] != "n-"+tc.t.Unique {
				t.Errorf("%s expects %s, %s, %s", tc.t.Target, e.JSON.At["$.id"], e.JSON.Matches["$.id"], *e.Header["X"])
			}
		}
		if ref.Unique == cand.Unique {
			t.Errorf("both targets have the unique token %s", ref.Unique)
		}
	})
}

// sleeper answers GET /seconds/3 after three seconds.
func sleeper(w http.ResponseWriter, r *http.Request) {
	var seconds time.Duration
	fmt.Sscanf(r.URL.Path, "/seconds/%d", &seconds)
	select {
	case <-time.After(seconds * time.Second):
		answer("{}")(w, r)
	case <-r.Context().Done():
	}
}

func TestBranchesRunAtOnceAndAreRecordedInOrder(t *testing.T) {
	s := story(t, `
steps:
  - parallel:
      left: [{http: GET /seconds/3}, {http: GET /seconds/1}]
      right: [{http: GET /seconds/1}, {http: GET /seconds/2}]
  - http: GET /seconds/1
`)
	server := http.HandlerFunc(sleeper)
	walk(t, s, options(), server, server, func(t *testing.T, ref, cand *transcript.Transcript, took time.Duration) {
		want := []string{"1.left.1 done", "1.left.2 done", "1.right.1 done", "1.right.2 done", "2 done"}
		same(t, "the reference's steps", outcomes(ref), want)
		same(t, "the candidate's steps", outcomes(cand), want)
		if took != 5*time.Second {
			t.Errorf("it took %s, want as long as the longer branch and the step behind it", took)
		}
	})
}

func TestBranchesCanAwaitTheSameStream(t *testing.T) {
	s := story(t, `
steps:
  - open: feed
    sse: GET /events
    ready: {event: hello}
  - parallel:
      left: [{await: feed, match: {event: a}}]
      right: [{await: feed, match: {event: b}}]
  - await: feed
    match: {event: c}
`)
	server := tell(line{0, "hello"}, line{1, "b"}, line{1, "a"}, line{1, "c"})
	walk(t, s, options(), server, server, func(t *testing.T, ref, _ *transcript.Transcript, _ time.Duration) {
		same(t, "steps", outcomes(ref), []string{"1 done", "2.left.1 done", "2.right.1 done", "3 done"})
	})
}

// It is chance how far another branch is when an await begins.
func TestABranchAwaitsWhatAnotherOneHasPassedBy(t *testing.T) {
	s := story(t, `
steps:
  - open: feed
    sse: GET /events
    ready: {event: hello}
  - parallel:
      left: [{await: feed, match: {event: b}}]
      right:
        - http: GET /x
        - await: feed
          match: {event: a}
        - parallel:
            up: [{await: feed, match: {event: b}}]
            down: [{http: GET /x}, {http: GET /x}, {await: feed, match: {event: a}, times: 2}]
  - await: feed
    match: {event: a}
`)
	server := tell(line{0, "hello"}, line{0, "a"}, line{0, "b"}, line{0, "a"}, line{0, "a"}, line{0, "a"})
	walk(t, s, options(), server, server, func(t *testing.T, ref, _ *transcript.Transcript, _ time.Duration) {
		same(t, "steps", outcomes(ref), []string{
			"1 done", "2.left.1 done", "2.right.1 done", "2.right.2 done", "2.right.3.up.1 done", "2.right.3.down.1 done", "2.right.3.down.2 done",
			"2.right.3.down.3 done", "3 done",
		})
		for id, want := range map[string][]int{"2.right.2": {1}, "2.right.3.up.1": {2}, "2.right.3.down.3": {3, 4}, "3": {5}} {
			for i := range ref.Steps {
				if st := &ref.Steps[i]; st.ID == id && !slices.Equal(st.Events, want) {
					t.Errorf("step %s has awaited the events %d, want %d", id, st.Events, want)
				}
			}
		}
	})
}

func TestABodyIsPaddedToItsSize(t *testing.T) {
	rows := stories(t, `
table:
  - {name: some, size: 40}
  - {name: exact, size: 29}
  - {name: too-small, size: 28}
  - {name: no-number, size: many}
steps:
  - http: POST /x
    json: {u: "${{ unique }}", x: "xx${{ fill }}"}
    size: ${{ row.size }}
  - http: POST /x
    raw: {text: "${{ fill }}xx"}
    size: 40000
`)
	want := map[string][]string{
		"story[some]":      {"1 done", "2 done"},
		"story[exact]":     {"1 done", "2 done"},
		"story[too-small]": {"1 fault: the body has 29 bytes without its filler, and its size is to be 28", "2 done"},
		"story[no-number]": {`1 fault: size is "many"; make it a number of bytes, 1073741824 at most`, "2 done"},
	}
	for _, s := range rows {
		var got []string
		var mu sync.Mutex
		server := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			data, _ := io.ReadAll(r.Body)
			mu.Lock()
			got = append(got, fmt.Sprintf("%d %d %d", len(data), r.ContentLength, strings.Count(string(data), "x")))
			mu.Unlock()
			answer("{}")(w, r)
		})
		walk(t, s, options(), server, server, func(t *testing.T, ref, _ *transcript.Transcript, _ time.Duration) {
			same(t, s.ID, outcomes(ref), want[s.ID])
			if s.ID == "story[some]" {
				same(t, "bodies", got[2:], []string{"40000 40000 40000", "40000 40000 40000"})
				if !strings.HasPrefix(got[0], "40 40 ") || !ref.Steps[0].Exchanges[0].Request.Body.Whole() {
					t.Errorf("bodies %q", got)
				}
			}
		})
	}
}

func TestRequestsAreCheckedAgainstTheContract(t *testing.T) {
	rows := stories(t, `
table:
  - {name: sound, path: x, malformed: false}
  - {name: marked-in-vain, path: x, malformed: true}
  - {name: marked, path: wrong, malformed: true}
  - {name: not-marked, path: wrong, malformed: false}
  - {name: neither, path: wrong, malformed: "yes"}
steps:
  - http: GET /${{ row.path }}
    malformed: ${{ row.malformed }}
`)
	want := map[string]string{
		"story[sound]":          "1 done",
		"story[marked-in-vain]": "1 fault: the request is marked malformed, but obeys the contract: remove the mark",
		"story[marked]":         "1 done",
		"story[not-marked]":     "1 fault: the request breaks the contract: path: it is wrong (if this is intended, mark it malformed: true)",
		"story[neither]":        `1 fault: malformed is "yes"; make it true or false`,
	}
	for _, s := range rows {
		walk(t, s, options(), answer("{}"), answer("{}"), func(t *testing.T, ref, _ *transcript.Transcript, _ time.Duration) {
			same(t, s.ID, outcomes(ref), []string{want[s.ID]})
		})
	}
}

func TestAnswersThatAreNoStreamsAreCompleted(t *testing.T) {
	s := story(t, `
steps:
  - open: feed
    sse: GET /events
  - await: feed
    match: {event: a}
  - close: feed
`)
	walk(t, s, options(), tell(line{0, "a"}), answer(`{"no":"stream"}`), func(t *testing.T, ref, cand *transcript.Transcript, _ time.Duration) {
		same(t, "the reference's steps", outcomes(ref), []string{"1 done", "2 done", "3 done"})
		same(t, "the candidate's steps", outcomes(cand), []string{
			"1 done",
			`2 unmet: event "a": there is no event stream: the answer is 200 application/json`,
			"3 unmet: an event stream: there is no event stream: the answer is 200 application/json",
		})
		if x := cand.Steps[0].Exchanges[0]; x.Stream != "" || string(x.Response.Body.Bytes) != `{"no":"stream"}` {
			t.Errorf("the candidate's answer: %+v", x)
		}
	})
}

func TestEveryStepThatNeedsAStreamReportsThatItIsMissing(t *testing.T) {
	rows := stories(t, `
table:
  - {name: not-expected, code: 1}
  - {name: expected, code: 2}
steps:
  - open: feed
    sse: GET /events
    ready: {event: hello}
    expect: {json: {$.code: "${{ row.code }}"}}
  - await: feed
    end: server
  - never: feed
    within: 1s
  - half-close: feed
  - await: feed
    match: {event: a}
  - close: feed
`)
	const none = "there is no event stream: the answer is 404 application/problem+json"
	demands := []string{
		`1 unmet: event "hello": ` + none, "2 unmet: the end of the stream: " + none, "3 unmet: an event stream: " + none,
		"4 unmet: an event stream: " + none, `5 unmet: event "a": ` + none, "6 unmet: an event stream: " + none,
	}
	expected := slices.Clone(demands)
	expected[3], expected[5] = "4 done", "6 done" // these close a stream that the scenario expects to be refused
	want := map[string][]string{"story[not-expected]": demands, "story[expected]": expected}
	nobody := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json; charset=utf-8")
		w.WriteHeader(http.StatusNotFound)
		io.WriteString(w, `{"code":2}`)
	})
	for _, s := range rows {
		walk(t, s, options(), nobody, nobody, func(t *testing.T, ref, cand *transcript.Transcript, _ time.Duration) {
			same(t, s.ID+", the reference's steps", outcomes(ref), want[s.ID])
			same(t, s.ID+", the candidate's steps", outcomes(cand), want[s.ID])
		})
	}
}

func TestAStreamIsNotMissedWhereTheAnswerBroke(t *testing.T) {
	s := story(t, `
steps:
  - {open: feed, sse: GET /events, ready: {event: hello}}
  - {await: feed, match: {event: a}}
  - {never: feed, within: 1s}
`)
	cut := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) })
	walk(t, s, options(), cut, cut, func(t *testing.T, ref, _ *transcript.Transcript, _ time.Duration) {
		same(t, "steps", outcomes(ref)[1:], []string{"2 skipped: it was not opened", "3 skipped: it was not opened"})
	})
}

func TestAnInterruptEndsEverything(t *testing.T) {
	s := story(t, `
steps:
  - open: feed
    sse: GET /events
    ready: {event: hello}
  - start: call
    http: GET /hang
  - never: feed
    within: 50s
  - await: feed
    match: {event: never}
  - http: GET /x
  - close: call
`)
	interrupted := errors.New("somebody pressed a key")
	synctest.Test(t, func(t *testing.T) {
		feed := tell(line{0, "hello"})
		server := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/hang" {
				<-r.Context().Done()
				return
			}
			feed(w, r)
		})
		ctx, interrupt := context.WithCancelCause(t.Context())
		start := time.Now()
		time.AfterFunc(3*time.Second, func() { interrupt(interrupted) })
		got := Scenario(ctx, s, []*Target{target(t, "ref", server), target(t, "cand", server)}, options())
		if took := time.Since(start); took != 3*time.Second {
			t.Errorf("it took %s, want to the interrupt and no longer", took)
		}
		for _, tr := range got {
			if tr.Aborted != interrupted.Error() || len(tr.Steps) != 6 || tr.Steps[4].Skipped != interrupted.Error() {
				t.Errorf("%s: cut short because %q: %v", tr.Target, tr.Aborted, outcomes(tr))
			}
			if tr.Streams[0].Ended != transcript.EndedByClient {
				t.Errorf("%s: the stream was ended by the %s", tr.Target, tr.Streams[0].Ended)
			}
		}
	})
}

func TestABurstIsSentAtOnce(t *testing.T) {
	s := story(t, `
steps:
  - http: POST /seconds/1
    raw: {text: abc}
    burst: 5
`)
	walk(t, s, options(), http.HandlerFunc(sleeper), http.HandlerFunc(sleeper), func(t *testing.T, ref, _ *transcript.Transcript, took time.Duration) {
		if st := ref.Steps[0]; !st.Burst || len(st.Exchanges) != 5 || took != time.Second {
			t.Errorf("%d exchanges in %s", len(st.Exchanges), took)
		}
	})
}

func TestAStepReplacesHeadersOfTheTarget(t *testing.T) {
	for _, tc := range []struct{ name, headers, want string }{
		{"another value", `{x-secret: other}`, "X-Trace=1 x-secret=other"},
		{"several", `{X-Secret: [a, b]}`, "X-Trace=1 X-Secret=a X-Secret=b"},
		{"none", `{x-secret: null, Y: "2"}`, "X-Trace=1 Y=2"},
		{"no type of a body", `{X-Secret: null, Content-Type: null}, json: {}`, "X-Trace=1"},
		{"another name", `{X-Secrets: a}`, "X-Secret=s X-Trace=1 X-Secrets=a"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := story(t, "\nsteps: [{http: GET /x, headers: "+tc.headers+"}]\n")
			synctest.Test(t, func(t *testing.T) {
				ref := target(t, "ref", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
				ref.Header = transcript.Header{{Name: "X-Secret", Value: "s"}, {Name: "X-Trace", Value: "1"}}
				got := Scenario(t.Context(), s, []*Target{ref}, options())[0].Steps[0].Exchanges[0]
				var fields []string
				for _, f := range got.Request.Header {
					fields = append(fields, f.Name+"="+f.Value)
				}
				if text := strings.Join(fields, " "); !strings.Contains(text, tc.want+" Accept=") || strings.Contains(text, "Content-Type") {
					t.Errorf("sent %s, want %s", text, tc.want)
				}
			})
		})
	}
}

func TestHeadersOfTheTargetComeFirst(t *testing.T) {
	s := story(t, `
steps:
  - http: POST /x
    headers: {X-Own: "1"}
    raw: {text: "a", type: text/plain}
`)
	synctest.Test(t, func(t *testing.T) {
		ref := target(t, "ref", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.Copy(w, r.Body) }))
		ref.Header = transcript.Header{{Name: "X-Secret", Value: "s"}}
		got := Scenario(t.Context(), s, []*Target{ref}, options())[0].Steps[0].Exchanges[0]
		var fields []string
		for _, f := range got.Request.Header {
			fields = append(fields, f.Name+"="+f.Value)
		}
		if text := strings.Join(fields, " "); !strings.Contains(text, "X-Secret=s X-Own=1 Accept=*/* Content-Type=text/plain") {
			t.Errorf("sent %s", text)
		}
		if string(got.Response.Body.Bytes) != "a" {
			t.Errorf("body %q", got.Response.Body.Bytes)
		}
	})
}

// Null is a value in JSON. In a text, it would become the word "null".
func TestACaptureOfNullIsNoText(t *testing.T) {
	for step, want := range map[string]string{
		"{http: \"GET /${{ id }}\"}":                           "fault: id was captured as null, which is no text: capture what is there, or expect a value where it is captured",
		"{http: POST /, json: {id: \"no ${{ id }}\"}}":         "fault: id was captured as null, which is no text: capture what is there, or expect a value where it is captured",
		"{http: POST /, json: {id: \"${{ id }}\"}}":            "done",
		"{http: \"GET /${{ text }}\"}":                         "done",
		"{http: GET /, expect: {json: {$.id: \"${{ id }}\"}}}": "done",
	} {
		text := "\nsteps:\n  - {http: GET /, capture: {id: $.id, text: $.text}}\n  - " + step + "\n"
		server := answer(`{"id":null,"text":"null"}`)
		walk(t, story(t, text), options(), server, server, func(t *testing.T, ref, _ *transcript.Transcript, _ time.Duration) {
			same(t, step, outcomes(ref)[1], "2 "+want)
		})
	}
}
