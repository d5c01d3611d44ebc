package jsonschema_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
	"github.com/lockstep-dev/lockstep/server/wire/jsonschema"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m)) }

func compile(t testing.TB, text string) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.Compile(json.RawMessage(text))
	if err != nil {
		t.Fatalf("Compile(%.80s): %v", text, err)
	}
	return s
}

func nested(open, inner, end string, levels int) string {
	return strings.Repeat(open, levels) + inner + strings.Repeat(end, levels)
}

func TestInvalidSchemas(t *testing.T) {
	for text, valid := range map[string]bool{
		`{"maximum":1e1000,"minimum":-1E-1000,"x":[` + strings.Repeat("1", 1000) + `,-0.` + strings.Repeat("1", 999) + `]}`: true,
		`{"x":"1e1000000","1e1000000":"\"1e1000000"}`:    true,
		nested(`{"x":`, `{}`, `}`, 199):                  true,
		`{"x":"` + strings.Repeat("a", 256<<10-8) + `"}`: true,
		`{"x":"` + strings.Repeat("a", 256<<10-7) + `"}`: false,
		nested(`{"x":`, `{}`, `}`, 200):                  false,
		`{"maximum":1e1001}`:                             false,
		`{"x":[0,{"y":1e-1000000}]}`:                     false,
		`{"x":1e99999999999999999999}`:                   false,
		`{"const":` + strings.Repeat("1", 1001) + `}`:    false,
		`{"type":5}`:             false,
		`5`:                      false,
		`{"$ref":"#/nowhere"}`:   false,
		`{"$ref":"http://x.y/"}`: false,
		// Decision G37.
		`{"pattern":"a{1000}"}`:                                       true,
		`{"pattern":"a{1001}"}`:                                       false,
		`{"pattern":"a{2,1001}"}`:                                     false,
		`{"patternProperties":{"a{1001,}":{}}}`:                       false,
		`{"pattern":"((a{10}){100})*"}`:                               true,
		`{"pattern":"(a{10}){101}"}`:                                  false,
		`{"$id":"http://x.y/%"}`:                                      false,
		`{"$id":"http://x.y/\u007f"}`:                                 false,
		`{"$id":"http://x.y/%20","$defs":{"a":{"$ref":"#/$defs/a"}}}`: true,
	} {
		if _, err := jsonschema.Compile(json.RawMessage(text)); (err == nil) != valid {
			t.Errorf("Compile(%.80s): %v", text, err)
		}
	}
}

func TestProblemsHaveTheirPlaces(t *testing.T) {
	const text = `{"type":"object","properties":{"a/b~":{"type":"string"},"l":{"items":{"minimum":1}},"any":{"anyOf":[{"type":"string"},{"minimum":5}]}},"required":["r"]}`
	for value, want := range map[string][]string{
		`{"r":1}`:                        nil,
		`{}`:                             {""},
		`[]`:                             {""},
		`{"r":1,"l":[1,0,5,0],"a/b~":1}`: {"/a~1b~0", "/l/1", "/l/3"},
		`{"r":1,"any":1}`:                {"/any", "/any"},
		`{"r":[0,{"\n":1e1000000}]}`:     {"/r/1/\n"},
		`{"r":` + nested("[", "", "]", 200) + `}`:   {"/r" + strings.Repeat("/0", 199)},
		`{"l":[` + strings.Repeat("0,", 30) + `0]}`: {"", "/l/0", "/l/1", "/l/10", "+28"},
	} {
		var got []string
		problems, more := compile(t, text).Judge(json.RawMessage(value), 4)
		for _, p := range problems {
			got = append(got, p.At)
			if p.Reason == "" || len(p.Reason) > 210 || strings.Contains(p.Reason, "\n") {
				t.Errorf("%s: %q", p.At, p.Reason)
			}
		}
		if more > 0 {
			got = append(got, fmt.Sprintf("+%d", more))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%.80s (-want +got):\n%s", value, diff)
		}
	}
}

// TestJudgingIsBounded uses schemas that refer to each other so often that a naive validation takes exponential time.
func TestJudgingIsBounded(t *testing.T) {
	for of, inner := range map[string]string{"anyOf": `false`, "oneOf": `{"type":"null"}`, "allOf": `{}`} {
		defs := []string{`"d0":` + inner}
		for i := range 60 {
			defs = append(defs, fmt.Sprintf(`"d%d":{"%s":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`, i+1, of, i, i))
		}
		s := compile(t, `{"anyOf":[{"const":"x"},{"$ref":"#/$defs/d60"}],"$defs":{`+strings.Join(defs, ",")+`}}`)
		if problems, _ := s.Judge(json.RawMessage(`"y"`), 4); len(problems) != 1 || problems[0].At != "" || problems[0].Reason != "it takes too long to judge" {
			t.Errorf("%s: %v", of, problems)
		}
		if problems, _ := s.Judge(json.RawMessage(`"x"`), 4); problems != nil { // it has the same limit as the previous call
			t.Errorf("%s: %v", of, problems)
		}
	}
	s := compile(t, `{"patternProperties":{"`+strings.Repeat("a", 100)+`":{},"b":{}},"additionalProperties":{"pattern":"(a|b|c)*d"}}`)
	if problems, _ := s.Judge(json.RawMessage(`{"x":"abcd","aby":"`+strings.Repeat("abc", 100_000)+`d"}`), 4); problems != nil {
		t.Errorf("an ordinary value: %v", problems)
	}
}

func TestFormatsAreChecked(t *testing.T) {
	s := compile(t, `{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"r":{"format":"regex"},"d":{"format":"date"}}}`)
	if problems, _ := s.Judge(json.RawMessage(`{"r":"(","d":"2020-13-01"}`), 4); len(problems) != 2 || problems[0].At != "/d" || problems[1].At != "/r" {
		t.Errorf("%v", problems)
	}
}

// TestSchemasDoNotShare checks that each schema has its own copy of the external schemas that it refers to.
func TestSchemasDoNotShare(t *testing.T) {
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			s := compile(t, `{"$ref":"https://json-schema.org/draft/2020-12/schema"}`)
			if problems, _ := s.Judge(json.RawMessage(`{"type":5}`), 4); len(problems) == 0 {
				t.Error("5 is a type")
			}
		})
	}
	wg.Wait()
}

func TestSchemasAreShown(t *testing.T) {
	for text, want := range map[string]string{
		`{}`: `{}`,
		`{"type":"object","x":[1.50,{},[],"é<\"{"]}`:     "{\n  \"type\": \"object\",\n  \"x\": [\n    1.50,\n    {},\n    [],\n    \"é<\\\"{\"\n  ]\n}",
		`{"x":[` + strings.Repeat("1,", 30_000) + `1]}`:  `{"x":[` + strings.Repeat("1,", 30_000) + `1]}`,
		`{"x":"` + strings.Repeat("a", 64<<10-13) + `"}`: "{\n  \"x\": \"" + strings.Repeat("a", 64<<10-13) + "\"\n}",
		`{"x":"` + strings.Repeat("a", 64<<10-12) + `"}`: `{"x":"` + strings.Repeat("a", 64<<10-12) + `"}`,
	} {
		if got := compile(t, text).Shown(); got != want {
			t.Errorf("Shown of %.40s: %d bytes, %.60s", text, len(got), got)
		}
	}
}

func BenchmarkJudge(b *testing.B) {
	for _, n := range []int{10_000, 20_000} {
		b.Run(fmt.Sprintf("deep and wide/%d", n), func(b *testing.B) {
			s := compile(b, `{"items":{"type":"number"}}`)
			value := json.RawMessage(`[` + strings.Repeat(`1e1000,`, n) + nested("[", "", "]", 100) + `]`)
			for b.Loop() {
				s.Judge(value, 4)
			}
		})
	}
}
