package coverage

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/contract/internal/sample"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

const surfaceDoc = sample.Head + `paths:
  /pets:
    post:
      requestBody:
        content:
          application/json: {schema: {$ref: '#/components/schemas/NewPet'}}
          application/x-yaml: {schema: {$ref: '#/components/schemas/NewPet'}}
      responses:
        '201':
          description: ok
          headers:
            Kind: {schema: {type: string, enum: [old, new]}}
          content: {application/json: {schema: {$ref: '#/components/schemas/Pet'}}}
        '400':
          description: no
          content: {application/json: {schema: {$ref: '#/components/schemas/Error'}}}
  /feed:
    get:
      responses:
        '200':
          description: ok
          content:
            text/event-stream:
              schema: {type: string}
              x-events: {events: {born: {schema: {$ref: '#/components/schemas/Born'}}, word: {contentType: text/plain, schema: {type: string, enum: [a, b]}}}}
components:
  schemas:
    NewPet:
      type: object
      properties: {name: {type: string}, of: {type: string, nullable: true}, id: {type: string, readOnly: true}}
    Pet:
      oneOf: [{$ref: '#/components/schemas/Cat'}, {$ref: '#/components/schemas/Dog'}]
      discriminator: {propertyName: kind, mapping: {cat: '#/components/schemas/Cat', dog: '#/components/schemas/Dog'}}
    Animal:
      type: object
      properties: {id: {type: string}, tags: {type: array, items: {$ref: '#/components/schemas/Tag'}}, secret: {type: string, writeOnly: true}}
    Cat:
      allOf: [{$ref: '#/components/schemas/Animal'}, {type: object, properties: {kind: {type: string, enum: [cat]}, lives: {type: integer}}}]
    Dog:
      allOf: [{$ref: '#/components/schemas/Animal'}, {type: object, properties: {kind: {type: string, enum: [dog]}}}]
    Tag: {type: string, nullable: true, enum: [big, small, null]}
    Born: {type: object, properties: {pet: {$ref: '#/components/schemas/Animal'}, again: {$ref: '#/components/schemas/Born'}}}
    Error:
      type: object
      properties:
        error: {type: object, properties: {code: {type: string, enum: [TAKEN, INVALID]}}}
    Unused: {type: object, properties: {never: {type: string}}}
`

// posted is POST /pets with a body, and its response.
func posted(request string, status int, answer string, h ...string) *transcript.Transcript {
	t := sample.Request("POST", "/pets", sample.Header("Content-Type", "application/json"), request)
	t.Steps[0].Exchanges[0].Response = &transcript.Response{
		Status: status, Header: sample.Header(append([]string{"Content-Type", "application/json"}, h...)...), Body: sample.Body(answer),
	}
	return t
}

func fed(events ...transcript.Event) *transcript.Transcript {
	t := sample.Stream(events...)
	t.Steps[0].Exchanges[0].Request.Target = "/feed"
	return t
}

// seen lists the items of schemas that were reached.
func seen(c *Coverage) (out []string) {
	for _, it := range c.Items() {
		switch it.Measure {
		case PropertiesSeen, EnumsSeen, AlternativesSeen:
			if it.Reached {
				out = append(out, it.Name)
			}
		}
	}
	return out
}

func malformed(t *transcript.Transcript) *transcript.Transcript {
	t.Steps[0].Exchanges[0].Request.Malformed = true
	return t
}

func TestWhatSchemasDeclareIsSeenInTheMessagesThatCount(t *testing.T) {
	d := sample.Parse(t, surfaceDoc)
	if got, want := New(d).SchemaTotals().String(), "0/11 properties · 0/11 enum values · 0/2 alternatives"; got != want {
		t.Errorf("nothing seen: %s, want %s", got, want)
	}
	const word = "GET /feed 200 text/event-stream x-events/events/word"
	for _, tc := range []struct {
		name string
		add  *transcript.Transcript
		want []string
	}{
		{"an alternative, by its tag", posted(`{}`, 201, `{"id":"1","kind":"cat"}`), []string{
			"Animal id", "Cat/allOf/1 kind", `Cat/allOf/1/properties/kind "cat"`, "Pet Cat",
		}},
		{"elements, and null among the values of an enum", posted(`{}`, 201, `{"kind":"dog","tags":["small",null]}`), []string{
			"Animal tags", "Dog/allOf/1 kind", `Dog/allOf/1/properties/kind "dog"`, `Tag "small"`, "Tag null", "Pet Dog",
		}},
		{"a request", posted(`{"name":"x","of":null}`, 400, `{}`), []string{"NewPet name", "NewPet of"}},
		{"a request that is broken on purpose", malformed(posted(`{"name":"x"}`, 400, `{}`)), nil},
		{"a property that belongs to answers, in a request", posted(`{"id":"x"}`, 400, `{}`), nil},
		{"an error", posted(`{}`, 400, `{"error":{"code":"TAKEN"}}`), []string{"Error error", "Error/properties/error code", `Error/properties/error/properties/code "TAKEN"`}},
		{"a header field", posted(`{}`, 201, `{"kind":"dog"}`, "kind", "old"), []string{
			"Dog/allOf/1 kind", `POST /pets 201/headers/Kind "old"`, `Dog/allOf/1/properties/kind "dog"`, "Pet Dog",
		}},
		{"events, one in another", fed(sample.Event("born", `{"again":{"pet":{"id":"1"}}}`), sample.Event("word", "b"), sample.Event("other", "a")), []string{
			"Animal id", "Born again", "Born pet", word + ` "b"`,
		}},
		{"a body that was cut short", sample.CutShort(posted(`{}`, 201, `{"kind":"cat"}`)), nil},
		{"a body that is not JSON", posted(`{`, 201, `{"kind":"cat"`), nil},
		{"an undeclared status", posted(`{}`, 418, `{"kind":"cat"}`), nil},
		{"a field that nobody declares", posted(`{}`, 400, `{"other":1}`), nil},
	} {
		c := New(d)
		c.Add(tc.add)
		c.Add(tc.add) // a second time adds nothing
		if diff := cmp.Diff(tc.want, seen(c)); diff != "" {
			t.Errorf("%s: seen (-want +got):\n%s", tc.name, diff)
		}
	}
}

func TestWhatWasSeenAddsUp(t *testing.T) {
	d := sample.Parse(t, surfaceDoc)
	all := []*transcript.Transcript{
		posted(`{"name":"x","of":"y"}`, 201, `{"id":"1","kind":"cat","tags":["big","small",null],"lives":9}`, "Kind", "new"),
		posted(`{}`, 201, `{"kind":"dog"}`, "Kind", "old"), posted(`{}`, 400, `{"error":{"code":"TAKEN"}}`), posted(`{}`, 400, `{"error":{"code":"INVALID"}}`),
		fed(sample.Event("born", `{"pet":{},"again":{}}`), sample.Event("word", "a"), sample.Event("word", "b")),
	}
	whole := New(d)
	for i, tr := range all {
		if got := whole.SchemaTotals(); got.Properties.Reached == got.Properties.Declared && got.Enum.Reached == got.Enum.Declared {
			t.Errorf("after %d of %d all is seen: %s", i, len(all), got)
		}
		whole.Add(tr)
	}
	if got, want := whole.SchemaTotals().String(), "11/11 properties · 11/11 enum values · 2/2 alternatives"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if fresh := seen(New(d)); fresh != nil {
		t.Errorf("a new coverage has seen %q", fresh)
	}
}

// Contents that cannot have anything new are not parsed. All others are, in whatever notation.
func TestWhatIsLeftIsSeenHoweverItIsWritten(t *testing.T) {
	const schema = `{type: object, properties: {"a/b": {type: string}, "<é>": {}, e: {enum: ["x y", 10, true]}, o: {oneOf: [{type: string}, {type: integer}]}}}`
	d := sample.Parse(t, sample.Returning(schema))
	full := `{"a/b":"","<é>":1,"e":"x y","o":1}`
	for _, tc := range []struct{ last, want string }{
		{`{"a\/b":""}`, "a/b"}, {`{"\u0061/b":""}`, "a/b"}, {`{"a/b":""}`, "a/b"},
		{`{"<é>":0}`, "<é>"}, {`{"\u003cé>":0}`, "<é>"},
		{`{"e":"x y"}`, `"x y"`}, {`{"e":"x\u0020y"}`, `"x y"`}, {`{"e":10}`, "10"}, {`{"e":1e1}`, "10"}, {`{"e":true}`, "true"},
		{`{"o":1}`, "/integer"}, {`{"o":""}`, "/string"},
	} {
		whole := []string{full, `{"e":10}`, `{"e":true}`, `{"o":""}`}
		c := New(d)
		for _, one := range whole {
			n, _, err := jsontree.Parse([]byte(one))
			if err != nil {
				t.Fatal(err)
			}
			for i, name := range n.Names { // all parts except the last one
				text := fmt.Sprintf("{%q:%s}", name, n.Items[i])
				if tc.want == name || tc.want == n.Items[i].String() || name == "o" && tc.want[0] == '/' && (tc.want == "/string") == (n.Items[i].Text == "") {
					continue
				}
				c.Add(sample.JSONResponse(text))
			}
		}
		before := c.SchemaTotals()
		c.Add(sample.JSONResponse(`{"other":"nothing new"}`))
		c.Add(sample.JSONResponse(tc.last))
		after := c.SchemaTotals()
		sum := func(s SchemaTally) int { return s.Properties.Reached + s.Enum.Reached + s.Alternatives.Reached }
		if sum(after) <= sum(before) {
			t.Errorf("%s shows nothing new: %s, and before %s", tc.last, after, before)
		}
	}
}

func TestErrorCodesAndContentTypesOfRequestsAreCounted(t *testing.T) {
	d := sample.Parse(t, surfaceDoc)
	c := New(d)
	c.Add(posted(`{}`, 400, `{"error":{"code":"TAKEN"}}`))
	c.Add(posted(`{}`, 400, `{"error":{"code":7}}`))
	var got []string
	for _, it := range c.Items() {
		if it.Measure == CodesReached || it.Measure == RequestsSent {
			got = append(got, fmt.Sprint(it.Name, " ", it.Reached))
		}
	}
	want := []string{
		"POST /pets application/json true", "POST /pets application/x-yaml false", "POST /pets 400 TAKEN true", "POST /pets 400 INVALID false",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got, want := TallyItems(c.Items(), CodesReached).String(), "1/2"; got != want {
		t.Errorf("codes %s, want %s", got, want)
	}
}

func TestEachItemHasItsLine(t *testing.T) {
	d, source := ours(t)
	lines := strings.Split(string(source), "\n")
	for _, it := range New(d).Items() {
		if it.Line == 0 {
			t.Errorf("%s %s has no line", it.Measure, it.Name)
			continue
		}
		word := it.Name[strings.LastIndexByte(it.Name, ' ')+1:]
		if line := lines[it.Line-1]; it.Measure == PropertiesSeen && !strings.Contains(line, word+":") || it.Measure == StatusesReached && !strings.Contains(line, "'"+word+"':") {
			t.Errorf("%s %s is said to be in line %d: %s", it.Measure, it.Name, it.Line, line)
		}
	}
}

func TestWhatIsNotComparedIsListed(t *testing.T) {
	d := sample.Parse(t, surfaceDoc)
	c := New(d)
	skipped := posted(`{}`, 201, `{"kind":"dog"}`, "Kind", "old")
	skipped.Steps[0].Uncompared = true
	c.Add(skipped)
	c.Add(posted(`{}`, 400, `{}`))
	none, kind := func(string) bool { return false }, func(name string) bool { return name == "Kind" }
	if diff := cmp.Diff([]string{"POST /pets 201: header Kind", "POST /pets 201: body as application/json"}, c.NotCompared(none)); diff != "" {
		t.Errorf("no rule at all (-want +got):\n%s", diff)
	}
	c.Add(posted(`{}`, 201, `{"kind":"dog"}`, "Kind", "old"))
	if got := c.NotCompared(kind); got != nil {
		t.Errorf("all is compared, and %q is listed", got)
	}
}
