package engine_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/contract/coverage"
	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/engine/runfile"
	"github.com/lockstep-dev/lockstep/harness/harnesstest"
	"github.com/lockstep-dev/lockstep/harness/internal/fauxproject"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/verdict"
	"github.com/lockstep-dev/lockstep/harness/verdict/waiver"
	"github.com/lockstep-dev/lockstep/internal/faux"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// everything selects the scenarios that need no new processes and do not wait for the clock.
var everything = project.Selection{Skip: []string{"clock", "process"}}

// faulty returns the addresses of a correct server and of one with a fault; "" means no fault.
func faulty(t *testing.T, id string) []string {
	t.Helper()
	return []string{"right=" + faux.Serve(t, &faux.Server{}), "wrong=" + faux.Serve(t, &faux.Server{Fault: faux.Named(t, id)})}
}

// shards runs all shards of a selection and returns their run files.
func shards(t *testing.T, p *project.Project, of int, options engine.Options) [][]byte {
	t.Helper()
	var out [][]byte
	for i := 1; i <= of; i++ {
		var file bytes.Buffer
		o := options
		o.Shard, o.RunFile = project.Shard{Index: i, Of: of}, &file
		result, err := engine.Run(t.Context(), p, &o)
		if err != nil || result.Verdict == verdict.Unknown {
			t.Fatalf("shard %d of %d: %+v, %v", i, of, result, err)
		}
		isJudgedAgain(t, p, bytes.NewReader(file.Bytes()), result)
		out = append(out, file.Bytes())
	}
	return out
}

func merged(p *project.Project, files ...[]byte) (*runfile.File, error) {
	var parts []runfile.Part
	for i, f := range files {
		parts = append(parts, runfile.Part{Name: fmt.Sprintf("%c.jsonl", 'a'+i), File: bytes.NewReader(f)})
	}
	return runfile.Merge(p, parts)
}

// The reports of a run and of its merged shards are equal, apart from what depends on the clock. That holds with
// several jobs, with streams and heartbeats, and with requests outside the contract.
func TestTheShardsOfARunComeToTheRun(t *testing.T) {
	for _, tc := range []struct {
		fault string
		of    int
	}{{"", 1}, {"", 8}, {"other-value", 2}, {"wrong-type", 3}, {"no-answer-and-no-event", 2}, {"", 50}} {
		t.Run(fmt.Sprintf("%s of %d", tc.fault, tc.of), func(t *testing.T) {
			t.Parallel()
			p := lost(t)
			options := engine.Options{Targets: faulty(t, tc.fault), Select: everything, Jobs: 4, AllowEmpty: true}
			record, err := merged(p, shards(t, p, tc.of, options)...)
			if err != nil {
				t.Fatal(err)
			}
			whole, err := engine.JudgeFile(t.Context(), p, record, nil)
			if err != nil {
				t.Fatal(err)
			}
			options.Targets, options.Seed = faulty(t, tc.fault), whole.Seed
			result, err := engine.Run(t.Context(), p, &options)
			if err != nil {
				t.Fatal(err)
			}
			if len(result.Coverage.Undocumented) == 0 {
				t.Error("there is nothing undocumented to list")
			}
			if diff := cmp.Diff(timeless(t, p, result), timeless(t, p, whole)); diff != "" {
				t.Errorf("the shards come to another run (-run +merged):\n%s", diff)
			}
			var file bytes.Buffer
			if err := record.Write(&file); err != nil {
				t.Fatal(err)
			}
			isJudgedAgain(t, p, &file, whole)
		})
	}
}

// lost is a project with scenarios in which the client requests things that do not exist.
func lost(t *testing.T) *project.Project {
	t.Helper()
	config := fauxproject.Write(t, fauxproject.Running)
	for _, name := range []string{"astray", "lost", "nowhere"} {
		text := "scenario: items/" + name + "\nwhy: A client loses its way\nsource: invented\nsteps:\n"
		for _, path := range []string{"/nowhere/c-${{ unique }}", "/" + name, "/items/${{ unique }}/parts/17"} {
			text += "  - http: GET " + path + "\n    malformed: true\n    expect: {status: 404}\n"
		}
		testfile.Write(t, filepath.Join(filepath.Dir(config), "scenarios", "items", name+".yaml"), text)
	}
	return fauxproject.Load(t, config)
}

// A run file that is only split and merged again does not change by a single byte.
func TestARunFileThatIsSplitIsMergedToTheLetter(t *testing.T) {
	for _, fault := range []string{"", "no-answer-and-no-event"} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			p := fauxproject.New(t, fauxproject.Running)
			var tape bytes.Buffer
			buffer, result := fauxproject.Record(t, p, engine.Options{Select: project.Selection{Skip: []string{"clock"}}, Jobs: 1, Record: &tape, ReferenceVersion: "1.2"}, faulty(t, fault)...)
			file, reference := buffer.Bytes(), headerOf(t, tape.Bytes()).Recording
			reference.Scenarios = nil
			for _, of := range []int{1, 2, 3, 8} {
				var parts [][]byte
				for i := 1; i <= of; i++ {
					parts = append(parts, split(t, p, file, project.Shard{Index: i, Of: of}, reference))
				}
				slices.Reverse(parts) // the order in which a user names the parts does not matter
				record, err := merged(p, parts...)
				if err != nil {
					t.Fatal(err)
				}
				var again bytes.Buffer
				if err := record.Write(&again); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(file, again.Bytes()) {
					t.Errorf("of %d shards the run file is another (-run +merged):\n%s", of, cmp.Diff(string(file), again.String()))
				}
				var retold bytes.Buffer
				if err := record.WriteRecording(&retold); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(tape.Bytes(), retold.Bytes()) {
					t.Errorf("of %d shards the recording is another (-run +merged):\n%s", of, cmp.Diff(tape.String(), retold.String()))
				}
				isJudgedAgain(t, p, &again, result)
			}
		})
	}
}

// split returns the run file of a shard, taken from that of the whole run.
func split(t *testing.T, p *project.Project, file []byte, shard project.Shard, reference *transcript.Recording) []byte {
	t.Helper()
	record, err := runfile.Read(p, bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	var selection []string
	for _, c := range record.Cases {
		selection = append(selection, c.Scenario.ID)
	}
	own := map[string]bool{}
	for i, id := range slices.Sorted(slices.Values(selection)) {
		own[id] = i%shard.Of == shard.Index-1
	}
	h := record.Header
	h.Shard = &transcript.RunShard{Index: shard.Index, Of: shard.Of, Selection: selection, Reference: reference}
	var out bytes.Buffer
	w, err := transcript.NewRunWriter(&out, h)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range record.Footer.NotApplicable {
		if own[n.Scenario] {
			w.NotApplicable(n.Scenario, n.Why)
		}
	}
	_, err = transcript.ReadRun(bytes.NewReader(file), nil, func(tr *transcript.Transcript) error {
		if !own[tr.Scenario] {
			return nil
		}
		return w.Write(tr)
	})
	if err := errors.Join(err, w.Close(record.Footer.Took)); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Without this test, a merge that drops all findings would pass where the run is green.
func TestWhatOneShardFoundIsInTheWhole(t *testing.T) {
	p := fauxproject.New(t, fauxproject.Running)
	files := shards(t, p, 4, engine.Options{Targets: faulty(t, ""), Select: everything})
	for i := range files {
		changed := slices.Clone(files)
		var out bytes.Buffer
		rewrite(t, bytes.NewReader(files[i]), &out, func(tr *transcript.Transcript) {
			if tr.Target == "wrong" {
				tr.Steps[0].Exchanges = tr.Steps[0].Exchanges[:0]
			}
		})
		changed[i] = out.Bytes()
		record, err := merged(p, changed...)
		if err != nil {
			t.Fatal(err)
		}
		if whole, err := engine.JudgeFile(t.Context(), p, record, nil); err != nil || whole.Verdict != verdict.Differ {
			t.Errorf("shard %d is another: %+v, %v", i+1, whole, err)
		}
	}
}

func TestShardsThatMakeNoWholeAreRefused(t *testing.T) {
	p := fauxproject.New(t, fauxproject.Running)
	options := engine.Options{Targets: faulty(t, ""), Select: everything, AllowEmpty: true}
	files := shards(t, p, 3, options)
	other := func(change func(*engine.Options)) []byte {
		o := options
		change(&o)
		return shards(t, p, 3, o)[1]
	}
	header := func(from, to string) []byte { return resealed(t, files[1], from, to) }
	whole, _ := fauxproject.Record(t, p, engine.Options{Select: everything}, options.Targets...)
	lines := bytes.SplitAfter(files[1], []byte("\n"))
	for _, tc := range []struct {
		name  string
		files [][]byte
		want  string
	}{
		{"none", nil, "no shard\n\tfix: name the run files"},
		{"one is missing", [][]byte{files[0], files[2]}, "of 3 shards, 2 are here; missing: 2/3\n\tfix: run the missing shards with the same selection: lockstep run --shard 2/3"},
		{"two are missing", [][]byte{files[1]}, "of 3 shards, 1 are here; missing: 1/3, 3/3\n"},
		{"one is there twice", [][]byte{files[0], files[1], files[1]}, "b.jsonl and c.jsonl are both shard 2/3\n\tfix: name one of them"},
		{"one is a whole run", [][]byte{files[0], whole.Bytes()}, "b.jsonl is a complete run, not a shard\n"},
		{"one is cut off", [][]byte{files[0], bytes.Join(lines[:len(lines)-2], nil), files[2]}, "b.jsonl: run file is incomplete: no footer after line "},
		{"another number of shards", [][]byte{files[0], shards(t, p, 4, options)[1]}, "their numbers of shards differ (3 and 4)\n"},
		{"another seed", [][]byte{files[0], other(func(o *engine.Options) { o.Seed = 7 })}, " and 7\n\tfix: give all shards the same --seed, or none"},
		{"another selection", [][]byte{files[0], other(func(o *engine.Options) { o.Select.Paths, o.Seed = []string{"items"}, seedOf(t, files[0]) })}, "they select different scenarios ("},
		{"another reference", [][]byte{files[0], other(func(o *engine.Options) { o.Reference = "wrong" })}, "their targets differ (right (reference), wrong and wrong (reference), right)\n"},
		{"another target", [][]byte{files[0], other(func(o *engine.Options) {
			o.Targets = []string{options.Targets[0], strings.Replace(options.Targets[1], "wrong", "third", 1)}
		})}, "their targets differ ("},
		{"another version", [][]byte{files[0], header(`"version":"0.1.0"`, `"version":"0.0.9"`)}, "their versions of lockstep differ (0.1.0 and 0.0.9)\n"},
		{"other rules", [][]byte{files[0], header(`"rules":"`, `"rules":"0000`)}, "their lockstep.yaml differ ("},
		{"another contract", [][]byte{files[0], header(`"contract":"`, `"contract":"0`)}, "b.jsonl: the run file was made with a different contract than "},
		{"other scenarios", [][]byte{files[0], header(`"scenarios":"`, `"scenarios":"0`)}, "b.jsonl: the run file was made with different scenarios than those of "},
		{"a shard that there is not", [][]byte{header(`"index":2`, `"index":4`)}, "a.jsonl says that it is shard 4/3, which does not exist\n"},
		{"another's scenarios", [][]byte{header(`"index":2`, `"index":1`)}, "a.jsonl (shard 1/3) lacks its scenario "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if record, err := merged(p, tc.files...); record != nil || err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Merge: %v, %v; want %q", record, err, tc.want)
			}
		})
	}
}

func seedOf(t *testing.T, file []byte) uint64 { t.Helper(); return headerOf(t, file).Seed }

func headerOf(t *testing.T, file []byte) transcript.RunHeader {
	t.Helper()
	var line struct{ Lockstep transcript.RunHeader }
	if err := json.Unmarshal(bytes.SplitN(file, []byte("\n"), 2)[0], &line); err != nil {
		t.Fatal(err)
	}
	return line.Lockstep
}

// resealed replaces a text in the header of a run file and updates the checksum.
func resealed(t *testing.T, file []byte, from, to string) []byte {
	t.Helper()
	head, rest, _ := bytes.Cut(file, []byte("\n"))
	changed := bytes.Replace(head, []byte(from), []byte(to), 1)
	if bytes.Equal(head, changed) {
		t.Fatalf("the header has no %s: %s", from, head)
	}
	var line struct{ Lockstep transcript.RunHeader }
	if err := json.Unmarshal(changed, &line); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w, err := transcript.NewRunWriter(&out, line.Lockstep)
	if err != nil {
		t.Fatal(err)
	}
	_, err = transcript.ReadRun(bytes.NewReader(append(append(head, '\n'), rest...)), nil, w.Write)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(0); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestShardsOfOneRunHaveOneSeed(t *testing.T) {
	p := fauxproject.New(t, fauxproject.Running)
	options := engine.Options{Targets: faulty(t, ""), Select: everything}
	seeds := map[uint64]bool{}
	for _, f := range shards(t, p, 3, options) {
		seeds[seedOf(t, f)] = true
	}
	options.Select.Paths = []string{"items"}
	if other := seedOf(t, shards(t, p, 2, options)[0]); len(seeds) != 1 || seeds[0] || seeds[other] {
		t.Errorf("the seeds of three shards are %v, and that of another selection %d", seeds, other)
	}
	options.Seed = 99
	if got := seedOf(t, shards(t, p, 2, options)[1]); got != 99 {
		t.Errorf("the seed that was asked for is %d", got)
	}
}

func TestAShardWithoutScenariosMatchesOnlyIfThatIsAllowed(t *testing.T) {
	p := fauxproject.New(t, fauxproject.Running)
	options := engine.Options{Targets: faulty(t, ""), Select: project.Selection{Paths: []string{"items/story"}}, Shard: project.Shard{Index: 2, Of: 2}}
	if result, err := engine.Run(t.Context(), p, &options); err == nil {
		t.Errorf("without AllowEmpty: %+v", result)
	}
	options.AllowEmpty = true
	result, err := engine.Run(t.Context(), p, &options)
	if err != nil || result.Verdict != verdict.Match || len(result.Scenarios) != 0 || *result.Run.Shard != (verdict.Shard{Index: 2, Of: 2, Selected: 1}) {
		t.Errorf("%+v, %v", result, err)
	}
	harnesstest.Test(t, p.File, &options) // fails when the run is not green
	options.Select.Paths = []string{"nowhere"}
	if result, err := engine.Run(t.Context(), p, &options); err == nil {
		t.Errorf("without any scenario: %+v", result)
	}
}

// The waiver is for scenarios of two shards. Neither shard alone can know whether it is stale.
func TestFindingsOfTheWholeRunAreReportedAfterTheMerge(t *testing.T) {
	p := fauxproject.New(t, fauxproject.Running)
	p.Waivers = []waiver.Waiver{{ID: "W-0001", Scenario: "items/*", At: "GET /items: body", Kind: "value", Fingerprint: "00000000", Expires: time.Date(2999, 1, 1, 0, 0, 0, 0, time.UTC)}}
	files := shards(t, p, 2, engine.Options{Targets: faulty(t, ""), Select: project.Selection{Paths: []string{"items"}}})
	for _, f := range files {
		result, err := engine.Judge(t.Context(), p, bytes.NewReader(f), nil)
		if err != nil || result.Verdict != verdict.Match || result.Waivers[0].State != verdict.NotLooked {
			t.Errorf("a shard: %+v, %v", result, err)
		}
	}
	record, err := merged(p, files...)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := engine.JudgeFile(t.Context(), p, record, nil)
	if err != nil || whole.Verdict != verdict.Differ || whole.Waivers[0].State != verdict.Stale {
		t.Errorf("the whole: %+v, %v", whole, err)
	}
}

// All shards together must reach the coverage that the project demands.
func TestCoverageGatesApplyToTheWholeRun(t *testing.T) {
	config := fauxproject.Write(t, fauxproject.Running)
	appendTo(t, config, "coverage: {operations: 100%, statuses: 100%}\n")
	for _, folder := range []string{"process", "events"} { // the first needs processes, the second takes long
		if err := os.RemoveAll(filepath.Join(filepath.Dir(config), "scenarios", folder)); err != nil {
			t.Fatal(err)
		}
	}
	p := fauxproject.Load(t, config)
	files := shards(t, p, 2, engine.Options{Targets: faulty(t, "")})
	for _, f := range files {
		if result, err := engine.Judge(t.Context(), p, bytes.NewReader(f), nil); err != nil || result.Verdict != verdict.Match || result.Gate.State != coverage.GateNotJudged {
			t.Errorf("a shard: %+v, %v", result, err)
		}
	}
	record, err := merged(p, files...)
	if err != nil {
		t.Fatal(err)
	}
	if whole, err := engine.JudgeFile(t.Context(), p, record, nil); err != nil || whole.Verdict != verdict.Differ || whole.Gate.State != coverage.GateMissed {
		t.Errorf("the whole: %+v, %v", whole, err)
	}
}
