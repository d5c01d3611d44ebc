package match

import (
	"fmt"
	"slices"
	"strings"

	"github.com/theory/jsonpath"
	"github.com/theory/jsonpath/spec"

	"github.com/lockstep-dev/lockstep/harness/internal/plainjson"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// Missing says why Select found no value, and describes the nearest value on the path.
func Missing(doc []byte, path string) string {
	const none = "there is no such value"
	root, _, err := jsontree.Parse(doc)
	switch {
	case len(doc) == 0:
		return none + "; there is no content"
	case err != nil:
		return none + "; the content is not JSON: " + excerpt(doc)
	}
	p, err := jsonpath.Parse(path)
	if err != nil {
		return none
	}
	value := root.Value()
	if got := p.Select(value); len(got) > 1 {
		return fmt.Sprintf("there are %d such values", len(got))
	}
	segments := p.Query().Segments()
	for n := len(segments) - 1; n >= 0; n-- {
		way := jsonpath.New(spec.Query(true, segments[:n]...))
		if got := way.Select(value); len(got) == 1 {
			return fmt.Sprintf("%s; %s is %s", none, way, outline(got[0]))
		}
	}
	return none
}

// outline describes a value: its kind, and the names of its members.
func outline(value any) string {
	switch v := value.(type) {
	case map[string]any:
		if len(v) == 0 {
			return "an object without members"
		}
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, excerpt(plainjson.Encode(name)))
		}
		slices.Sort(names)
		const maxNames = 20
		if more := len(names) - maxNames; more > 0 {
			names = append(names[:maxNames], fmt.Sprintf("%d more", more))
		}
		return "an object with " + strings.Join(names, ", ")
	case []any:
		return fmt.Sprintf("an array of length %d", len(v))
	default:
		return excerpt(plainjson.Encode(v))
	}
}
