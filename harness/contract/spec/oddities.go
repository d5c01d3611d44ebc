package spec

import (
	"bytes"
	"encoding/json"
	"regexp"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
	"github.com/lockstep-dev/lockstep/internal/problem"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// Some documents need help before the loader accepts or understands them.

var nullConstant = regexp.MustCompile(`const["']?\s*:\s*(null|~)`)

// nullConstants lists where `const` is null. The loader reads it as if there were no const.
func nullConstants(src *source) (notes problem.Problems) {
	if !nullConstant.Match(src.text) {
		return nil
	}
	for _, at := range keywords(nil, src.read().Root, false, "const", yamldoc.Null) {
		notes = append(notes, problem.Problem{Line: at.Line, Column: at.Column, What: "const: null is not checked", Fix: "write type: 'null'"})
	}
	return notes
}

var anchorRef = regexp.MustCompile(`(\$ref["']?\s*:\s*["']?)#([A-Za-z_][-A-Za-z0-9._]*)`)

// withoutAnchors replaces references to an $anchor by JSON Pointers, because the loader does not follow them.
func withoutAnchors(src *source, text []byte) []byte {
	if !bytes.Contains(text, []byte("$anchor")) {
		return text
	}
	pointers := map[string]string{}
	anchors(pointers, src.read().Root, "#")
	return anchorRef.ReplaceAllFunc(text, func(ref []byte) []byte {
		m := anchorRef.FindSubmatch(ref)
		if pointer, ok := pointers[string(m[2])]; ok {
			return append(bytes.Clone(m[1]), pointer...)
		}
		return ref
	})
}

// anchors collects where the values with an $anchor are.
func anchors(pointers map[string]string, n *yamldoc.Node, at string) {
	for k, v := range n.Entries() {
		if k.Text == "$anchor" && v.Kind == yamldoc.String {
			pointers[v.Text] = at
		}
		anchors(pointers, v, jsontree.AppendName(at, k.Text))
	}
	for i, item := range n.Elements() {
		anchors(pointers, item, jsontree.AppendIndex(at, i))
	}
}

// withoutNamedExamples removes the `examples` of schemas that are an object. They belong to media types and parameters;
// in a schema they must be a list.
func withoutNamedExamples(text []byte) ([]byte, bool) {
	in := json.NewDecoder(bytes.NewReader(text))
	in.UseNumber()
	var document any
	if in.Decode(&document) != nil {
		return nil, false // YAML that is not plain
	}
	removeNamedExamples(document)
	text, err := json.Marshal(document)
	return text, err == nil
}

func removeNamedExamples(v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			removeNamedExamples(item)
		}
	case map[string]any:
		_, named := v["examples"].(map[string]any)
		_, hasSchema := v["schema"]
		if named && !hasSchema {
			delete(v, "examples")
		}
		for _, item := range v {
			removeNamedExamples(item)
		}
	}
}
