package engine_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/engine/runfile"
	"github.com/lockstep-dev/lockstep/harness/internal/fauxproject"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/report/jsonreport"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/faux"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// isJudgedAgain fails unless judging the run file gives exactly the result of the run.
func isJudgedAgain(t *testing.T, p *project.Project, file io.Reader, result *engine.Result) {
	t.Helper()
	again, err := engine.Judge(t.Context(), p, file, nil)
	if err != nil {
		t.Errorf("Judge: %v", err)
		return
	}
	if diff := cmp.Diff(document(t, p, result), document(t, p, again)); diff != "" {
		t.Errorf("judged again, the run is another (-run +again):\n%s", diff)
	}
}

func document(t *testing.T, p *project.Project, result *engine.Result) string {
	t.Helper()
	var out strings.Builder
	if err := jsonreport.Write(&out, result.Document(p)); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestARunFileIsJudgedAsTheRunWas(t *testing.T) {
	right := faux.Serve(t, &faux.Server{})
	items := project.Selection{Paths: []string{"items", "process/stop"}}
	for _, tc := range []struct {
		name    string
		targets string // further targets of the project
		run     []string
		want    verdict.Verdict
	}{
		{"green, and one that does not apply", "", []string{"right=" + right, "wrong=" + faux.Serve(t, &faux.Server{})}, verdict.Match},
		{"red", "", []string{"right=" + right, "wrong=" + faux.Serve(t, &faux.Server{Fault: faux.Named(t, "wrong-type")})}, verdict.Differ},
		{"red, of three targets", "", []string{"right=" + right, "wrong=" + faux.Serve(t, &faux.Server{Fault: faux.Named(t, "other-value")}), "third=" + faux.Serve(t, &faux.Server{})}, verdict.Differ},
		{"alone", "", []string{"right=" + right}, verdict.Match},
		{"unknown", "  gone: {command: [sh, -c, 'echo no database >&2; exit 3', '${{ port }}'], ready: {get: /health}}\n", []string{"right=" + right, "gone"}, verdict.Unknown},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := fauxproject.New(t, fauxproject.Running+tc.targets)
			file, result := fauxproject.Record(t, p, engine.Options{Select: items, Jobs: 3, Environ: os.Environ()}, tc.run...)
			if result.Verdict != tc.want {
				t.Fatalf("the run is %s, want %s", result.Verdict, tc.want)
			}
			isJudgedAgain(t, p, file, result)
		})
	}
}

// Without this test, a judgement that is always green would pass where the run is green.
func TestWhatIsInTheFileIsJudged(t *testing.T) {
	p := fauxproject.New(t, fauxproject.Running)
	file, _ := fauxproject.Record(t, p, engine.Options{Select: project.Selection{Paths: []string{"items"}}},
		"right="+faux.Serve(t, &faux.Server{}), "wrong="+faux.Serve(t, &faux.Server{}))
	var changed bytes.Buffer
	rewrite(t, file, &changed, func(tr *transcript.Transcript) {
		if tr.Target == "wrong" {
			tr.Steps[0].Exchanges[0].Response.Status = 418
		}
	})
	again, err := engine.Judge(t.Context(), p, &changed, nil)
	if err != nil || again.Verdict != verdict.Differ || again.Totals.Differ != 2 {
		t.Errorf("Judge: %+v, %v; want two scenarios that differ", again, err)
	}
}

// rewrite copies a run file and changes its transcripts.
func rewrite(t *testing.T, from io.Reader, to io.Writer, change func(*transcript.Transcript)) {
	t.Helper()
	var w *transcript.RunWriter
	_, err := transcript.ReadRun(from, func(h transcript.RunHeader) (err error) {
		w, err = transcript.NewRunWriter(to, h)
		return err
	}, func(tr *transcript.Transcript) error {
		change(tr)
		return w.Write(tr)
	})
	if err := errors.Join(err, w.Close(0)); err != nil {
		t.Fatal(err)
	}
}

func TestARunFileThatIsNotOfTheProjectIsRefused(t *testing.T) {
	file, _ := fauxproject.Record(t, fauxproject.New(t, fauxproject.Running), engine.Options{Select: project.Selection{Paths: []string{"items/story"}}}, "right="+faux.Serve(t, &faux.Server{}))
	whole := file.String()
	lines := strings.SplitAfter(whole, "\n")
	for _, tc := range []struct {
		name   string
		change map[string]string // text that is appended to files of the project
		file   string
		want   string
	}{
		{"another contract", map[string]string{"openapi.yaml": "# changed\n"}, whole, "the run file was made with a different contract than "},
		{"another scenario", map[string]string{"scenarios/items/story.yaml": "# changed\n"}, whole, "the run file was made with different scenarios than those of "},
		{"cut off", nil, strings.Join(lines[:len(lines)-2], ""), "run file is incomplete: no footer after line "},
		{"changed", nil, strings.Replace(whole, `"status":201`, `"status":202`, 1), "its footer does not fit what is before it"},
		{"of another format", nil, strings.Replace(whole, `"format":1`, `"format":2`, 1), "format 2; this version of lockstep reads format 1"},
		{"another scenario's name", nil, strings.ReplaceAll(whole, `"scenario":"items/story"`, `"scenario":"items/tale"`), `the project has no scenario "items/tale"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			config := fauxproject.Write(t, fauxproject.Running)
			for name, text := range tc.change {
				appendTo(t, filepath.Join(filepath.Dir(config), name), text)
			}
			p := fauxproject.Load(t, config)
			result, err := engine.Judge(t.Context(), p, strings.NewReader(tc.file), nil)
			if result != nil || err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Judge: %v, %v; want no result, and %q", result, err, tc.want)
			}
		})
	}
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	data := testfile.Read(t, path)
	testfile.Write(t, path, append(data, text...))
}

func TestTheTranscriptsOfACaseAreThoseOfTheTargets(t *testing.T) {
	p := fauxproject.New(t, fauxproject.Running)
	file, _ := fauxproject.Record(t, p, engine.Options{Select: project.Selection{Paths: []string{"items/story"}}},
		"right="+faux.Serve(t, &faux.Server{}), "wrong="+faux.Serve(t, &faux.Server{}))
	var changed bytes.Buffer
	rewrite(t, file, &changed, func(tr *transcript.Transcript) { tr.Target = "right" })
	const want = "the transcripts of items/story are not those of the targets"
	if _, err := runfile.Read(p, &changed); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("ReadRun: %v, want %q", err, want)
	}
}

// A run file may be judged by other rules: showing what they would find is the purpose of judging again.
func TestOtherRulesAreTakenAndNoted(t *testing.T) {
	p := fauxproject.New(t, fauxproject.Running)
	file, result := fauxproject.Record(t, p, engine.Options{Select: project.Selection{Paths: []string{"items/story"}}},
		"right="+faux.Serve(t, &faux.Server{}), "wrong="+faux.Serve(t, &faux.Server{Fault: faux.Named(t, "other-value")}))
	data := file.Bytes()
	notes := func(p *project.Project) (*engine.Result, []string) {
		var out []string
		again, err := engine.Judge(t.Context(), p, bytes.NewReader(data), &engine.JudgeOptions{Note: func(s string) { out = append(out, s) }})
		if err != nil {
			t.Fatal(err)
		}
		return again, out
	}
	if again, said := notes(p); len(said) > 0 || again.Verdict != result.Verdict {
		t.Errorf("by the same rules it is %s, with the notes %q", again.Verdict, said)
	}
	dir := filepath.Dir(p.File)
	lenient := strings.Replace(testfile.Text(t, p.File), "limits:", "    - {at: $..*, kind: text, because: any text will do}\nlimits:", 1)
	config := filepath.Join(dir, "lenient.yaml")
	testfile.Write(t, config, lenient)
	other := fauxproject.Load(t, config)
	again, said := notes(other)
	if len(said) != 1 || !strings.HasSuffix(said[0], "has changed since the run; the current rules apply") {
		t.Errorf("notes %q", said)
	}
	if len(again.Scenarios[0].Findings) >= len(result.Scenarios[0].Findings) {
		t.Errorf("by rules that let more pass, as much is found: %v", again.Scenarios[0].Findings)
	}
}

func TestAnInterruptedJudgementIsIncomplete(t *testing.T) {
	p := fauxproject.New(t, fauxproject.Running)
	file, _ := fauxproject.Record(t, p, engine.Options{Select: project.Selection{Paths: []string{"items"}}}, "right="+faux.Serve(t, &faux.Server{}))
	ctx, interrupt := context.WithCancelCause(t.Context())
	interrupt(errInterrupt)
	result, err := engine.Judge(ctx, p, file, nil)
	if err != nil || result.Verdict != verdict.Unknown || result.Incomplete != "interrupted after 0 of 2 scenarios: interrupt" {
		t.Errorf("Judge: %+v, %v", result, err)
	}
}

func TestAJudgementReportsItsProgress(t *testing.T) {
	p := fauxproject.New(t, fauxproject.Running)
	file, _ := fauxproject.Record(t, p, engine.Options{Select: project.Selection{Paths: []string{"items"}}}, "right="+faux.Serve(t, &faux.Server{}))
	monitor := &engine.Monitor{}
	calls := 0
	_, err := engine.Judge(t.Context(), p, file, &engine.JudgeOptions{Monitor: monitor, Progress: func(done, of int, _ *verdict.Scenario) {
		calls++
		if done != calls || of != 2 {
			t.Errorf("%d of %d, want %d of 2", done, of, calls)
		}
	}})
	if s := monitor.Status(); err != nil || calls != 2 || s.Done != 2 || s.Of != 2 {
		t.Errorf("%v; %d calls, status %+v; want 2 of 2", err, calls, s)
	}
}

func judgeFile(ctx context.Context, p *project.Project, file *runfile.File) *engine.Result {
	result, err := engine.JudgeFile(ctx, p, file, nil)
	if err != nil {
		panic(err)
	}
	return result
}
