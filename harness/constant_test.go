package harness_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/harness"
	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/faux"
)

// rewritten is a run file with other transcripts.
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

// builds puts a field into the head of all answers, with a value for each target, and says that each scenario found a
// process of its own.
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
	p := load(t, running)
	url := serve(t, &faux.Server{})
	file, _ := recorded(t, p, harness.Options{Select: harness.Selection{Paths: []string{"items"}}}, "right="+url, "wrong="+serve(t, &faux.Server{}))
	judge := func(of map[string]string) *harness.Result {
		t.Helper()
		result, err := p.Judge(t.Context(), rewritten(t, bytes.NewBuffer(file.Bytes()), builds(of)), nil)
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
	for name, write := range map[string]func(out *strings.Builder) error{
		"terminal": func(out *strings.Builder) error { return report.Text(out, doc, report.Paint{}) },
		"JSON":     func(out *strings.Builder) error { return report.JSON(out, doc) },
		"JUnit":    func(out *strings.Builder) error { return report.JUnit(out, doc) },
		"Markdown": func(out *strings.Builder) error { return report.Markdown(out, doc, 1<<20) },
		"page":     func(out *strings.Builder) error { return report.HTML(out, doc) },
	} {
		var out strings.Builder
		if err := write(&out); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, want := range []string{"the reference repeats the value", ours, theirs} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("the %s report does not say %q:\n%.2000s", name, want, out.String())
			}
		}
	}
}
