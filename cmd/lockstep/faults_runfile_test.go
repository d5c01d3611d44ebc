//go:build unix

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/internal/faux"
)

// runFileFaults are faults of a run file, or changes of the project since it was written.
func runFileFaults() []*surrounding {
	return []*surrounding{
		{doc: "no run file", code: exitUsage, says: "`lockstep run` writes it", set: files(func(*testing.T, *lab) {}, "judge")},
		{doc: "an empty run file", code: exitUsage, says: "run file is incomplete", set: changed(func(string) string { return "" })},
		{doc: "a run file that is cut off in a line", code: exitUsage, says: "run file is incomplete", set: changed(func(s string) string { return s[:len(s)/2] })},
		{doc: "a run file without its footer", code: exitUsage, says: "run file is incomplete", set: changed(func(s string) string {
			return s[:strings.LastIndex(strings.TrimSuffix(s, "\n"), "\n")+1]
		})},
		{doc: "a run file without its header", code: exitUsage, says: "begins with one header", set: changed(func(s string) string {
			_, rest, _ := strings.Cut(s, "\n")
			return rest
		})},
		{doc: "a run file in which a byte has changed", code: exitUsage, says: "its footer does not fit", set: changed(func(s string) string { return strings.Replace(s, "lamp", "lump", 1) })},
		{doc: "a run file of another format", code: exitUsage, says: "this version of lockstep reads format 1", set: changed(func(s string) string { return strings.Replace(s, `"format":1`, `"format":2`, 1) })},
		{doc: "a run file of another contract", code: exitUsage, says: "the run file was made with a different contract", set: after(func(t *testing.T, l *lab) {
			l.write(t, "openapi.yaml", l.read("openapi.yaml")+"# changed\n")
		})},
		{doc: "a contract that vanishes behind a run", code: exitUsage, says: "openapi.yaml: no such file", set: after(func(_ *testing.T, l *lab) {
			os.Remove(filepath.Join(l.dir, "openapi.yaml"))
		})},
		{doc: "a contract that changes during a run", code: exitUsage, says: "the run file was made with a different contract", set: func(t *testing.T, l *lab) {
			change := make(chan func(), 1)
			address := l.when(t, "POST /items", func() { (<-change)() })
			l.testProject, l.args = newProject(t, at("right", address), at("wrong", faux.Serve(t, &faux.Server{}))), []string{"judge"}
			change <- func() { l.write(t, "openapi.yaml", l.read("openapi.yaml")+"# changed\n") }
			if o := l.do(t, "run", "items/story"); o.code != exitMatch { // by the contract as it was when the run began
				t.Errorf("%+v", o)
			}
		}},
		{doc: "a scenario that vanishes behind a run", code: exitUsage, says: "the run file was made with different scenarios", set: after(func(_ *testing.T, l *lab) {
			os.Remove(filepath.Join(l.dir, "scenarios/items/story.yaml"))
		})},
		{doc: "a run file with a hole", code: exitUsage, says: "read run file: line", set: changed(func(s string) string {
			return signed(s, func(t map[string]any) { t["steps"].([]any)[0].(map[string]any)["exchanges"] = []any{nil} })
		})},
		{doc: "a panic in judging", code: exitUnknown, says: "lockstep itself failed: runtime error:", set: changed(func(s string) string {
			return signed(s, func(t map[string]any) {
				t["windows"] = []any{map[string]any{"step": "1", "line": 1, "stream": "feed", "first": -7, "from": 0, "to": 1 << 40}}
			})
		})},
	}
}

// after sets up a project that has run, and changes something before its run file is judged.
func after(do func(t *testing.T, l *lab)) func(*testing.T, *lab) {
	return func(t *testing.T, l *lab) {
		l.testProject, l.args = two(t, ""), []string{"judge"}
		if o := l.do(t, "run", "items/story", "events/story"); o.code != exitMatch {
			t.Fatalf("%+v", o)
		}
		do(t, l)
	}
}

// changed sets up a project that has run, and then changes its run file.
func changed(change func(string) string) func(*testing.T, *lab) {
	return after(func(t *testing.T, l *lab) {
		l.write(t, "reports/run.jsonl", change(l.read("reports/run.jsonl")))
	})
}

// signed changes the transcripts of a run file, and corrects its footer accordingly.
func signed(file string, change func(map[string]any)) string {
	var out bytes.Buffer
	for text := range strings.Lines(file) {
		var line map[string]map[string]any
		dec := json.NewDecoder(strings.NewReader(text))
		dec.UseNumber()
		if err := dec.Decode(&line); err != nil {
			panic(err)
		}
		if line["transcript"] != nil {
			change(line["transcript"])
		}
		if line["footer"] != nil {
			sum := sha256.Sum256(out.Bytes())
			line["footer"]["sha256"] = hex.EncodeToString(sum[:])
		}
		again, err := json.Marshal(line)
		if err != nil {
			panic(err)
		}
		out.Write(append(again, '\n'))
	}
	return out.String()
}
