package mutate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/theory/jsonpath"

	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A ruledJSON is a JSON document with the rules about values in it that may vary.
type ruledJSON struct {
	root    *jsontree.Node
	rules   []jsondiff.Volatile
	decoded any // the root in the form to which JSONPaths are applied; set when needed
}

// placesOf returns the JSON Pointers of the values that a rule is about. With an invalid path, there are none.
func (d *ruledJSON) placesOf(rule jsondiff.Volatile) []string {
	path, err := jsonpath.Parse(rule.At)
	if err != nil {
		return nil
	}
	if d.decoded == nil {
		d.decoded = d.root.Value()
	}
	var out []string
	for _, found := range path.SelectLocated(d.decoded) {
		out = append(out, found.Path.Pointer())
	}
	return out
}

// declared returns the places whose values rules call generated, and those whose values they call free text. It skips
// rules about JSON in a text, which do not say whether the text is generated, and rules about ranges of numbers.
func (d *ruledJSON) declared() (generated, freeText map[string]bool) {
	generated, freeText = map[string]bool{}, map[string]bool{}
	for _, rule := range d.rules {
		if rule.Kind == jsondiff.JSON || rule.Kind.ComparesNumbers() {
			continue
		}
		into := generated
		if rule.Kind == jsondiff.Text {
			into = freeText
		}
		for _, pointer := range d.placesOf(rule) {
			into[pointer] = true
		}
	}
	return generated, freeText
}

// hasRule reports whether a rule about exactly this place meets a condition.
func (d *ruledJSON) hasRule(pointer string, is func(jsondiff.Volatile) bool) bool {
	return slices.ContainsFunc(d.rules, func(r jsondiff.Volatile) bool { return is(r) && slices.Contains(d.placesOf(r), pointer) })
}

// hiddenBy names the rule about a place, or about a place inside or around it. It returns "" when there is none.
func (d *ruledJSON) hiddenBy(pointer string) string {
	for _, rule := range d.rules {
		for _, place := range d.placesOf(rule) {
			if !isWithin(pointer, place) && !isWithin(place, pointer) {
				continue
			}
			if rule.Kind.ComparesNumbers() {
				return fmt.Sprintf("numbers %s, as %s", rule.At, rule.Kind)
			}
			return fmt.Sprintf("volatile %s, kind %s", rule.At, rule.Kind)
		}
	}
	return ""
}

// isWithin reports whether the value of a JSON Pointer is inside of another one, or the same.
func isWithin(pointer, other string) bool {
	return pointer == other || strings.HasPrefix(pointer, other+"/")
}
