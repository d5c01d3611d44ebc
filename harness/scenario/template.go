package scenario

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// An Env gives names their values. Values are JSON, so that a value that is one expression keeps its type.
type Env interface {
	Lookup(name string) (json.RawMessage, bool)
}

// A Template is a text with expressions in it.
type Template struct {
	parts []part
}

// A part is a literal text, or the name of a value.
type part struct {
	text   string
	name   string // "" for a literal
	column int    // of the expression in the text, 0-based, for messages
}

var expression = regexp.MustCompile(`\$?\$\{\{\s*(.*?)\s*\}\}`)

var nameSyntax = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*(\.[A-Za-z_][A-Za-z0-9_-]*)?$`)

// parseTemplate parses a text. `$${{` means the literal text `${{`.
func parseTemplate(s string) (Template, error) {
	if !strings.Contains(s, "${{") {
		return Literal(s), nil
	}
	var t Template
	at := 0
	for _, m := range expression.FindAllStringSubmatchIndex(s, -1) {
		t.literal(s[at:m[0]])
		at = m[1]
		if strings.HasPrefix(s[m[0]:], "$$") {
			t.literal(s[m[0]+1 : m[1]])
			continue
		}
		name := s[m[2]:m[3]]
		if !nameSyntax.MatchString(name) {
			return Template{}, fmt.Errorf("expression ${{ %s }} is not a name", name)
		}
		t.parts = append(t.parts, part{name: name, column: m[0]})
	}
	rest := s[at:]
	if i := strings.Index(rest, "${{"); i >= 0 && (i == 0 || rest[i-1] != '$') {
		return Template{}, fmt.Errorf("expression %q has no }}", rest[i:])
	}
	t.literal(strings.ReplaceAll(rest, "$${{", "${{"))
	return t, nil
}

func Literal(s string) Template {
	return Template{parts: []part{{text: s}}}
}

func (t *Template) literal(s string) {
	if s != "" {
		t.parts = append(t.parts, part{text: s})
	}
}

// Names returns the names that the text uses, in order.
func (t Template) Names() []string {
	var names []string
	for _, p := range t.parts {
		if p.name != "" {
			names = append(names, p.name)
		}
	}
	return names
}

// Constant returns the text if it has no expressions.
func (t Template) Constant() (text string, ok bool) {
	if len(t.Names()) > 0 {
		return "", false
	}
	text, _ = t.Text(nil, nil) // it needs no values
	return text, true
}

// Text returns the text with its expressions replaced: strings as they are, other values as JSON. If escape is not nil,
// each value is escaped.
func (t Template) Text(env Env, escape func(string) string) (string, error) {
	if len(t.parts) == 1 && t.parts[0].name == "" {
		return t.parts[0].text, nil
	}
	var b strings.Builder
	for _, p := range t.parts {
		if p.name == "" {
			b.WriteString(p.text)
			continue
		}
		raw, ok := env.Lookup(p.name)
		if !ok {
			return "", &MissingError{p.name}
		}
		text, err := valueText(p.name, raw)
		if err != nil {
			return "", err
		}
		if from, ok := env.(interface{ Captured(name string) bool }); ok && text == "null" && string(raw) == text && from.Captured(p.name) {
			return "", fmt.Errorf("%s was captured as null, which is no text: capture what is there, or expect a value where it is captured", p.name)
		}
		if escape != nil {
			text = escape(text)
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

// valueText returns the form of a value inside a text.
func valueText(name string, raw json.RawMessage) (string, error) {
	text := string(raw)
	if len(raw) > 0 && raw[0] == '"' {
		if err := json.Unmarshal(raw, &text); err != nil {
			return "", fmt.Errorf("value of %s: %w", name, err)
		}
	}
	return text, nil
}

// Texts returns the texts for a place that may have one text or a list of them. If the text is exactly one expression
// whose value is a list, it returns the items. Otherwise it returns the one text.
func (t Template) Texts(env Env) ([]string, error) {
	name, single := t.single()
	raw, ok := json.RawMessage(nil), false
	if single {
		raw, ok = env.Lookup(name)
	}
	var items []json.RawMessage
	if !ok || json.Unmarshal(raw, &items) != nil || items == nil { // null is not a list
		text, err := t.Text(env, nil)
		return []string{text}, err
	}
	if len(items) == 0 {
		return nil, fmt.Errorf("%s is a list without an item", name)
	}
	out := make([]string, len(items))
	for i, item := range items {
		var err error
		if out[i], err = valueText(name, item); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Filled replaces the expressions whose values are known, and keeps the others as they are written. The columns of a
// row must be known.
func (t Template) Filled(known Env) (string, error) {
	filled := Template{parts: slices.Clone(t.parts)}
	for i, p := range t.parts {
		if _, ok := known.Lookup(p.name); !ok && !strings.HasPrefix(p.name, "row.") {
			continue
		}
		text, err := Template{parts: []part{p}}.Text(known, nil)
		if err != nil {
			return "", err
		}
		filled.parts[i] = part{text: text}
	}
	return filled.Source(), nil
}

// Source returns the text as it was written.
func (t Template) Source() string {
	var b strings.Builder
	for _, p := range t.parts {
		if p.name == "" {
			b.WriteString(p.text)
		} else {
			b.WriteString("${{ " + p.name + " }}")
		}
	}
	return b.String()
}

// Probe returns the text with a word in place of each expression, to check the text around the expressions.
func (t Template) Probe() string {
	s, _ := t.Text(anyEnv{}, nil) // anyEnv has a value for every name
	return s
}

// single returns the name if the text is exactly one expression.
func (t Template) single() (string, bool) {
	if len(t.parts) == 1 && t.parts[0].name != "" {
		return t.parts[0].name, true
	}
	return "", false
}

// A MissingError means that an expression uses a value that does not exist, because its capture found nothing.
type MissingError struct{ Name string }

func (e *MissingError) Error() string { return fmt.Sprintf("%s has no value", e.Name) }

// anyEnv gives every name a value, to check the text around it.
type anyEnv struct{}

func (anyEnv) Lookup(string) (json.RawMessage, bool) { return json.RawMessage(`"x"`), true }
