package engine_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

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

// record runs two servers. It returns the recording of the first one, and the judgement.
func record(t *testing.T, p *project.Project, options engine.Options, targets ...string) ([]byte, *engine.Result) {
	t.Helper()
	var tape bytes.Buffer
	options.Record, options.Targets = &tape, targets
	result, err := engine.Run(t.Context(), p, &options)
	if err != nil {
		t.Fatal(err)
	}
	return tape.Bytes(), result
}

// replay runs candidates against a recording.
func replay(t *testing.T, p *project.Project, tape []byte, options engine.Options, targets ...string) *engine.Result {
	t.Helper()
	r, err := runfile.ReadRecording(p, bytes.NewReader(tape), options.ReferenceVersion)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	options.Against, options.RunFile, options.Targets = r, &file, targets
	result, err := engine.Run(t.Context(), p, &options)
	if err != nil {
		t.Fatal(err)
	}
	isJudgedAgain(t, p, &file, result)
	return result
}

// verdicts returns one line for each verdict and finding, without generated values.
func verdicts(result *engine.Result) []string {
	var out []string
	for _, s := range result.Scenarios {
		out = append(out, fmt.Sprintf("%s %s", s.ID, s.Verdict))
		for _, f := range s.Findings {
			out = append(out, fmt.Sprintf("%s %s %s %s %s", s.ID, f.Class, f.Kind, f.At, f.Fingerprint))
		}
	}
	return out
}

func TestACandidateIsJudgedAgainstARecordingAsAgainstItsReference(t *testing.T) {
	for _, id := range []string{"", "other-value", "wrong-type", "missing-field", "old-time", "other-id-in-event", "doubled-event", "reset-without-answer"} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			p := fauxproject.New(t, fauxproject.Running)
			wrong := "wrong=" + faux.Serve(t, &faux.Server{Fault: faux.Named(t, id)})
			tape, both := record(t, p, engine.Options{Select: everything}, "right="+faux.Serve(t, &faux.Server{}), wrong)
			alone := replay(t, p, tape, engine.Options{Select: everything}, wrong)
			if diff := cmp.Diff(verdicts(both), verdicts(alone)); diff != "" {
				t.Errorf("against the recording it is judged otherwise (-reference +recording):\n%s", diff)
			}
			if got := alone.Totals.Targets[0]; got.Name != "right" || got.Exchanges != both.Totals.Targets[0].Exchanges {
				t.Errorf("the recorded reference is %+v, want %+v", got, both.Totals.Targets[0])
			}
		})
	}
}

// moments matches the times in a run file, those of lockstep and those of servers.
var moments = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)

// aged moves times in a run file into the past: all of them, or only those of servers.
func aged(t *testing.T, file []byte, by time.Duration, which *regexp.Regexp) []byte {
	t.Helper()
	lines := bytes.SplitAfter(file, []byte("\n"))
	last := len(lines) - 2 // the footer; the line after it is empty
	sum := sha256.New()
	var out bytes.Buffer
	for _, line := range lines[:last] {
		line = which.ReplaceAllFunc(line, func(text []byte) []byte {
			return moments.ReplaceAllFunc(text, func(at []byte) []byte {
				moment, err := time.Parse(time.RFC3339Nano, string(at))
				if err != nil {
					t.Fatal(err)
				}
				return []byte(moment.Add(-by).Format(time.RFC3339Nano))
			})
		})
		sum.Write(line)
		out.Write(line)
	}
	var footer struct{ Footer transcript.RunFooter }
	if err := json.Unmarshal(lines[last], &footer); err != nil {
		t.Fatal(err)
	}
	was := footer.Footer.SHA256
	out.Write(bytes.Replace(lines[last], []byte(was), []byte(hex.EncodeToString(sum.Sum(nil))), 1))
	return out.Bytes()
}

// Times must be close to the moment at which their side was recorded, not close to each other.
func TestARecordingMayBeOld(t *testing.T) {
	p := fauxproject.New(t, fauxproject.Running)
	right, wrong := "right="+faux.Serve(t, &faux.Server{}), "wrong="+faux.Serve(t, &faux.Server{})
	tape, _ := record(t, p, engine.Options{Select: everything}, right, wrong)
	const year = 365 * 24 * time.Hour
	if result := replay(t, p, aged(t, tape, year, moments), engine.Options{Select: everything}, wrong); result.Verdict != verdict.Match {
		t.Errorf("a recording of last year: %s, %v", result.Verdict, verdicts(result))
	}
	servers := regexp.MustCompile(`\\"at\\":\\"[^"]*\\"`) // as if the servers had sent times that were old already
	if result := replay(t, p, aged(t, tape, year, servers), engine.Options{Select: everything}, wrong); result.Verdict == verdict.Match {
		t.Error("times that lay far from the moment they were seen match")
	}
}

func TestTheVersionOfAFolderIsThatOfAllItsFiles(t *testing.T) {
	config := fauxproject.Write(t, strings.Replace(fauxproject.Running, "right: {", "right: {version: {file: src}, ", 1))
	src := filepath.Join(filepath.Dir(config), "src")
	file := filepath.Join(src, "deep", "main.js")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	put := func(path, text string) {
		t.Helper()
		testfile.Write(t, path, text)
	}
	put(file, "one")
	p := fauxproject.Load(t, config)
	items := engine.Options{Select: project.Selection{Paths: []string{"items/story"}}}
	wrong := "wrong=" + faux.Serve(t, &faux.Server{})
	tape, _ := record(t, p, items, "right="+faux.Serve(t, &faux.Server{}), wrong)
	for _, tc := range []struct {
		name   string
		change func()
		want   verdict.Verdict
	}{
		{"as it was", func() {}, verdict.Match},
		{"another content", func() { put(file, "two") }, verdict.Unknown},
		{"one file more", func() { put(file, "one"); put(filepath.Join(src, "more.js"), "") }, verdict.Unknown},
		{"another name", func() {
			put(filepath.Join(src, "more.js"), "one")
			testfile.Remove(t, file)
		}, verdict.Unknown},
	} {
		tc.change()
		if result := replay(t, p, tape, items, wrong); result.Verdict != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, result.Verdict, tc.want)
		}
	}
}

func TestTheRecordedReferenceIsNotStarted(t *testing.T) {
	p := fauxproject.New(t, "  right: {command: [sh, -c, 'exit 3', '${{ port }}'], ready: {get: /health}}\n  wrong: {url: \"http://127.0.0.1:2\", ready: {get: /health}}\n")
	wrong := "wrong=" + faux.Serve(t, &faux.Server{})
	tape, _ := record(t, p, engine.Options{Select: project.Selection{Paths: []string{"items"}}}, "right="+faux.Serve(t, &faux.Server{}), wrong)
	if result := replay(t, p, tape, engine.Options{Select: project.Selection{Paths: []string{"items"}}, Environ: os.Environ()}, wrong); result.Verdict != verdict.Match {
		t.Errorf("%s: %v", result.Verdict, result.Scenarios)
	}
	if result := replay(t, p, tape, engine.Options{Select: project.Selection{Paths: []string{"items"}}}, "right="+faux.Serve(t, &faux.Server{})); result.Verdict != verdict.Match || result.Totals.Targets[1].Name != "right-2" {
		t.Errorf("the reference of today against that of the recording: %s, %+v", result.Verdict, result.Totals.Targets)
	}
}

func TestInvalidRecordingsAreRejected(t *testing.T) {
	p := fauxproject.New(t, fauxproject.Running)
	right, wrong := "right="+faux.Serve(t, &faux.Server{}), "wrong="+faux.Serve(t, &faux.Server{})
	items := engine.Options{Select: project.Selection{Paths: []string{"items/story"}}}
	tape, _ := record(t, p, items, right, wrong)
	whole, _ := fauxproject.Record(t, p, items, right, wrong)
	for name, tc := range map[string]struct {
		file []byte
		want string
	}{
		"a run file": {whole.Bytes(), "the run file is not a recording\n\tfix: lockstep run --record writes one"},
		"cut off":    {tape[:len(tape)-9], "run file is incomplete"},
		"an old one": {resealed(t, tape, `"limits":{"step":`, `"others":{"step":`), "was made by an older lockstep, and does not say what it depends on\n\tfix: record again"},
	} {
		if r, err := runfile.ReadRecording(p, bytes.NewReader(tc.file), ""); r != nil || err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, %v; want %q", name, r, err, tc.want)
		}
	}
	r, err := runfile.ReadRecording(p, bytes.NewReader(tape), "")
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		options engine.Options
		want    string
	}{
		"another reference":      {engine.Options{Against: r, Reference: "wrong"}, `reference "wrong" is not the recorded one`},
		"no such target":         {engine.Options{Against: r, Targets: []string{"left"}}, `target "left" is not in `},
		"a record of a record":   {engine.Options{Against: r, Record: &bytes.Buffer{}}, "a recording cannot be recorded again"},
		"a record of a shard":    {engine.Options{Shard: project.Shard{Index: 1, Of: 2}, Record: &bytes.Buffer{}}, "a shard cannot be recorded, because it has only some of the scenarios\n\tfix: leave out --record here, and use it with lockstep merge"},
		"no such scenario there": {engine.Options{Against: r, Select: project.Selection{Paths: []string{"nowhere"}}}, "no scenario or folder is called"},
	} {
		if err := engine.Validate(p, &tc.options); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}
