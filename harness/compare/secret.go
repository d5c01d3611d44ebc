package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/redact"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A token is a text that must not be read: a password, a session's key. Like an id it is bound, and like an id it must be
// made alike, as far as that can be told of an opaque text. Reports say how long it is, and nothing else.

// token compares two values that a rule calls tokens.
func (d *documents) token(rule *Volatile, at *spot, ref, cand *jsontree.Node) {
	met := d.b.met(tokKnown, ref.Text)
	kind, why := IdentityBroken, d.b.bindWhole(ref.Text, cand.Text, d.at(at))
	if why == "" && !met {
		kind, why = IDForm, d.b.remadeToken(rule.At, ref.Text, cand.Text)
	}
	if why == "" {
		return
	}
	others := [2]string{d.b.forward[boundKey{tokKnown, ref.Text}].value, d.b.backward[boundKey{tokKnown, cand.Text}].value}
	for _, secret := range [...]string{ref.Text, cand.Text, others[0], others[1]} {
		why = strings.ReplaceAll(why, fmt.Sprintf("%q", secret), veiled(secret))
	}
	d.report(Difference{
		Kind: kind, Place: d.called(at).String(), At: at.pointers(), Reference: veiled(ref.Text), Candidate: veiled(cand.Text), Text: why,
		Fingerprint: d.values(at, ref, cand),
	})
}

// remadeToken says in what two tokens are made differently; "" when they may be made alike.
func (b *bindings) remadeToken(rule, ref, cand string) string {
	const differently = "the tokens are made differently: "
	if short, long := min(len(ref), len(cand)), max(len(ref), len(cand)); 4*long > 5*short {
		return fmt.Sprintf("%s%d characters, and %d", differently, len(ref), len(cand))
	}
	rl, cl := leadOfToken(ref), leadOfToken(cand)
	if rl != "" && cl != "" && rl != cl {
		return fmt.Sprintf("%sbehind %q, and behind %q", differently, rl, cl)
	}
	rs, cs := strings.Split(ref, "."), strings.Split(cand, ".")
	if len(rs) != len(cs) {
		return fmt.Sprintf("%sof %d parts joined by points, and of %d", differently, len(rs), len(cs))
	}
	for i := range rs {
		for _, odd := range [...]struct{ what, chars string }{{"blanks", " \t\r\n"}, {"+, / or =", "+/="}} {
			r, c := strings.ContainsAny(rs[i], odd.chars), strings.ContainsAny(cs[i], odd.chars)
			if r == c || odd.chars == "+/=" && !strings.ContainsAny(rs[i]+cs[i], "-_") {
				continue // of Base64 without - and _ one may lack its signs by chance
			}
			with, without := sideNames[0], sideNames[1]
			if c {
				with, without = without, with
			}
			return fmt.Sprintf("%s%s's has %s, %s's has not", differently, with, odd.what, without)
		}
		if why := b.redrawn(fmt.Sprintf("%s %d", rule, i), rs[i], cs[i]); why != "" {
			return strings.Replace(why, "the ids", "the tokens", 1)
		}
	}
	return ""
}

// leadOfToken returns what stands before the part of a token that is made up: "sk_live_". It must be words of lower-case
// letters, each with a joint behind it, and a token that has none may begin with one by chance.
func leadOfToken(s string) string {
	end := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z':
		case (c == '_' || c == '-') && i-end >= 2 && i-end <= 12:
			end = i + 1
		default:
			return s[:end]
		}
	}
	return s[:end]
}

// veiled is what is shown of a token.
func veiled(s string) string { return fmt.Sprintf("‹token of %d characters›", len([]rune(s))) }

// A Veil hides the tokens of a scenario wherever a text has one. Nil hides nothing.
type Veil struct {
	replacer  *strings.Replacer
	disguised *redact.Replacer // of tokens in other notations
}

// NewVeil returns a veil over every token that rules find in what targets sent: in the bodies and the events that are
// JSON. It is nil when no rule speaks of tokens.
func NewVeil(rules *Rules, ts ...*transcript.Transcript) *Veil {
	if !rules.speakOfTokens() {
		return nil
	}
	secrets := map[string]bool{}
	look := func(rules []Volatile, doc content) {
		root, err := parse(doc)
		if err != nil {
			return
		}
		for ptr, rule := range pointers(rules, doc.data, root, func(*Volatile) {}) {
			if n := at(root, ptr); rule.Kind == Token && n != nil && scalar(n) && len(n.Text) >= minKnown {
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
			asked := rules.OfQuestions(&t.Upstream[i])
			for _, x := range t.Upstream[i].Exchanges {
				look(asked, questionContent(&x.Request))
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
		pairs = append(pairs, secret, veiled(secret))
		for _, escaped := range [...]string{fmt.Sprintf("%q", secret), (&jsontree.Node{Kind: jsontree.String, Text: secret}).String()} {
			if inner := escaped[1 : len(escaped)-1]; inner != secret {
				pairs = append(pairs, inner, veiled(secret))
			}
		}
	}
	if len(pairs) == 0 {
		return nil
	}
	return &Veil{strings.NewReplacer(pairs...), redact.NewReplacer(all)}
}

// speakOfTokens reports whether any rule is about tokens.
func (r *Rules) speakOfTokens() bool {
	speak := func(rules []Volatile) bool {
		return slices.ContainsFunc(rules, func(v Volatile) bool { return v.Kind == Token })
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

// Over returns a text without the tokens.
func (v *Veil) Over(text string) string {
	if v == nil {
		return text
	}
	return v.disguised.Text(v.replacer.Replace(text))
}

// at returns the value at a JSON Pointer; nil when there is none.
func at(n *jsontree.Node, pointer string) *jsontree.Node {
	if pointer == "" {
		return n
	}
	for i, item := range n.Items {
		var own string
		if n.Kind == jsontree.Object {
			own = jsontree.AppendName("", n.Names[i])
			if n.Member(n.Names[i]) != item {
				continue
			}
		} else {
			own = jsontree.AppendIndex("", i)
		}
		if rest, ok := strings.CutPrefix(pointer, own); ok && (rest == "" || rest[0] == '/') {
			return at(item, rest)
		}
	}
	return nil
}
