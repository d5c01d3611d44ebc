package scenario

import (
	_ "embed"
	"sync"

	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// Schema is the JSON Schema of a scenario's file.
//
//go:embed scenario.schema.json
var Schema []byte

var compiled = sync.OnceValue(func() *yamldoc.Schema { return yamldoc.MustSchema(Schema) })

// FragmentSchema is the JSON Schema of a fragment's file.
//
//go:embed fragment.schema.json
var FragmentSchema []byte

var fragmentSchema = sync.OnceValue(func() *yamldoc.Schema { return yamldoc.MustSchema(FragmentSchema, Schema) })

// playbookSchema is the schema of a file with a list of rules, such as a scenario has for each of its stubs.
var playbookSchema = sync.OnceValue(func() *yamldoc.Schema {
	return yamldoc.MustSchema([]byte(`{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "$id": "https://raw.githubusercontent.com/lockstep-dev/lockstep/main/harness/scenario/playbook.schema.json",
  "type": "array", "minItems": 1, "items": {"$ref": "scenario.schema.json#/$defs/stubRule"}
}`), Schema)
})
