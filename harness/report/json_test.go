package report_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/lockstep-dev/lockstep/harness/contract/coverage"
	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/report/jsonreport"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

func TestEveryRunObeysTheSchema(t *testing.T) {
	schema := compiled(t)
	for _, run := range append(runs, nothing) {
		t.Run(run.name, func(t *testing.T) {
			doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(written(t, run.doc())))
			if err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(doc); err != nil {
				t.Error(err)
			}
		})
	}
}

// nothing is a run in which nothing was judged, so every list is nil.
var nothing = struct {
	name string
	doc  func() *report.Document
}{"nothing", func() *report.Document {
	d := &report.Document{}
	d.Add(verdict.Scenario{Verdict: verdict.NotApplicable})
	d.Conclude()
	return d
}}

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(report.Schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	if err := c.AddResource("report.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("report.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func written(t *testing.T, doc *report.Document) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jsonreport.Write(&b, doc); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A schemaNode has the JSON Schema keywords that the report's schema uses.
type schemaNode struct {
	Ref                  string                 `json:"$ref"`
	Description          string                 `json:"description"`
	Type                 string                 `json:"type"`
	Properties           map[string]*schemaNode `json:"properties"`
	Required             []string               `json:"required"`
	Items                *schemaNode            `json:"items"`
	AdditionalProperties any                    `json:"additionalProperties"`
	Defs                 map[string]*schemaNode `json:"$defs"`
}

func TestTheSchemaAndTheGoTypesHaveTheSameMembers(t *testing.T) {
	var root schemaNode
	if err := json.Unmarshal(report.Schema, &root); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	sameMembers(t, &root, "", &root, reflect.TypeFor[jsonreport.File](), seen)
	for name, def := range root.Defs {
		if def.Properties != nil && !seen["#/$defs/"+name] {
			t.Errorf("$defs/%s describes no Go type", name)
		}
	}
}

// sameMembers compares a schema with a type, including those of their members.
func sameMembers(t *testing.T, root *schemaNode, at string, node *schemaNode, typ reflect.Type, seen map[string]bool) {
	t.Helper()
	if node.Ref != "" {
		if seen[node.Ref] {
			return
		}
		seen[node.Ref] = true
		node = root.Defs[strings.TrimPrefix(node.Ref, "#/$defs/")]
	}
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	switch {
	case typ.Kind() == reflect.Slice:
		sameMembers(t, root, at+"[]", node.Items, typ.Elem(), seen)
	case typ.Kind() == reflect.Struct && typ != reflect.TypeFor[time.Time]():
		sameObject(t, root, at, node, typ, seen)
	}
}

func sameObject(t *testing.T, root *schemaNode, at string, node *schemaNode, typ reflect.Type, seen map[string]bool) {
	t.Helper()
	fields := map[string]reflect.Type{}
	var required []string
	for _, f := range reflect.VisibleFields(typ) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" || !f.IsExported() {
			continue
		}
		fields[name] = f.Type
		if !strings.Contains(options, "omit") {
			required = append(required, name)
		}
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(fields)), slices.Sorted(maps.Keys(node.Properties))); diff != "" {
		t.Errorf("%s: members (-%s +schema):\n%s", at, typ, diff)
	}
	slices.Sort(required)
	if diff := cmp.Diff(required, slices.Sorted(slices.Values(node.Required))); diff != "" {
		t.Errorf("%s: required (-%s +schema):\n%s", at, typ, diff)
	}
	if node.AdditionalProperties != false {
		t.Errorf("%s: additionalProperties is %v, want false", at, node.AdditionalProperties)
	}
	for name, member := range node.Properties {
		if member.Description == "" {
			t.Errorf("%s/%s has no description", at, name)
		}
		if fields[name] != nil {
			sameMembers(t, root, at+"/"+name, member, fields[name], seen)
		}
	}
}

func TestTheFormatComesFirst(t *testing.T) {
	if got, want := string(written(t, green())), "{\n  \"format\": 2,\n"; !strings.HasPrefix(got, want) {
		t.Errorf("JSON begins with %.40q, want %q", got, want)
	}
}

func TestAReportThatWasReadShowsTheSameRun(t *testing.T) {
	for _, run := range runs {
		t.Run(run.name, func(t *testing.T) {
			first := written(t, run.doc())
			doc, err := jsonreport.Read(bytes.NewReader(first))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(first), string(written(t, doc))); diff != "" {
				t.Errorf("JSON (-written +read and written again):\n%s", diff)
			}
			if run.name == "hostile" {
				return // bytes that are not UTF-8 cannot be stored in JSON
			}
			for _, format := range formats {
				var want, got bytes.Buffer
				if err := format.write(&want, run.doc()); err != nil {
					t.Fatal(err)
				}
				if err := format.write(&got, doc); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want.String(), got.String()); diff != "" {
					t.Errorf("%s (-of the run +of its report):\n%s", format.file, diff)
				}
			}
		})
	}
}

func TestReadRefusesWhatItDoesNotKnow(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{`{"format": 3}`, "report: it has format 3, and this lockstep reads format 2"},
		{`{}`, "report: it has format 0, and this lockstep reads format 2"},
		{`{"format": 1, "scena`, "report: unexpected EOF"},
		{``, "report: EOF"},
	} {
		if _, err := jsonreport.Read(strings.NewReader(tc.text)); err == nil || err.Error() != tc.want {
			t.Errorf("Read(%q): %v, want %s", tc.text, err, tc.want)
		}
	}
}

func TestJSONDoesNotChangeTheDocument(t *testing.T) {
	d := red()
	d.Started = d.Started.In(time.FixedZone("there", 3600))
	d.Scenarios = append(d.Scenarios, verdict.Scenario{})
	d.Coverage.Operations = append(d.Coverage.Operations, coverage.Operation{Method: "GET"})
	first := written(t, d)
	if d.Scenarios[len(d.Scenarios)-1].Targets != nil || d.Coverage.Operations[3].Statuses != nil || d.Started.Location() == time.UTC {
		t.Error("JSON has changed the document it was given")
	}
	d.Started = d.Started.UTC()
	if diff := cmp.Diff(string(first), string(written(t, d))); diff != "" {
		t.Errorf("the zone of the clock shows (-there +UTC):\n%s", diff)
	}
}

// Scenarios are written one by one, but the result must be the same as if they were written all at once.
func TestJSONIsWhatItWouldBeInOnePiece(t *testing.T) {
	none := green()
	none.Scenarios = nil
	for _, doc := range []*report.Document{none, nothing.doc(), green(), red()} {
		whole := jsonreport.NewFile(doc)
		whole.Scenarios = append([]verdict.Scenario{}, whole.Scenarios...)
		for i := range whole.Scenarios {
			whole.Scenarios[i].Targets = append([]verdict.Target{}, whole.Scenarios[i].Targets...)
		}
		var want bytes.Buffer
		e := json.NewEncoder(&want)
		e.SetIndent("", "  ")
		if err := e.Encode(whole); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want.String(), string(written(t, doc))); diff != "" {
			t.Errorf("JSON of %d scenarios (-in one piece +as it is written):\n%s", len(doc.Scenarios), diff)
		}
	}
}
