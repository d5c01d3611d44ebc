package clienttools_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/sdk/clienttools"
)

type place struct {
	Zone  string `json:"zone" jsonschema:"a time zone"`
	Hours int    `json:"hours,omitempty"`
}

func TestTheSchemaOfAToolIsInferred(t *testing.T) {
	tool := clienttools.Tool("time", "d", func(context.Context, place) (string, error) { return "", nil })
	want := `{"type":"object","properties":{"zone":{"type":"string","description":"a time zone"},"hours":{"type":"integer"}},"required":["zone"],"additionalProperties":false}`
	var got, wanted any
	must(t, errors.Join(json.Unmarshal(tool.Parameters, &got), json.Unmarshal([]byte(want), &wanted)))
	if diff := cmp.Diff(wanted, got); diff != "" || tool.ID != "time" || tool.Description != "d" {
		t.Errorf("%s: parameters (-want +got):\n%s", tool.ID, diff)
	}
}

func TestToolsReturnResults(t *testing.T) {
	call := func(input string, tool clienttools.ClientTool) (*clienttools.Result, error) {
		return tool.Handle(t.Context(), &clienttools.Call{Input: []byte(input)})
	}
	full := clienttools.Result{Title: "t", Output: "o"}
	for name, tt := range map[string]struct {
		tool clienttools.ClientTool
		want clienttools.Result
	}{
		"text":    {tool(func(in place) (string, error) { return in.Zone, nil }), clienttools.Result{Title: "x", Output: "UTC"}},
		"value":   {tool(func(in place) (place, error) { return in, nil }), clienttools.Result{Title: "x", Output: `{"zone":"UTC"}`}},
		"result":  {tool(func(place) (clienttools.Result, error) { return full, nil }), full},
		"pointer": {tool(func(place) (*clienttools.Result, error) { return &full, nil }), full},
		"map":     {tool(func(in map[string]string) (string, error) { return in["zone"], nil }), clienttools.Result{Title: "x", Output: "UTC"}},
	} {
		got, err := call(`{"zone":"UTC"}`, tt.tool)
		if err != nil || !cmp.Equal(*got, tt.want) {
			t.Errorf("%s: %+v, %v, want %+v", name, got, err, tt.want)
		}
	}
	called := false
	strict := tool(func(place) (string, error) { called = true; return "", nil })
	for _, input := range []string{`{}`, `{"zone":1}`, `{"zone":"UTC","more":1}`, `[]`, `null`} {
		if _, err := call(input, strict); err == nil || called {
			t.Errorf("input %s: %v, called %t; want an error before the call", input, err, called)
		}
	}
	refused := errors.New("refused")
	if _, err := call(`{"zone":"UTC"}`, tool(func(place) (string, error) { return "", refused })); !errors.Is(err, refused) {
		t.Errorf("error %v, want the tool's", err)
	}
}

func tool[In, Out any](f func(In) (Out, error)) clienttools.ClientTool {
	return clienttools.Tool("x", "d", func(_ context.Context, in In) (Out, error) { return f(in) })
}

func TestInvalidToolsAreExplained(t *testing.T) {
	c, err := clienttools.New("http://unused", nil)
	must(t, err)
	parameters := echo("x")
	parameters.Parameters = []byte(`[]`)
	for _, tt := range []struct {
		tool clienttools.ClientTool
		want string
	}{
		{tool(func(string) (string, error) { return "", nil }), `tool "x": its input string is not a struct or a map`},
		{tool(func(chan int) (string, error) { return "", nil }), `tool "x": For[chan int](): type chan int is unsupported by jsonschema`},
		{clienttools.ClientTool{Definition: clienttools.Definition{ID: "x"}}, `tool "x": no Handle: give the function that runs the tool`},
		{parameters, `tool "x": its Parameters are not a JSON object: give a JSON Schema`},
	} {
		if err := c.Register(t.Context(), tt.tool); err == nil || err.Error() != tt.want {
			t.Errorf("Register: %v, want %s", err, tt.want)
		}
	}
	if len(c.ID()) != 36 {
		t.Errorf("the client has the ID %q, want a UUID", c.ID())
	}
}
