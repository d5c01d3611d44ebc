package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
	"github.com/lockstep-dev/lockstep/harness/redact"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A token is a secret text: a password, or the key of a session. Like an id, it is bound, and it must have the same
// format on both sides, as far as an opaque text shows that. Reports show its length and nothing else.

// A Masker hides the tokens of a scenario wherever a text contains one. A nil Masker hides nothing.
type Masker struct {
	replacer *strings.Replacer
	encoded  *redact.Replacer // for tokens in other encodings
}

// NewMasker returns a Masker for every token that rules find in the JSON that targets sent: in bodies, requests and
// events. It returns nil when no rule is about tokens.
func NewMasker(rules *Rules, ts ...*transcript.Transcript) *Masker {
	if !rules.hasTokenRules() {
		return nil
	}
	secrets := map[string]bool{}
	look := func(rules []jsondiff.Volatile, doc jsondiff.Content) {
		root, err := jsondiff.Parse(doc)
		if err != nil {
			return
		}
		for ptr, rule := range jsondiff.Pointers(rules, doc.Data, root, map[string]bool{}) {
			if n, _ := root.At(ptr); rule.Kind == jsondiff.Token && n != nil && jsondiff.Scalar(n) && len(n.Text) >= ident.MinKnown {
				secrets[n.Text] = true
			}
		}
	}
	for _, t := range ts {
		for i := range t.Steps {
			for _, x := range t.Steps[i].Exchanges {
				if x.Response != nil {
					look(rules.volatile(t.Steps[i].ID), bodyContent(x.Response))
				}
			}
		}
		for i := range t.Upstream {
			asked := rules.UpstreamVolatile(&t.Upstream[i])
			for _, x := range t.Upstream[i].Exchanges {
				look(asked, requestContent(&x.Request))
			}
		}
		for _, s := range t.Streams {
			for i := range s.Events {
				look(rules.volatile(s.Step), eventContent(&s.Events[i]))
			}
		}
	}
	var all []string
	for secret := range secrets {
		all = append(all, secret)
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	var pairs []string
	for _, secret := range all {
		pairs = append(pairs, secret, jsondiff.MaskedToken(secret))
		for _, escaped := range [...]string{fmt.Sprintf("%q", secret), (&jsontree.Node{Kind: jsontree.String, Text: secret}).String()} {
			if inner := escaped[1 : len(escaped)-1]; inner != secret {
				pairs = append(pairs, inner, jsondiff.MaskedToken(secret))
			}
		}
	}
	if len(pairs) == 0 {
		return nil
	}
	return &Masker{strings.NewReplacer(pairs...), redact.NewReplacer(all)}
}

func (r *Rules) hasTokenRules() bool {
	speak := func(rules []jsondiff.Volatile) bool {
		return slices.ContainsFunc(rules, func(v jsondiff.Volatile) bool { return v.Kind == jsondiff.Token })
	}
	spoken := speak(r.Volatile)
	for _, s := range r.Steps {
		spoken = spoken || speak(s.Volatile)
	}
	for _, s := range r.Stubs {
		spoken = spoken || speak(s.Volatile)
	}
	for _, rules := range r.MCP {
		spoken = spoken || speak(rules)
	}
	return spoken
}

// Mask replaces the tokens in a text.
func (v *Masker) Mask(text string) string {
	if v == nil {
		return text
	}
	return v.encoded.Text(v.replacer.Replace(text))
}

// reason replaces the tokens in a reason.
func (v *Masker) reason(r diff.Reason) diff.Reason {
	if v == nil || v.Mask(r.Text()) == r.Text() {
		return r
	}
	args := []any{} // without an IDConflict, because a secret must not get a name
	for _, arg := range r.Args {
		switch arg := arg.(type) {
		case ident.IDConflict:
		case string, ident.Location, diff.Reason:
			args = append(args, v.Mask(fmt.Sprint(arg)))
		default:
			args = append(args, arg)
		}
	}
	r.Args = args
	return r
}

// Declared returns a function that reports whether a rule selects the value at a place in a response. The place is
// written like that of a contract.Violation.
func (r *Rules) Declared(step string, answer *transcript.Response) func(place string) bool {
	return r.declared(step, bodyContent(answer).Data, "body")
}

// DeclaredInEvent is Declared for an event of a stream that a step opened.
func (r *Rules) DeclaredInEvent(step string, ev *transcript.Event) func(place string) bool {
	return r.declared(step, []byte(ev.Data), "event data")
}

func (r *Rules) declared(step string, doc []byte, of string) func(place string) bool {
	var places map[string]*jsondiff.Volatile
	if root, _, err := jsontree.Parse(doc); r != nil && err == nil {
		places = jsondiff.Pointers(r.volatile(step), doc, root, map[string]bool{})
	}
	return func(place string) bool {
		ptr, ok := strings.CutPrefix(place, of)
		return ok && strings.HasPrefix(ptr, "/") && places[ptr] != nil
	}
}
