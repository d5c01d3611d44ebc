//go:build unix

package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/engine/runfile"
	"github.com/lockstep-dev/lockstep/harness/internal/fauxproject"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/internal/faux"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// stamped is a project in which two scenarios share two processes of these roles.
func stamped(t *testing.T, right, wrong string) *project.Project {
	t.Helper()
	file := fauxproject.Write(t, process(t, "right", right, "")+process(t, "wrong", wrong, ""))
	text := testfile.Text(t, file)
	fauxproject.Add(t, file, "lockstep.yaml", strings.Replace(text, "limits:", "undocumented: allow\nlimits:", 1))
	return fauxproject.Load(t, file)
}

// stamp is a server of this role inside the test.
func stamp(role string) *faux.Server {
	for _, f := range faux.Stamps() {
		if f.ID == role {
			return &faux.Server{Fault: f}
		}
	}
	return nil
}

// doubts returns how many values a run could not tell from constants.
func doubts(r *engine.Result) (n int) {
	for reason, times := range r.Totals.Compared.NotCompared {
		if strings.HasPrefix(reason, "made up or constant") {
			n += times
		}
	}
	return n
}

// probes returns, by scenario, the targets whose probes are in a run file.
func probes(t *testing.T, file *bytes.Buffer) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	_, err := transcript.ReadRun(bytes.NewReader(file.Bytes()), nil, func(tr *transcript.Transcript) error {
		if tr.Probe {
			out[tr.Scenario] = append(out[tr.Scenario], tr.Target)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// theItems selects two scenarios that show what a server says about each item.
func theItems() engine.Options {
	return engine.Options{Select: project.Selection{Paths: []string{"items"}}, Environ: os.Environ()}
}

func TestAProbeDistinguishesConstantsFromGeneratedValues(t *testing.T) {
	for _, tc := range []struct {
		right, wrong string
		served       bool   // the candidate is a server that already runs
		says         string // how each finding begins; "" for no findings
	}{
		{"stamp", "other-stamp", false, "the reference returns the same"},
		{"stamp", "other-stamp", true, "the reference returns the same"},
		{"stamp", "instance", false, "the reference returns the same"},
		{"instance", "other-stamp", false, "the candidate returns the same"},
		{"instance", "instance", false, ""},
		{"instance", "instance", true, ""},
	} {
		t.Run(tc.right+" and "+tc.wrong, func(t *testing.T) {
			slow(t)
			t.Parallel()
			p, targets := stamped(t, tc.right, tc.wrong), []string{"right", "wrong"}
			if tc.served {
				targets[1] += "=" + faux.Serve(t, stamp(tc.wrong))
			}
			file, result := fauxproject.Record(t, p, theItems(), targets...)
			want := verdict.Match
			if tc.says != "" {
				want = verdict.Differ
			}
			if result.Verdict != want || doubts(result) > 0 {
				t.Errorf("the run is %s, want %s, with %d values in doubt", result.Verdict, want, doubts(result))
			}
			for _, s := range result.Scenarios {
				if s.Verdict != want {
					t.Errorf("%s is %s, want %s", s.ID, s.Verdict, want)
				}
				for _, f := range s.Findings {
					if f.Kind != "constant" || !strings.HasPrefix(f.Text, tc.says) {
						t.Errorf("%s: %s", s.ID, f)
					}
				}
			}
			ran := probes(t, file)
			if len(ran) != 1 || len(ran["items/story"])+len(ran["items/every-step"]) != 2 {
				t.Errorf("probes are %v, want one of a scenario on both targets", ran)
			}
			isJudgedAlike(t, p, file, result)
			isCountedWithoutProbes(t, p, file, result)
		})
	}
}

// isJudgedAlike fails when judging the run file does not give the result of the run.
func isJudgedAlike(t *testing.T, p *project.Project, file *bytes.Buffer, run *engine.Result) {
	t.Helper()
	again, err := engine.Judge(t.Context(), p, bytes.NewReader(file.Bytes()), nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(pins(run), pins(again)); diff != "" || again.Verdict != run.Verdict || doubts(again) != doubts(run) {
		t.Errorf("judged again it is %s, not %s (-run +again):\n%s", again.Verdict, run.Verdict, diff)
	}
	if diff := cmp.Diff(run.Totals, again.Totals); diff != "" {
		t.Errorf("totals (-run +again):\n%s", diff)
	}
}

// isCountedWithoutProbes fails when a probe has changed more than what it decided. Without its probe, a run file must
// give the same counts as before.
func isCountedWithoutProbes(t *testing.T, p *project.Project, file *bytes.Buffer, run *engine.Result) {
	t.Helper()
	out := without(t, file, func(tr *transcript.Transcript) bool { return tr.Probe })
	before, err := engine.Judge(t.Context(), p, out, nil)
	if err != nil {
		t.Fatal(err)
	}
	if before.Verdict != verdict.Match || doubts(before) == 0 {
		t.Errorf("without its probe the run is %s, with %d values in doubt", before.Verdict, doubts(before))
	}
	if diff := cmp.Diff(before.Totals.Targets, run.Totals.Targets); diff != "" {
		t.Errorf("what targets did (-without a probe +with one):\n%s", diff)
	}
	if diff := cmp.Diff(asJSON(t, before.Coverage), asJSON(t, run.Coverage)); diff != "" {
		t.Errorf("coverage (-without a probe +with one):\n%s", diff)
	}
	if one, other := before.Totals.Compared, run.Totals.Compared; one.Exchanges != other.Exchanges || one.Events != other.Events || len(before.Latency) != len(run.Latency) {
		t.Errorf("compared %+v without a probe, and %+v with one", one, other)
	}
}

// without is a run file that lacks some transcripts.
func without(t *testing.T, file *bytes.Buffer, lacks func(*transcript.Transcript) bool) *bytes.Buffer {
	t.Helper()
	var out bytes.Buffer
	var w *transcript.RunWriter
	_, err := transcript.ReadRun(bytes.NewReader(file.Bytes()), func(h transcript.RunHeader) (err error) {
		w, err = transcript.NewRunWriter(&out, h)
		return err
	}, func(tr *transcript.Transcript) error {
		if lacks(tr) {
			return nil
		}
		return w.Write(tr)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(0); err != nil {
		t.Fatal(err)
	}
	return &out
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestAMergedProbeIsJudgedAsInItsShard(t *testing.T) {
	slow(t)
	t.Parallel()
	p, options := stamped(t, "stamp", "other-stamp"), theItems()
	options.Shard = project.Shard{Index: 1, Of: 1}
	file, result := fauxproject.Record(t, p, options, "right", "wrong")
	whole, err := runfile.Merge(p, []runfile.Part{{Name: "1", File: bytes.NewReader(file.Bytes())}})
	if err != nil {
		t.Fatal(err)
	}
	var merged bytes.Buffer
	if err := whole.Write(&merged); err != nil {
		t.Fatal(err)
	}
	if result.Verdict != verdict.Differ {
		t.Errorf("the shard is %s", result.Verdict)
	}
	isJudgedAlike(t, p, &merged, result)
	half := without(t, file, func(tr *transcript.Transcript) bool { return tr.Probe && tr.Target == "right" })
	if _, err := engine.Judge(t.Context(), p, half, nil); err == nil {
		t.Error("half of a probe is taken for one")
	}
	if direct := judgeFile(t.Context(), p, whole); direct.Verdict != result.Verdict {
		t.Errorf("merged it is %s, not %s", direct.Verdict, result.Verdict)
	}
}

// A target that lockstep did not start is not probed, so its values stay listed. The same holds for an interrupted run.
func TestWithoutAProbeConstantsStayUncertain(t *testing.T) {
	isDoubtful := func(t *testing.T, file *bytes.Buffer, result *engine.Result) {
		t.Helper()
		if result.Verdict != verdict.Match || doubts(result) == 0 || result.Incomplete != "" {
			t.Errorf("the run is %s %q with %d values in doubt", result.Verdict, result.Incomplete, doubts(result))
		}
		if ran := probes(t, file); len(ran) > 0 {
			t.Errorf("it has probes: %v", ran)
		}
	}
	t.Run("a server that already runs", func(t *testing.T) {
		t.Parallel()
		file, result := fauxproject.Record(t, stamped(t, "stamp", "other-stamp"), theItems(), "right="+faux.Serve(t, stamp("stamp")), "wrong="+faux.Serve(t, stamp("other-stamp")))
		isDoubtful(t, file, result)
	})
	t.Run("a recording", func(t *testing.T) {
		t.Parallel()
		p, options := stamped(t, "stamp", "other-stamp"), theItems()
		var recording bytes.Buffer
		options.Record = &recording
		if _, err := engine.Run(t.Context(), p, &options); err != nil {
			t.Fatal(err)
		}
		if ran := probes(t, &recording); len(ran) > 0 {
			t.Errorf("the recording has probes: %v", ran)
		}
		against, err := runfile.ReadRecording(p, &recording, "")
		if err != nil {
			t.Fatal(err)
		}
		options = theItems()
		options.Against = against
		file, result := fauxproject.Record(t, p, options, "wrong="+faux.Serve(t, stamp("other-stamp")))
		isDoubtful(t, file, result)
	})
	t.Run("an interrupted probe", func(t *testing.T) {
		t.Parallel()
		ctx, interrupt := context.WithCancelCause(t.Context())
		defer interrupt(nil)
		var over atomic.Bool
		wrong := stamp("other-stamp")
		wrong.Asked = func(operation string) {
			if over.Load() && operation == "POST /items" {
				interrupt(errInterrupt)
			}
		}
		var file bytes.Buffer
		options := theItems()
		options.Targets, options.RunFile = []string{"right", "wrong=" + faux.Serve(t, wrong)}, &file
		options.Progress = func(done, of int, _ *verdict.Scenario) { over.Store(done == of) }
		result, err := engine.Run(ctx, stamped(t, "stamp", "other-stamp"), &options)
		if err != nil {
			t.Fatal(err)
		}
		if ctx.Err() == nil {
			t.Error("there was no probe to interrupt")
		}
		isDoubtful(t, &file, result)
	})
}

func TestARunWithoutConstantsHasNoProbes(t *testing.T) {
	p := stamped(t, "right", "right")
	file, result := fauxproject.Record(t, p, theItems(), "right", "wrong")
	if ran := probes(t, file); len(ran) > 0 || result.Verdict != verdict.Match {
		t.Errorf("the run is %s, with probes %v", result.Verdict, ran)
	}
}
