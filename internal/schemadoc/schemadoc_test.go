package schemadoc

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMarkdown(t *testing.T) {
	const schema = `{
		"$id": "https://example.com/pet.json",
		"description": "What a pet is.",
		"required": ["kind"],
		"properties": {
			"kind": {"description": "What it is.", "enum": ["cat", "dog"]},
			"age": {"$ref": "#/$defs/age"},
			"limits": {"description": "Bounds | walls.", "type": "object", "anyOf": [{"required": ["low"]}, {"required": ["high"]}], "properties": {
				"low": {"description": "The low one.", "type": "integer", "minimum": 1, "default": 3},
				"high": {"description": "The high one.", "type": ["integer", "string"], "x-default": "what there is"}
			}},
			"tricks": {"description": "What it can do.", "type": "array", "items": {"$ref": "#/$defs/trick"}}
		},
		"$defs": {
			"age": {"title": "age", "description": "Years and months.", "type": "string"},
			"trick": {"title": "Trick", "description": "One of its arts.", "type": "object",
				"anyOf": [{"required": ["sit"]}, {"required": ["roll"]}],
				"allOf": [
					{"if": {"required": ["roll"]}, "then": {"$ref": "#/$defs/roll"}, "else": {"if": {"required": ["sit"]}, "then": {"$ref": "#/$defs/sit"}}}
				]},
			"sit": {"description": "It sits.", "properties": {"sit": {"description": "Where.", "type": "string"}}},
			"roll": {"description": "It rolls.", "properties": {"roll": {"description": "Whither.", "type": "object", "additionalProperties": {"$ref": "#/$defs/age"}}}}
		}
	}`
	const want = "[Pet](#pet) ·\n[Pet: `limits`](#pet-limits) ·\n[Trick](#trick) ·\n[Trick `sit`](#trick-sit) ·\n[Trick `roll`](#trick-roll)\n\n[Values](#values)\n" + `
## Pet

What a pet is.

| key | type | default | |
| --- | --- | --- | --- |
| <a id="pet-kind"></a>'kind' | 'cat', 'dog' | **required** | What it is. |
| <a id="pet-age"></a>'age' | [age](#age) |  | Years and months. |
| 'limits' | [object](#pet-limits) |  | Bounds \| walls. |
| <a id="pet-tricks"></a>'tricks' | list of [tricks](#trick) |  | What it can do. |

### Pet: 'limits'

Bounds \| walls.

At least one is required of: 'low', 'high'.

| key | type | default | |
| --- | --- | --- | --- |
| <a id="pet-limits-low"></a>'low' | integer from 1 | '3' | The low one. |
| <a id="pet-limits-high"></a>'high' | integer, string | what there is | The high one. |

### Trick

One of its arts.

| begins with | what it does |
| --- | --- |
| ['sit'](#trick-sit) | It sits. |
| ['roll'](#trick-roll) | It rolls. |

### Trick 'sit'

It sits.

| key | type | default | |
| --- | --- | --- | --- |
| <a id="trick-sit-sit"></a>'sit' | string | **required** | Where. |

### Trick 'roll'

It rolls.

| key | type | default | |
| --- | --- | --- | --- |
| <a id="trick-roll-roll"></a>'roll' | map to [ages](#age) | **required** | Whither. |

## Values

| type | |
| --- | --- |
| <a id="age"></a>age | Years and months. |
`
	got, err := Markdown([]File{{"Pet", []byte(schema)}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.ReplaceAll(want, "'", "`"), got); diff != "" {
		t.Errorf("Markdown (-want +got):\n%s", diff)
	}
}

func TestWhatCannotBeDescribedIsAnError(t *testing.T) {
	for _, tc := range []struct{ name, schema, want string }{
		{"a key without a description", `{"properties": {"a": {"type": "string"}}}`, `Pet: "a" has no description`},
		{"a reference that leads nowhere", `{"properties": {"a": {"description": "A.", "$ref": "#/$defs/none"}}}`, "there is no #/$defs/none"},
		{
			"two sections of one name",
			`{"properties": {"a": {"description": "A.", "title": "Pet", "properties": {}}}}`,
			`two sections are called "Pet"`,
		},
		{"no JSON", `{`, "schema of Pet: "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := Markdown([]File{{"Pet", []byte(tc.schema)}}); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Markdown: %v, want %q", err, tc.want)
			}
		})
	}
}

func TestSlugsAreThoseOfGitHub(t *testing.T) {
	for heading, want := range map[string]string{
		"Many machines":           "many-machines",
		"Which shard is it?":      "which-shard-is-it",
		"Step `half-close`":       "step-half-close",
		"lockstep.yaml: `except`": "lockstepyaml-except",
		"Ids & times":             "ids--times",
		"Größe_2":                 "größe_2",
	} {
		if got := Slug(heading); got != want {
			t.Errorf("Slug(%q): %q, want %q", heading, got, want)
		}
	}
}
