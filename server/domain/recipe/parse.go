package recipe

import (
	"fmt"

	"github.com/lockstep-dev/lockstep/server/wire/decode"
	"github.com/lockstep-dev/lockstep/server/wire/yamljson"
)

// Parse reads a recipe from YAML, which includes JSON (GA 11.2). If there is a key "recipe" at the top level, its
// value is the recipe.
func Parse(text []byte) (Recipe, error) {
	json, err := yamljson.Parse(text)
	if err != nil {
		return Recipe{}, fmt.Errorf("not YAML: %w", err)
	}
	v, err := decode.Parse(json)
	if err != nil {
		return Recipe{}, err
	}
	for name, inner := range v.Members() {
		if name == "recipe" {
			v = inner
			break
		}
	}
	return decodeWritten(v)
}
