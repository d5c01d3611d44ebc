package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func body(s string) Body { return Body{Bytes: []byte(s), Size: int64(len(s))} }

// sample returns a transcript with everything that could easily get lost.
func sample(target string) *Transcript {
	no, yes := "x", "y"
	return &Transcript{
		Scenario: "a/b[row]", Target: target, Unique: "u1", Directory: "/tmp/d", Started: time.Date(2026, 3, 1, 0, 0, 0, 1, time.UTC), Took: time.Second,
		Stalled: 2, Starved: []Starvation{{-1, 3, 4}, {3, 8, 2}}, Delayed: []Starvation{{1, 2, 1}},
		Steps: []Step{{
			ID: "1", Line: 7, Kind: "http", Text: "POST /", At: 1, Took: 2,
			Exchanges: []*Exchange{{
				Request: Request{Method: "POST", Target: "/a%ZZ", Header: Header{{"B", "1"}, {"a", "<&>\xff"}}, Body: body(`{"a":1.0}`), Malformed: true},
				Response: &Response{
					Proto: "HTTP/1.1", Status: 200, Header: Header{{"content-type", "application/json"}},
					Body: Body{Bytes: []byte("\x00\xff"), Size: 1 << 40},
				},
				Failure: &Failure{FailClosed, PhaseBody, "gone"}, Stream: "bus", Sent: 1, Head: 2, Done: 3,
			}},
			Burst: true, Stream: "bus", Events: []int{0, 2},
			Expect: &Expect{
				Status: 200, Header: map[string]*string{"a": &no, "b": nil}, Body: &yes,
				JSON:  &JSONPattern{Whole: []byte(`{"n":1.0}`), At: map[string]json.RawMessage{"$.a": json.RawMessage("1.0")}, Absent: []string{"$.b"}},
				Count: map[int]int{200: 1}, EndedBy: EndedByServer, OneOf: []Expect{{Status: 1}},
			},
			Process: &ProcessEnd{Signal: "SIGTERM", Status: "exit status 0", Took: 4},
			Unmet:   &Unmet{"event", "w", "y"}, Fault: "f", Skipped: "s", Uncompared: true,
		}},
		Streams: []*Stream{{
			Name: "bus", Step: "1", Operation: "GET /event", Left: 3, Ended: EndedBroken, At: 1, Until: 2, Failure: &Failure{FailReset, PhaseBody, "t"},
			Events: []Event{
				{Name: "n", Type: "t", Data: "d\nü\u2028", ID: "i", Retry: "1", Framing: "data: •\n\n", At: 5},
				{Data: "not \xff UTF-8", Framing: "\xfe: •\n\n"},
				{Comment: true, Data: "c", Framing: ":•\n\n"}, {Undispatched: true, Framing: "\n"},
			},
		}},
		Windows: []Window{{Step: "1", Line: 8, Stream: "bus", Match: &Pattern{Event: &yes}, First: 2, From: 1, To: 2}},
		Exit:    &Exit{Status: "exit status 1", At: 9, Log: []string{"a"}},
		Aborted: "a", Unusable: "u", Log: []string{"l"},
	}
}

func write(t testing.TB, ts ...*Transcript) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := NewRunWriter(&b, RunHeader{Version: "1", Seed: 1<<63 + 1, Targets: []RunTarget{{Name: "ref", Reference: true}, {Name: "cand"}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tr := range ts {
		if err := w.Write(tr); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(0); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func read(data []byte) (h RunHeader, ts []*Transcript, err error) {
	_, err = ReadRun(bytes.NewReader(data), func(got RunHeader) error { h = got; return nil }, func(t *Transcript) error {
		ts = append(ts, t)
		return nil
	})
	return h, ts, err
}

func TestARunFileGivesBackWhatWasWritten(t *testing.T) {
	want := []*Transcript{sample("ref"), sample("cand")}
	data := write(t, want...)
	h, got, err := read(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Body{})); diff != "" {
		t.Errorf("transcripts (-want +got):\n%s", diff)
	}
	if h.Format != Format || h.Seed != 1<<63+1 || len(h.Targets) != 2 {
		t.Errorf("header %+v", h)
	}
	if n := strings.Count(string(data), `{"body":`); n != 2 {
		t.Errorf("%d bodies in the file, want each of the 2 once", n)
	}
}

func TestAPaddedBodyIsWrittenWithoutItsPadding(t *testing.T) {
	tr := sample("ref")
	filled := Body{Bytes: []byte(`{"a":""}`), Size: 50 << 20, Fill: &Fill{At: 6, Times: 50<<20 - 8}}
	tr.Steps[0].Exchanges[0].Request.Body = filled
	data := write(t, tr)
	if len(data) > 10_000 {
		t.Errorf("the file has %d bytes", len(data))
	}
	_, got, err := read(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(filled, got[0].Steps[0].Exchanges[0].Request.Body, cmpopts.IgnoreUnexported(Body{})); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
	if cut := (Body{Bytes: filled.Bytes, Size: filled.Size}); !filled.Whole() || cut.Whole() {
		t.Errorf("whole: %t, and without the filler %t", filled.Whole(), cut.Whole())
	}
	tr.Steps[0].Exchanges[0].Request.Body.Fill = &Fill{At: 9}
	if _, _, err := read(write(t, tr)); err == nil || !strings.Contains(err.Error(), "is filled where it has no byte") {
		t.Errorf("a filler beyond the end: %v", err)
	}
}

func TestARepeatedBodyIsWrittenOnce(t *testing.T) {
	a, b := sample("ref"), sample("cand")
	once, twice := write(t, a), write(t, a, b)
	if strings.Count(string(once), `{"body":`) != strings.Count(string(twice), `{"body":`) {
		t.Error("the second transcript's bodies were written again")
	}
}

func TestAnIncompleteRunFileIsRefused(t *testing.T) {
	whole := write(t, sample("ref"))
	lines := bytes.SplitAfter(whole, []byte("\n"))
	footer := lines[len(lines)-2]
	for name, data := range map[string][]byte{
		"empty":                    nil,
		"only a header":            lines[0],
		"no footer":                bytes.TrimSuffix(whole, footer),
		"cut in the footer":        whole[:len(whole)-5],
		"a line is missing":        bytes.Join(append(append([][]byte{}, lines[0]), lines[2:]...), nil),
		"a transcript is missing":  bytes.Join([][]byte{lines[0], lines[1], lines[2], footer}, nil),
		"one byte is another":      bytes.Replace(whole, []byte(`"scenario":"a/b`), []byte(`"scenario":"a/c`), 1),
		"it does not begin":        bytes.Join(lines[1:], nil),
		"the header comes twice":   append(append([]byte{}, lines[0]...), whole...),
		"another format":           bytes.Replace(whole, []byte(`"format":1`), []byte(`"format":99`), 1),
		"something else in a line": append(append([]byte{}, lines[0]...), "{}\n"...),
		"no JSON":                  append(append([]byte{}, lines[0]...), "x\n"...),
	} {
		if _, _, err := read(data); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, _, err := read(bytes.TrimSuffix(whole, footer)); !errors.Is(err, ErrIncomplete) {
		t.Errorf("no footer: %v, want ErrIncomplete", err)
	}
}

func TestARunFileHasOneRun(t *testing.T) {
	whole := write(t, sample("ref"))
	for name, more := range map[string][]byte{"a second run": whole, "half a line": whole[:10], "a blank line": []byte("\n")} {
		if _, _, err := read(slices.Concat(whole, more)); err == nil || !strings.Contains(err.Error(), "after its last line") {
			t.Errorf("%s behind the footer: error %v, want one that says so", name, err)
		}
	}
}

// A run that is killed leaves all transcripts that it has written.
func TestATranscriptIsInTheFileWhenItIsWritten(t *testing.T) {
	var b bytes.Buffer
	w, err := NewRunWriter(&b, RunHeader{})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		if err := w.Write(sample("ref")); err != nil {
			t.Fatal(err)
		}
		if _, ts, err := read(b.Bytes()); len(ts) != n+1 || !errors.Is(err, ErrIncomplete) {
			t.Errorf("after %d: %d transcripts, %v", n+1, len(ts), err)
		}
	}
}

func TestErrorsOfTheReaderAndOfTheDiskComeThrough(t *testing.T) {
	stop := errors.New("stop")
	data := write(t, sample("ref"))
	_, err := ReadRun(bytes.NewReader(data), func(RunHeader) error { return nil }, func(*Transcript) error { return stop })
	if !errors.Is(err, stop) {
		t.Errorf("ReadRun: %v, want the callback's error", err)
	}
	w, err := NewRunWriter(full{}, RunHeader{})
	if err == nil {
		err = errors.Join(w.Write(sample("ref")), w.Close(0))
	}
	if !errors.Is(err, errFull) {
		t.Errorf("write to a full disk: %v", err)
	}
}

var errFull = errors.New("no space left on device")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestHeaderIsFoundWhateverItsCase(t *testing.T) {
	h := Header{{"Set-Cookie", "a"}, {"set-cookie", "b"}}
	if v, ok := h.Get("SET-COOKIE"); !ok || v != "a" {
		t.Errorf("Get = %q, %t", v, ok)
	}
	if diff := cmp.Diff([]string{"a", "b"}, h.Values("Set-Cookie")); diff != "" {
		t.Errorf("Values (-want +got):\n%s", diff)
	}
	if _, ok := h.Get("Cookie"); ok {
		t.Error("Get found a field that is not there")
	}
}
