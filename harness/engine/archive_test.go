package engine_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/internal/fauxproject"
	"github.com/lockstep-dev/lockstep/harness/lab/noise"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/internal/faux"
)

// packing is a project whose servers respond with an archive. A later request uses a value captured from it.
func packing(t *testing.T, rules string) *project.Project {
	t.Helper()
	file := filepath.Join(t.TempDir(), "lockstep.yaml")
	fauxproject.Add(t, file, "lockstep.yaml", fauxproject.Plain+`limits: {step: 5s, scenario: 7s, settle: 100ms}
`+rules)
	fauxproject.Add(t, file, "openapi.yaml", `openapi: 3.0.3
info: {title: Packer, version: "1"}
paths:
  /archive:
    get:
      responses:
        "200": {description: All there is., content: {application/zip: {schema: {type: string, format: binary}}}}
  /things/{id}:
    get:
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      responses:
        "200": {description: It is there., content: {application/json: {schema: {type: object, properties: {id: {type: string}}}}}}
`)
	fauxproject.Add(t, file, "scenarios/all.yaml", `scenario: all
why: All there is comes in one archive
source: here
steps:
  - http: GET /archive
    expect: {status: 200, json: {"$['a.json'].kind": thing}, absent: ["$['b.json']"]}
    capture: {id: "$['a.json'].id"}
  - http: GET /things/${{ id }}
    expect: {status: 200, json: {id: "${{ id }}"}}
`)
	return fauxproject.Load(t, file)
}

// packer serves an archive with these entries. Each response replaces %d by another number.
func packer(t *testing.T, number *atomic.Int64, entries ...string) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if id, ok := bytes.CutPrefix([]byte(r.URL.Path), []byte("/things/")); ok {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"id":%q}`, id)
			return
		}
		w.Header().Set("Content-Type", "application/zip")
		if r.URL.Path != "/archive" || len(entries) == 0 {
			fmt.Fprint(w, "PK")
			return
		}
		z := zip.NewWriter(w)
		for i := 0; i < len(entries); i += 2 {
			to, err := z.Create(entries[i])
			if err == nil {
				_, err = to.Write(bytes.ReplaceAll([]byte(entries[i+1]), []byte("%d"), fmt.Append(nil, number.Add(7919))))
			}
			if err != nil {
				t.Error(err)
			}
		}
		z.Close()
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestArchivesAreComparedInARun(t *testing.T) {
	const ours, theirs = `{"kind":"thing","id":"itm_0a1b2c3d4e5f6a7b8c9d"}`, `{"id":"itm_5d0e7a1c93b24f68e0a7","kind":"thing"}`
	var none atomic.Int64
	for _, tc := range []struct {
		name, rules string
		ref, cand   []string
		want        []faux.Finding
	}{
		{"the same, with another id", "", []string{"a.json", ours, "c.txt", "one\n"}, []string{"a.json", theirs, "c.txt", "one\n"}, nil},
		{"another line", "", []string{"a.json", ours, "c.txt", "one\ntwo\n"}, []string{"a.json", theirs, "c.txt", "one\n2\n"}, []faux.Finding{
			{Class: "difference", Kind: "value", Step: "1", Place: "body /c.txt/1", Reference: `"two"`, Candidate: `"2"`, Blame: "contract silent"},
		}},
		{"another line, by a rule", "compare: {volatile: [{at: \"$['c.txt'][1]\", kind: text, because: a test}]}\n", []string{"a.json", ours, "c.txt", "one\ntwo\n"}, []string{"a.json", theirs, "c.txt", "one\n2\n"}, nil},
		{"another entry", "", []string{"a.json", ours}, []string{"a.json", theirs, "b.json", "1"}, []faux.Finding{
			{Class: "difference", Kind: "field-extra", Step: "1", Place: "body /b.json", Reference: "—", Candidate: "1", Blame: "contract silent"},
			{Class: "shortfall", Kind: "expectation", Step: "1", Place: "body $['b.json']", Reference: "nothing", Candidate: "1", Blame: "candidate"},
		}},
		{"no archive", "", []string{"a.json", ours}, nil, []faux.Finding{
			{Class: "shortfall", Kind: "archive", Step: "1", Place: "body", Reference: "a ZIP archive, as its content type says", Candidate: "it is no ZIP archive: zip: not a valid zip file", Blame: "candidate"},
			{Class: "shortfall", Kind: "capture-missing", Step: "1", Place: "capture", Reference: "id from $['a.json'].id", Candidate: "there is no such value; the content is not JSON: PK", Blame: "candidate"},
			{Class: "shortfall", Kind: "expectation", Step: "1", Place: "body", Reference: "JSON", Candidate: "PK: offset 0: invalid character 'P' at start of value", Blame: "candidate"},
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := packing(t, tc.rules)
			file, result := fauxproject.Record(t, p, engine.Options{}, "right="+packer(t, &none, tc.ref...), "wrong="+packer(t, &none, tc.cand...))
			isJudgedAgain(t, p, file, result)
			if d := cmp.Diff(tc.want, findings(&result.Scenarios[0])); d != "" {
				t.Errorf("(-want +got):\n%s%v", d, result.Scenarios[0].Reasons)
			}
			if len(result.Unused) > 0 {
				t.Errorf("rules that never applied: %v", result.Unused)
			}
		})
	}
}

func TestNoiseInAnArchiveIsFound(t *testing.T) {
	var number atomic.Int64
	number.Store(1_000_000)
	entries := []string{"a.json", `{"kind":"thing","id":"x","count":%d}`}
	noise, err := noise.Measure(t.Context(), packing(t, ""), &noise.Options{Targets: []string{"right=" + packer(t, &number, entries...), "right=" + packer(t, &number, entries...)}, Runs: 2})
	if err != nil {
		t.Fatal(err)
	}
	if len(noise.Rules) != 1 || len(noise.Rest) > 0 {
		t.Fatalf("found: %+v", noise)
	}
	if r := noise.Rules[0]; r.At != "$['a.json'].count" || r.Differ != 2 || r.Of != 2 {
		t.Errorf("the rule is %+v", r)
	}
}
