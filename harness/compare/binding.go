package compare

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// bindings holds which generated value of the reference stands for which of the candidate. Two values are bound when
// they first stand in the same place; from then on they must always meet each other, and nothing else.
type bindings struct {
	forward, backward map[boundKey]bound
	// order has the values of the reference in the order in which they were bound, but for those that are a part of another.
	order []boundKey
	// said has what sentences about confused values are about.
	said map[string][]confusion
	// known are the values of each side that count as tokens inside longer texts.
	known [2][]knownValue
	// byHead finds them where they are many.
	byHead [2]*knownHeads
	// briefs are bound values that are too short for that.
	briefs briefs
	own    own
	// drawn is what has been seen of ids, by what stands before the part that is made up.
	drawn map[string]*[2]draw
	// last are the latest moments of rules that say they never go back.
	last map[timeline]*[2]latest
	// applied are the rules that had something to say, by what Result calls them.
	applied map[string]bool
	// stable has the times that do not change, of each side.
	stable [2]map[stableKey]*stableTime
	// fractions are the times of RFC 3339 that were seen, by the name they stand under.
	fractions map[string]*[2]fractions
	// noted are times that were let pass although they lie far from the moment they were seen, see noteTime, and ids without a
	// prefix that only the two together show.
	noted []notedPair
	// signatures are those of JWTs that each side has shown, and what they sign.
	signatures [2]map[string]string
	sides      [2]*transcript.Transcript
	// names says that a skeleton has ids that have partners under the names of the reference's.
	names bool
}

// boundKey is a value and the kind within which it is unique.
type boundKey struct {
	kind  tokenKind
	value string
}

// bound is the partner of a value, and where they met.
type bound struct {
	value string
	where location
}

func newBindings(ref, cand *transcript.Transcript, shapes ...IDShape) *bindings {
	b := &bindings{sides: [2]*transcript.Transcript{ref, cand}, applied: map[string]bool{}, own: newOwn(shapes)}
	for side, t := range b.sides {
		b.known[side] = given(t)
	}
	return b
}

// put sets a value in a map that is made when it gets its first: most comparisons have few of what there can be.
func put[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = value
}

// given are the values that lockstep itself gave to a side. The directory is known by its last segment, too: servers make
// names of paths in many ways.
func given(t *transcript.Transcript) []knownValue {
	var out []knownValue
	if t.Unique != "" {
		out = append(out, knownValue{t.Unique, tokUnique})
	}
	if dir := t.Directory; dir != "" {
		out = append(out, knownValue{dir, tokDir}, knownValue{url.PathEscape(dir), tokDirPath})
		if name := dir[strings.LastIndexByte(dir, '/')+1:]; len(name) >= minKnown {
			out = append(out, knownValue{name, tokDirName})
		}
	}
	if len(t.Lockstep) >= minKnown {
		out = append(out, knownValue{t.Lockstep, tokProgram})
	}
	return out
}

// met reports whether a value of the reference has a partner.
func (b *bindings) met(kind tokenKind, ref string) bool {
	_, met := b.forward[boundKey{kind, ref}]
	return met
}

// bind records that two values stand in the same place. The text says why they cannot be partners; "" when they are.
func (b *bindings) bind(kind tokenKind, ref, cand string, where location) string {
	if kind <= tokProgram {
		return "" // one value a side, by construction
	}
	if why := b.apart(kind, ref, cand); why != "" || b.met(kind, ref) {
		return why
	}
	b.order = append(b.order, boundKey{kind, ref})
	put(&b.forward, boundKey{kind, ref}, bound{cand, where})
	put(&b.backward, boundKey{kind, cand}, bound{ref, where})
	return ""
}

// bindToken binds what two tokens of one kind stand for. An id that may be written in other ways, too, is bound in the one that
// they have in common: behind a prefix without it ("client_01ARZ…" says whose "01ARZ…" is), a UUID in small letters and
// without dashes.
func (b *bindings) bindToken(t token, ref, cand string, where location) string {
	if why := b.bind(t.kind, ref, cand, where); why != "" {
		return why
	}
	kind := t.kind
	if kind == tokPrefixed {
		ref, cand = ref[t.lead:], cand[t.lead:]
		if kind = bareKind(ref); kind == 0 || kind != bareKind(cand) {
			return ""
		}
		if why := b.bindNameless(kind, ref, cand, where); why != "" {
			return why
		}
	}
	if kind != tokUUID && kind != tokCompact {
		return ""
	}
	return b.bindNameless(tokAnyUUID, plainUUID(ref), plainUUID(cand), where)
}

// bindNameless is bind for another way to write an id that has a name.
func (b *bindings) bindNameless(kind tokenKind, ref, cand string, where location) string {
	met := len(b.order)
	why := b.bind(kind, ref, cand, where)
	b.order = b.order[:met]
	return why
}

func plainUUID(s string) string { return strings.ToLower(strings.ReplaceAll(s, "-", "")) }

// apart says with what one of two values was bound instead; "" when neither was.
func (b *bindings) apart(kind tokenKind, ref, cand string) string {
	if partner, met := b.forward[boundKey{kind, ref}]; met && partner.value != cand {
		return b.confused(fmt.Sprintf("the reference's %q stood beside the candidate's %q at %s", ref, partner.value, partner.where), kind, ref, cand)
	}
	if partner, met := b.backward[boundKey{kind, cand}]; met && partner.value != ref {
		return b.confused(fmt.Sprintf("the candidate's %q stood beside the reference's %q at %s", cand, partner.value, partner.where), kind, ref, cand)
	}
	return ""
}

// minKnown is the length from which a bound value is looked for inside longer texts; shorter ones would be found by
// chance.
const minKnown = 6

// bindWhole binds two whole values and makes them known inside longer texts.
func (b *bindings) bindWhole(ref, cand string, where location) string {
	met := b.met(tokKnown, ref)
	if why := b.bind(tokKnown, ref, cand, where); why != "" || met {
		return why
	}
	b.remember(tokKnown, ref, cand)
	if ref != cand && min(len(ref), len(cand)) < minKnown {
		b.briefs.add([2]string{ref, cand})
	}
	b.rememberEncoded(ref, cand, where)
	return ""
}

// rememberEncoded makes two bound values known where they are percent-encoded, as a part of a path and of a query.
func (b *bindings) rememberEncoded(ref, cand string, where location) {
	for _, encode := range [...]func(string) string{url.PathEscape, url.QueryEscape} {
		r, c := encode(ref), encode(cand)
		if r == ref || c == cand || b.met(tokKnown, r) {
			continue
		}
		order := len(b.order)
		if b.bind(tokKnown, r, c, where) == "" {
			b.remember(tokKnown, r, c)
		}
		b.order = b.order[:order] // it has a name
	}
}

// remember makes two bound values known inside longer texts.
func (b *bindings) remember(kind tokenKind, ref, cand string) {
	if min(len(ref), len(cand)) >= minKnown {
		b.known[0] = append(b.known[0], knownValue{ref, kind})
		b.known[1] = append(b.known[1], knownValue{cand, kind})
	}
}

// bindLikely binds two nanoids of which one could be a word by itself, and makes them known.
func (b *bindings) bindLikely(ref, cand string, where location) string {
	met := b.met(tokNano, ref)
	if why := b.bind(tokNano, ref, cand, where); why != "" || met {
		return why
	}
	b.remember(tokNano, ref, cand)
	return ""
}

// A place is where two values stand, and when each was seen.
type place struct {
	where location
	seen  [2]time.Time
	line  string    // of what comes one after the other; "" when nothing does
	of    [2]string // what each side was asked for: a method and a target, or the name of a stream
	alike bool      // a time may lie far before that moment, if it does equally on both sides
}

// textsDiffer is said of two texts when there is no more to say.
const textsDiffer = "the texts differ"

// otherUnit says in what two times are written, when that differs; "" when it does not, or when one is no time.
func otherUnit(ref, cand tokenKind) string {
	if ref == cand || !ref.isTime() || !cand.isTime() {
		return ""
	}
	return fmt.Sprintf("the times are written differently: %s, where the reference has %s", cand.unit(), ref.unit())
}

// texts compares two texts up to renaming. It returns how they differ and a sentence; "" when they do not.
func (b *bindings) texts(ref, cand string, p place) (Kind, string) {
	kind, why := b.alike(ref, cand, p)
	if why != textsDiffer {
		return kind, why
	}
	if why, ok := b.fine(ref, cand, p); ok {
		if why == "" {
			return "", ""
		}
		return ValueDiffers, why
	}
	found, why := b.pairs(ref, cand, p.where)
	switch {
	case why != "":
		return IdentityBroken, why
	case found:
		return b.alike(ref, cand, p)
	}
	return ValueDiffers, textsDiffer
}

// alike compares two texts by what is recognised in each.
func (b *bindings) alike(ref, cand string, p place) (Kind, string) {
	rt := b.scan(0, ref)
	ct := rt
	if ref != cand || b.mentions(1, cand) || b.mentions(0, ref) {
		ct = b.scan(1, cand)
	}
	if !sameShape(ref, rt, cand, ct) && !b.sameButForBriefs(ref, rt, cand, ct, p.of) {
		if nanoids(ref, cand) {
			if why := b.bindLikely(ref, cand, p.where); why != "" {
				return IdentityBroken, why
			}
			return "", ""
		}
		if why := b.strangers(ref, cand); why != "" {
			return IdentityBroken, why
		}
		if r, c := leadOf(ref, rt), leadOf(cand, ct); r != "" && c != "" {
			return IDForm, fmt.Sprintf("the ids are made differently: behind %q, and behind %q", r, c)
		}
		if len(rt) == 1 && len(ct) == 1 {
			if why := otherUnit(rt[0].kind, ct[0].kind); why != "" {
				return ValueDiffers, why
			}
		}
		return ValueDiffers, textsDiffer
	}
	if why := b.misplacedBrief(ref, rt, cand, ct, p.of); why != "" {
		return IdentityBroken, why
	}
	composite, remade := false, ""
	for i, t := range rt {
		rv, cv := ref[t.start:t.end], cand[ct[i].start:ct[i].end]
		if !t.kind.isTime() {
			met := b.met(t.kind, rv)
			if why := b.bindToken(t, rv, cv, p.where); why != "" {
				return IdentityBroken, why
			}
			if !met && t.kind == tokTrace {
				b.remember(tokTrace, rv, cv) // it stands alone in logs and bodies, without a shape of its own
			}
			if !met && remade == "" {
				remade = b.remade(t.kind, rv[:t.lead], rv[t.lead:], cv[t.lead:])
			}
			continue
		}
		if rv != cv {
			if why := b.moments(t.kind, rv, cv, p); why != "" {
				return ValueDiffers, "the times differ: " + why
			}
		}
		composite = composite || t.kind == tokMillis && len(rv) < len(ref)
	}
	if composite {
		// Milliseconds inside a longer text make an id, such as "client_call_1765000000000": the whole of it is bound,
		// or another request's id would pass for this one's.
		if why := b.bindWhole(ref, cand, p.where); why != "" {
			return IdentityBroken, why
		}
	}
	if remade != "" {
		return IDForm, remade
	}
	return "", ""
}

// strangers says why two whole values do not belong together when one of them has been bound before; "" when neither
// has.
func (b *bindings) strangers(ref, cand string) string {
	_, r := b.forward[boundKey{tokKnown, ref}]
	_, c := b.backward[boundKey{tokKnown, cand}]
	if !r && !c {
		return ""
	}
	return b.bind(tokKnown, ref, cand, location{})
}

// sameShape reports whether two texts are equal but for what is made up in their tokens.
func sameShape(a string, at []token, b string, bt []token) bool {
	if len(at) != len(bt) {
		return false
	}
	ai, bi := 0, 0
	for i := range at {
		if at[i].kind != bt[i].kind || a[ai:at[i].start+at[i].lead] != b[bi:bt[i].start+bt[i].lead] {
			return false
		}
		ai, bi = at[i].end, bt[i].end
	}
	return a[ai:] == b[bi:]
}

// named returns the bindings as they are, with skeletons in which ids that have partners are told apart.
func (b *bindings) named() *bindings {
	out := *b
	out.names = true
	return &out
}

// partner reports whether a whole value of a side has been bound by a rule.
func (b *bindings) partner(side int, value string) bool {
	if side == 1 {
		_, ok := b.backward[boundKey{tokKnown, value}]
		return ok
	}
	return b.met(tokKnown, value)
}

// name returns what an id is called in skeletons that tell ids apart: what the reference has in its place; "" when it
// has no partner, or when skeletons do not.
func (b *bindings) name(side int, kind tokenKind, value string) string {
	if !b.names {
		return ""
	}
	if side == 1 {
		return " " + b.backward[boundKey{kind, value}].value
	}
	if b.met(kind, value) {
		return " " + value
	}
	return " "
}

// skeleton returns the text with its tokens replaced by their kinds: equal for texts that can be equal up to renaming.
func (b *bindings) skeleton(side int, s string) string {
	if jsontree.Plain(s) && len(b.own.shapes) == 0 && !b.mentions(side, s) {
		return s
	}
	tokens := b.scan(side, s)
	if len(tokens) == 0 {
		return s
	}
	out := make([]byte, 0, len(s))
	at := 0
	for _, t := range tokens {
		out = append(out, s[at:t.start+t.lead]...)
		out = append(out, "‹"+b.kindName(t.kind)+b.name(side, t.kind, s[t.start:t.end])+"›"...)
		at = t.end
	}
	return string(append(out, s[at:]...))
}
