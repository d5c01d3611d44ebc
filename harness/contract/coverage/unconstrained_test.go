package coverage

import (
	"testing"

	"github.com/lockstep-dev/lockstep/harness/contract/internal/sample"
)

func TestSchemasThatAdmitAnythingAreListed(t *testing.T) {
	for schema, want := range map[string]int{
		`{}`:                            1,
		`{description: anything}`:       1,
		`{nullable: true}`:              1,
		`{type: string}`:                0,
		`{enum: [1]}`:                   0,
		`{pattern: x}`:                  0,
		`{maxLength: 3}`:                0,
		`{additionalProperties: false}`: 0,
		`{type: object, properties: {a: {}, b: {type: array, items: {}}}}`: 2,
		`{oneOf: [{type: string}, {}]}`:                                    1,
		`{$ref: '#/components/schemas/Any'}`:                               1,
		`{allOf: [{$ref: '#/components/schemas/Any'}, {type: object}]}`:    1,
	} {
		got := Unconstrained(sample.Parse(t, sample.Returning(schema, "    Any: {}\n    Unused: {}")))
		if len(got) != want {
			t.Errorf("%s: %v, want %d", schema, got, want)
		}
		for _, p := range got {
			if p.Line == 0 || p.File != "api.yaml" {
				t.Errorf("%s: %s has no place", schema, p.Error())
			}
		}
	}
	if got := Unconstrained(sample.Parse(t, sample.Taking(`{}`))); len(got) != 0 {
		t.Errorf("what requests may have is nobody's business: %v", got)
	}
}
