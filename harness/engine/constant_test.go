package engine_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/internal/fauxproject"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/report/html"
	"github.com/lockstep-dev/lockstep/harness/report/jsonreport"
	"github.com/lockstep-dev/lockstep/harness/report/junit"
	"github.com/lockstep-dev/lockstep/harness/report/markdown"
	"github.com/lockstep-dev/lockstep/harness/report/text"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/faux"
)

// rewritten returns a run file in which change has edited the transcripts.
func rewritten(t *testing.T, file *bytes.Buffer, change func(*transcript.Transcript)) *bytes.Buffer {
	t.Helper()
	var out bytes.Buffer
	var w *transcript.RunWriter
	footer, err := transcript.ReadRun(file, func(h transcript.RunHeader) (err error) {
		w, err = transcript.NewRunWriter(&out, h)
		return err
	}, func(tr *transcript.Transcript) error {
		change(tr)
		return w.Write(tr)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(footer.Took); err != nil {
		t.Fatal(err)
	}
	return &out
}

// builds adds a header field to all responses, with one value for each target. It also marks each scenario as run on
// its own process.
func builds(of map[string]string) func(*transcript.Transcript) {
	return func(tr *transcript.Transcript) {
		tr.Process = tr.Started.Add(-time.Second)
		for s := range tr.AllSteps() {
			for _, x := range s.Exchanges {
				if x.Response != nil {
					x.Response.Header = append(x.Response.Header, transcript.Field{Name: "X-Shelf", Value: of[tr.Target]})
				}
			}
		}
	}
}

func TestAConstantIsInEveryReport(t *testing.T) {
	p := fauxproject.New(t, fauxproject.Running)
	url := faux.Serve(t, &faux.Server{})
	file, _ := fauxproject.Record(t, p, engine.Options{Select: project.Selection{Paths: []string{"items"}}}, "right="+url, "wrong="+faux.Serve(t, &faux.Server{}))
	judge := func(of map[string]string) *engine.Result {
		t.Helper()
		result, err := engine.Judge(t.Context(), p, rewritten(t, bytes.NewBuffer(file.Bytes()), builds(of)), nil)
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	const ours, theirs = "release-20261122build7", "release-20261122build8"
	if same := judge(map[string]string{"right": ours, "wrong": ours}); same.Verdict != verdict.Match {
		t.Errorf("with one build on both sides the run is %s", same.Verdict)
	}
	result := judge(map[string]string{"right": ours, "wrong": theirs})
	if result.Verdict != verdict.Differ || result.Totals.Differ != len(result.Scenarios) {
		t.Errorf("the run is %s, %d of %d scenarios differ", result.Verdict, result.Totals.Differ, len(result.Scenarios))
	}
	doc := result.Document(p)
	for _, s := range result.Scenarios {
		if with := s.Findings[0].With; len(with) != 2 || with[0] != s.ID {
			t.Errorf("%s: the constant names %v", s.ID, with)
		}
	}
	for name, write := range map[string]func(out *strings.Builder) error{
		"terminal": func(out *strings.Builder) error { return text.Write(out, doc, text.Options{}) },
		"JSON":     func(out *strings.Builder) error { return jsonreport.Write(out, doc) },
		"JUnit":    func(out *strings.Builder) error { return junit.Write(out, doc) },
		"Markdown": func(out *strings.Builder) error { return markdown.Write(out, doc, 1<<20) },
		"page":     func(out *strings.Builder) error { return html.Write(out, doc) },
	} {
		var out strings.Builder
		if err := write(&out); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, want := range []string{"the reference returns the same value", ours, theirs} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("the %s report does not say %q:\n%.2000s", name, want, out.String())
			}
		}
	}
}

// noted adds a member to the candidate's items, so that its responses differ.
func noted(tr *transcript.Transcript) {
	if tr.Target != "wrong" {
		return
	}
	for s := range tr.AllSteps() {
		for _, x := range s.Exchanges {
			if x.Response != nil {
				x.Response.Body.Bytes = bytes.Replace(x.Response.Body.Bytes, []byte("{"), []byte(`{"remark":"noted",`), 1)
			}
		}
	}
}

func TestAConstantShowsItsExchanges(t *testing.T) {
	p := fauxproject.New(t, fauxproject.Running)
	url := faux.Serve(t, &faux.Server{})
	file, _ := fauxproject.Record(t, p, engine.Options{Select: project.Selection{Paths: []string{"items"}}}, "right="+url, "wrong="+faux.Serve(t, &faux.Server{}))
	const ours, theirs = "release-20261122build7", "release-20261122build8"
	for name, also := range map[string]func(*transcript.Transcript){"alone": func(*transcript.Transcript) {}, "beside another difference": noted} {
		build := builds(map[string]string{"right": ours, "wrong": theirs})
		result, err := engine.Judge(t.Context(), p, rewritten(t, bytes.NewBuffer(file.Bytes()), func(tr *transcript.Transcript) { also(tr); build(tr) }), nil)
		if err != nil {
			t.Fatal(err)
		}
		constants := 0
		for _, s := range result.Scenarios {
			ev := result.Evidence[s.ID]
			if ev == nil || len(ev.Findings) != len(s.Findings) {
				t.Errorf("%s: %s has %d findings, and evidence %+v", name, s.ID, len(s.Findings), ev)
				continue
			}
			for i, f := range s.Findings {
				if f.Class != verdict.Difference {
					continue
				}
				sides, want := ev.Findings[i].Sides, [2]string{"X-Shelf: " + ours, "X-Shelf: " + theirs}
				if f.Kind == "constant" {
					constants++
				}
				method := regexp.MustCompile("[A-Z]{3,}|$").FindString(f.StepText)
				for side := range want {
					if len(sides) != 2 || !strings.Contains(sides[side].Answer, want[side]) || !strings.HasPrefix(sides[side].Request, method) {
						t.Errorf("%s: %s: behind %q at step %s stands %+v", name, s.ID, f.Text, f.StepText, sides)
						break
					}
				}
			}
		}
		if constants == 0 {
			t.Errorf("%s: no constant was found", name)
		}
	}
}
