package sequences

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/contract"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// A writer writes the steps of a sequence.
type writer struct {
	contract *contract.Document
	sequence *Sequence
	made     int // how many captures and streams there are
}

func (w *writer) name(kind string) string { w.made++; return fmt.Sprintf("%s%d", kind, w.made) }

// add appends a group of steps.
func (w *writer) add(steps ...string) {
	g := Group{Steps: steps}
	all := strings.Join(steps, "")
	for _, m := range gives.FindAllStringSubmatch(all, -1) {
		g.gives = append(g.gives, m[1]+m[2])
	}
	for _, m := range needs.FindAllStringSubmatch(all, -1) {
		if name := m[1] + m[2]; !slices.Contains(g.gives, name) {
			g.needs = append(g.needs, name)
		}
	}
	w.sequence.Groups = append(w.sequence.Groups, g)
}

var (
	gives = regexp.MustCompile(`(?m)^- (?:open|start): (\w+)|capture: \{"?(\w+)`)
	needs = regexp.MustCompile(`(?m)\$\{\{ (\w+) \}\}|^- (?:await|close|join): (\w+)`)
)

// step returns a step that sends a request. The contract decides whether the request is marked as malformed.
func (w *writer) step(method, path string, body *node, more ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "- http: %s\n", yamldoc.Scalar(method+" "+path))
	b.WriteString(w.body(method, path, body))
	for _, free := range freeWords {
		if free.path.MatchString(path) {
			fmt.Fprintf(&b, "  compare: {volatile: %s}\n", free.rules)
		}
	}
	for _, m := range more {
		b.WriteString("  " + m + "\n")
	}
	return b.String()
}

// freeWords are texts that each server words in its own way.
var freeWords = []struct {
	path  *regexp.Regexp
	rules string
}{
	{regexp.MustCompile(`^/agent/start|/user_recipe_values$`), `[{at: $.message, kind: text, because: what is wrong with a recipe is said in free words}]`},
	{regexp.MustCompile(`^/diagnostics/`), `[{at: "$['system.txt'][1,2,3]", kind: text, because: each language names its platform in its own way},
    {at: "$.*[*].error", kind: text, because: that a connection broke is logged in free words}]`},
}

// body returns the body of a request, and marks the request if it is malformed.
func (w *writer) body(method, path string, body *node) string {
	var out, typed string
	var sent []byte
	if body != nil {
		if !sayable(body) && expression.MatchString(w.known(body.String(), encoded)) { // raw text cannot escape captured values
			body = parse(strings.ReplaceAll(body.String(), `\ud83d`, `\ufffd`))
		}
		sent, typed = []byte(w.known(body.String(), encoded)), "application/json"
		if sayable(body) {
			out = "  json: " + yamldoc.Flow(body) + "\n"
		} else {
			out = "  raw: {text: " + yamldoc.Scalar(string(sent)) + ", type: application/json}\n"
		}
	}
	if w.malformed(method, path, sent, typed) {
		out += "  malformed: true\n"
	}
	return out
}

func (w *writer) malformed(method, path string, body []byte, typed string) bool {
	h := transcript.Header{{Name: "X-Secret-Key", Value: "test"}}
	if typed != "" {
		h = append(h, transcript.Field{Name: "Content-Type", Value: typed})
	}
	target := expression.ReplaceAllStringFunc(path, func(e string) string { return url.PathEscape(w.known(e, nil)) })
	return len(w.contract.CheckRequest(method, target, h, body)) > 0
}

var expression = regexp.MustCompile(`\$\{\{ (\w+) \}\}`)

// known replaces the variables of the sequence in a text. Expressions without a value before the run stay, except in
// paths, where a session ID replaces them.
func (w *writer) known(in string, quote func(any) string) string {
	return expression.ReplaceAllStringFunc(in, func(e string) string {
		name := expression.FindStringSubmatch(e)[1]
		value, ok := w.sequence.vars[name]
		switch {
		case ok && quote != nil:
			value = jsontree.Join((&node{Kind: jsontree.String, Text: value}).String())
			return value[1 : len(value)-1]
		case ok:
			return value
		case quote == nil:
			return "20250101_1"
		}
		return e
	})
}

func (w *writer) open(stream string, body *node) string {
	return "- open: " + stream + "\n  sse: POST /reply\n" + w.body("POST", "/reply", body)
}
