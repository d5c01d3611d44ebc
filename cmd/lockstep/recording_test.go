//go:build unix

package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/internal/faux"
)

func TestARunIsRecordedAndReplayed(t *testing.T) {
	t.Parallel()
	p := newProject(t, at("right", faux.Serve(t, &faux.Server{})), at("wrong", faux.Serve(t, &faux.Server{Fault: faux.Named(t, "other-value")})))
	tapes := filepath.Join(p.dir, "tapes")
	first := p.do(t, "run", "items", "--record", tapes, "--reference-version", "1.2")
	if first.code != exitDiffer || p.read("tapes/recording.jsonl") == "" || p.read("tapes/recording.jsonl.part") != "" {
		t.Fatalf("%+v", first)
	}
	for _, tc := range []struct {
		args   []string
		code   int
		says   string
		stderr string
	}{
		{nil, exitDiffer, "differ: right and wrong differ in 1 of 2 scenarios", "against right 1.2, recorded on "},
		{[]string{"--target", "wrong=" + faux.Serve(t, &faux.Server{})}, exitMatch, "match: right and wrong do the same in 2 scenarios", "against right 1.2"},
		{[]string{"--reference-version", "1.3"}, exitUnknown, "unknown: 2 of 2 scenarios could not be judged", "note: 2 scenarios cannot be judged against it, for example items/"},
		{[]string{"--record", tapes}, exitUsage, "", "--record and --against exclude each other\n\tfix: "},
		{[]string{"--reference", "wrong"}, exitUsage, "", "reference \"wrong\" is not the recorded one\n\tfix: leave it out"},
	} {
		o := p.do(t, "run", append([]string{"items", "--against", tapes}, tc.args...)...)
		if o.code != tc.code || lastLine(o.stdout) != tc.says || !strings.Contains(o.stderr, tc.stderr) {
			t.Errorf("run --against %q: %+v, want %d, %q and %q", tc.args, o, tc.code, tc.says, tc.stderr)
		}
	}
	if o := p.do(t, "judge"); o.code != exitUnknown || !strings.Contains(o.stdout, "right: the reference has changed since the recording, from 1.2 to 1.3") {
		t.Errorf("judged again: %+v", o)
	}
}

// TestShardsAreRecordedWhenTheyAreMerged checks that a merge of shards writes a recording, with the version that the
// shards saw.
func TestShardsAreRecordedWhenTheyAreMerged(t *testing.T) {
	t.Parallel()
	p := newProject(t, at("right", faux.Serve(t, &faux.Server{})), at("wrong", faux.Serve(t, &faux.Server{Fault: faux.Named(t, "other-value")})))
	tapes := filepath.Join(p.dir, "tapes")
	shard := func(folder string, args ...string) {
		t.Helper()
		if o := p.do(t, "run", append([]string{"items", "--reports", folder}, args...)...); o.code > exitDiffer {
			t.Fatalf("%+v", o)
		}
	}
	merge := func(folder string) outcome {
		t.Helper()
		files := []string{filepath.Join(p.dir, folder+"1", "run.jsonl"), filepath.Join(p.dir, folder+"2", "run.jsonl")}
		return p.do(t, "merge", append(files, "--record", tapes)...)
	}
	shard("live1", "--shard", "1/2", "--reference-version", "1.2")
	shard("live2", "--shard", "2/2", "--reference-version", "1.2")
	if o := merge("live"); o.code != exitDiffer || p.read("tapes/recording.jsonl") == "" || p.read("tapes/recording.jsonl.part") != "" {
		t.Fatalf("%+v", o)
	}
	o := p.do(t, "run", "items", "--against", tapes)
	if o.code != exitDiffer || lastLine(o.stdout) != "differ: right and wrong differ in 1 of 2 scenarios" || !strings.Contains(o.stderr, "against right 1.2, recorded on ") {
		t.Errorf("against the recording: %+v", o)
	}
	before := p.read("tapes/recording.jsonl")
	shard("again1", "--shard", "1/2", "--against", tapes)
	shard("again2", "--shard", "2/2", "--against", tapes)
	if o := merge("again"); o.code != exitUsage || !strings.Contains(o.stderr, "a recording cannot be recorded again\n\tfix: record a run that was made with the reference itself\n") {
		t.Errorf("shards against a recording: %+v", o)
	}
	shard("live2", "--shard", "2/2", "--reference-version", "1.3")
	if o := merge("live"); o.code != exitUsage || !strings.Contains(o.stderr, "are not shards of the same run: their references differ, in version, settings or limits\n\tfix: ") {
		t.Errorf("shards of two versions: %+v", o)
	}
	if p.read("tapes/recording.jsonl") != before {
		t.Error("a merge that was refused has changed the recording")
	}
}

func TestARunThatDoesNotEndLeavesTheRecordingBefore(t *testing.T) {
	f := recordingFlags{record: t.TempDir()}
	p := testProject{dir: f.record}
	for _, tc := range []struct {
		text  string
		whole bool
		want  string
	}{{"one", true, "one"}, {"two", false, "one"}, {"three", true, "three"}} {
		tape, err := f.open()
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.WriteString(tape.file, tc.text)
		if err := errors.Join(err, tape.end(tc.whole)); err != nil {
			t.Fatal(err)
		}
		if got := p.read(recordingName); got != tc.want || p.read(recordingName+".part") != "" {
			t.Errorf("after %s the recording is %q, want %q", tc.text, got, tc.want)
		}
	}
}

func TestARecordingThatCannotBeUsedStartsNothing(t *testing.T) {
	t.Parallel()
	p := two(t, "")
	tapes := filepath.Join(p.dir, "tapes")
	if o := p.do(t, "run", "items", "--against", tapes); o.code != exitUsage || !strings.Contains(o.stderr, "tapes/recording.jsonl: no such file\n\tfix: `lockstep run --record ") {
		t.Errorf("without one: %+v", o)
	}
	if o := p.do(t, "run", "items", "--record", tapes, "--shard", "1/2"); o.code != exitUsage || !strings.Contains(o.stderr, "a shard cannot be recorded, because it has only some of the scenarios\n\tfix: leave out --record here, and use it with lockstep merge") {
		t.Errorf("of a shard: %+v", o)
	}
	if _, err := os.Stat(tapes); err == nil {
		t.Error("what was refused has made the folder")
	}
	if o := p.do(t, "run", "items", "--record", tapes); o.code != exitMatch {
		t.Fatalf("%+v", o)
	}
	whole := p.read("tapes/recording.jsonl")
	p.write(t, "tapes/recording.jsonl", whole[:len(whole)-7])
	if o := p.do(t, "run", "items", "--against", tapes); o.code != exitUsage || !strings.Contains(o.stderr, "recording.jsonl: run file is incomplete: ") || !strings.Contains(o.stderr, "\n\tfix: record again\n") {
		t.Errorf("cut off: %+v", o)
	}
	p.write(t, "tapes/recording.jsonl", p.read("reports/run.jsonl"))
	if o := p.do(t, "run", "items", "--against", tapes); o.code != exitUsage || !strings.Contains(o.stderr, "recording.jsonl: the run file is not a recording\n\tfix: lockstep run --record writes one\n") {
		t.Errorf("a run file: %+v", o)
	}
}
