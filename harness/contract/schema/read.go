package schema

import "github.com/lockstep-dev/lockstep/internal/jsontree"

// Read returns the value that a text means if the schema may want something else than a string. In parameters, headers
// and plain text, 5 is written like "5".
func (s *Schema) Read(text string) *jsontree.Node {
	plain := &jsontree.Node{Kind: jsontree.String, Text: text}
	if s == nil || s.kinds&^(bit(jsontree.String)|bit(jsontree.Null)) == 0 {
		return plain
	}
	n, defects, err := jsontree.Parse([]byte(text))
	if err != nil || len(defects) > 0 || n.Text != text || n.Kind != jsontree.Number && n.Kind != jsontree.Boolean {
		return plain
	}
	var j Judge
	if s.kinds&bit(n.Kind) == 0 || j.measurer.distance(n, s) > 0 && j.measurer.distance(plain, s) == 0 {
		return plain
	}
	return n
}
