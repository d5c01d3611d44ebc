package bundle

import (
	"encoding/json"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/lockstep-dev/lockstep/internal/problem"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// A writer writes a document as JSON, with a line for each member and each element.
type writer struct {
	text   []byte
	places map[*yamldoc.Node]problem.Place
	lines  []problem.Place
}

// begin records where the line that is being written comes from.
func (w *writer) begin(n *yamldoc.Node) {
	at := w.places[n]
	if last := len(w.lines) - 1; at == (problem.Place{}) && last >= 0 {
		at = w.lines[last]
	}
	w.lines = append(w.lines, at)
}

func (w *writer) value(n *yamldoc.Node, depth int) {
	if depth == 0 {
		w.begin(n)
	}
	switch n.Kind {
	case yamldoc.Null:
		w.text = append(w.text, "null"...)
	case yamldoc.Bool:
		w.text = append(w.text, strings.ToLower(n.Text)...)
	case yamldoc.List, yamldoc.Map:
		w.items(n, depth)
	default:
		if n.Kind == yamldoc.Number && json.Valid([]byte(n.Text)) {
			w.text = append(w.text, n.Text...)
			return
		}
		w.text, _ = jsontext.AppendQuote(w.text, n.Text) // YAML has only valid UTF-8
	}
}

func (w *writer) items(n *yamldoc.Node, depth int) {
	open, end := byte('['), byte(']')
	if n.Kind == yamldoc.Map {
		open, end = '{', '}'
	}
	w.text = append(w.text, open)
	for i, item := range n.Items {
		if i > 0 {
			w.text = append(w.text, ',')
		}
		w.text = append(w.text, '\n')
		if n.Kind == yamldoc.Map {
			w.begin(n.Keys[i])
			w.text, _ = jsontext.AppendQuote(w.text, n.Keys[i].Text)
			w.text = append(w.text, ": "...)
		} else {
			w.begin(item)
		}
		w.value(item, depth+1)
	}
	w.text = append(w.text, end)
}
