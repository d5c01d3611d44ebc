package run

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// driverSchema compiles a definition of the schema of the lines between lockstep and a driver.
func driverSchema(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(testfile.Read(t, "driver.schema.json")))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource("driver.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("driver.schema.json#/$defs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// obeys reports whether a line is JSON that a schema allows.
func obeys(s *jsonschema.Schema, line string) bool {
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
	return err == nil && s.Validate(value) == nil
}

func TestOutcomesAreReadAsTheSchemaSays(t *testing.T) {
	schema := driverSchema(t, "outcome")
	for line, want := range map[string]bool{
		`{"id":1,"ok":{"a":1}}`:                  true,
		`{"error":"it failed","id":2}`:           true,
		`{"id":3,"ok":null}`:                     true,
		`{"id":4,"error":null}`:                  true,
		` { "id" : 5 , "ok" : [ ] } `:            true,
		`{"id":5,"ok":"half of a pair: \ud83d"}`: true,
		`{"id":6}`:                               false,
		`{"id":7,"ok":1,"error":2}`:              false,
		`{"ok":1}`:                               false,
		`{"id":null,"ok":1}`:                     false,
		`{"id":"8","ok":1}`:                      false,
		`{"id":9.5,"ok":1}`:                      false,
		`{"id":0,"ok":1}`:                        false,
		`{"id":10,"ok":1,"log":"a"}`:             false,
		`{"ID":11,"OK":1}`:                       false,
		`{"id":12,"ok":1} {"id":13,"ok":1}`:      false,
		`{"id":14,"ok":1} and so on`:             false,
		`[{"id":15,"ok":1}]`:                     false,
		`null`:                                   false,
		`connected to 127.0.0.1`:                 false,
		``:                                       false,
		`{"id":16,"ok":`:                         false,
		`{"id":17,"do":"find","with":{"a":1}}`:   false,
	} {
		if _, err := readOutcome(line); (err == nil) != want {
			t.Errorf("lockstep takes %s for an outcome: %v, want %t", line, err, want)
		}
		if got := obeys(schema, line); got != want {
			t.Errorf("the schema allows %s: %t, want %t", line, got, want)
		}
	}
}

func TestCommandsObeyTheSchema(t *testing.T) {
	schema := driverSchema(t, "command")
	for _, c := range []command{{ID: 1, Do: "find"}, {ID: 2, Do: "add", With: json.RawMessage(`{"note":{}}`)}, {ID: 3, Do: "a", With: json.RawMessage("null")}} {
		line, err := json.Marshal(c)
		if err != nil || !obeys(schema, string(line)) {
			t.Errorf("the schema does not allow %s, %v", line, err)
		}
	}
	for _, line := range []string{`{"id":1}`, `{"do":"find"}`, `{"id":1,"do":""}`, `{"id":1,"do":"find","ok":1}`} {
		if obeys(schema, line) {
			t.Errorf("the schema allows %s", line)
		}
	}
}

// TestTheDriverSchemaHasTheMembersOfACommand finds members that only lockstep or only the schema knows. Those of an
// outcome are in the test of its lines.
func TestTheDriverSchemaHasTheMembersOfACommand(t *testing.T) {
	var members []string
	for field := range reflect.TypeFor[command]().Fields() {
		tag, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		members = append(members, tag)
	}
	slices.Sort(members)
	keys := slices.Sorted(maps.Keys(driverSchema(t, "command").Properties))
	if diff := cmp.Diff(members, keys); diff != "" {
		t.Errorf("members of a command (-lockstep +schema):\n%s", diff)
	}
}
