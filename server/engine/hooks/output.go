package hooks

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// These errors do not quote the output, which may be secret.
var (
	errNotJSON   = errors.New("its output is not one JSON object in UTF-8")
	errDecision  = errors.New(`"decision" in its output is neither "allow" nor "deny"`)
	errNotText   = errors.New(`"reason" or "output" in its output is not a text`)
	errNotObject = errors.New(`"input" in its output is not an object`)
)

// object reads the output of a hook. Blanks alone are nil.
func object(output []byte) (jsonwire.Text, error) {
	if len(bytes.Trim(output, " \t\r\n")) == 0 {
		return nil, nil
	}
	if !utf8.Valid(output) || bytes.HasPrefix(output, []byte("\uFEFF")) {
		return nil, errNotJSON
	}
	text, err := jsonwire.Parse(output)
	if err != nil || text.Kind() != "object" || !bytes.Equal(text, text.WellFormed()) {
		return nil, errNotJSON
	}
	return text, nil
}

// A verdict is what a hook says before a call.
type verdict struct {
	denied bool
	reason string
	input  json.RawMessage // instead of the call's; nil if it stays
}

func parseVerdict(output []byte) (verdict, error) {
	text, err := object(output)
	if text == nil {
		return verdict{}, err
	}
	parts := text.Pick("decision", "reason", "input")
	decision, reason, input := parts[0], parts[1], parts[2]
	said := verdict{input: json.RawMessage(input)}
	switch {
	case string(decision) != `"allow"` && string(decision) != `"deny"`:
		return verdict{}, errDecision
	case reason != nil && reason.Kind() != "string":
		return verdict{}, errNotText
	case input != nil && input.Kind() != "object":
		return verdict{}, errNotObject
	}
	if string(decision) == `"deny"` {
		said.denied, said.reason = true, "Denied by hook"
		if reason != nil && reason.Str() != "" {
			said.reason = strings.Clone(reason.Str())
		}
	}
	return said, nil
}

// parseOutput returns the text that a hook puts in place of a result, or nil.
func parseOutput(output []byte) (*string, error) {
	text, err := object(output)
	if text == nil {
		return nil, err
	}
	said := text.Get("output")
	switch said.Kind() {
	case "undefined":
		return nil, nil
	case "string":
		return new(said.Str()), nil
	}
	return nil, errNotText
}
