package ident

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// Bindings holds which generated value of the reference stands for which of the candidate. Two values are bound when
// they first stand in the same place; from then on they must always meet each other, and nothing else.
type Bindings struct {
	vocabulary
	times
	formats
	forward, backward map[boundKey]bound
	// order has the values of the reference in the order in which they were bound, but for those that are a part of another.
	order []boundKey
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
	where Location
}

func New(ref, cand *transcript.Transcript, shapes ...IDShape) *Bindings {
	b := &Bindings{vocabulary: vocabulary{Applied: map[string]bool{}, Shapes: newProjectShapes(shapes)}, times: times{Sides: [2]*transcript.Transcript{ref, cand}}, formats: formats{}}
	for side, t := range b.Sides {
		b.Known[side] = lockstepValues(t)
	}
	return b
}

// Put sets a value in a map that is made when it gets its first: most comparisons have few of what there can be.
func Put[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = value
}

// lockstepValues are the values that lockstep itself gave to a side. The directory is known by its last segment, too: servers make
// names of paths in many ways.
func lockstepValues(t *transcript.Transcript) []KnownValue {
	var out []KnownValue
	if t.Unique != "" {
		out = append(out, KnownValue{t.Unique, tokUnique})
	}
	if dir := t.Directory; dir != "" {
		out = append(out, KnownValue{dir, tokDir}, KnownValue{url.PathEscape(dir), tokDirPath})
		if name := dir[strings.LastIndexByte(dir, '/')+1:]; len(name) >= MinKnown {
			out = append(out, KnownValue{name, tokDirName})
		}
	}
	if len(t.Lockstep) >= MinKnown {
		out = append(out, KnownValue{t.Lockstep, tokProgram})
	}
	return out
}

// Met reports whether a value of the reference has a partner.
func (b *Bindings) Met(kind tokenKind, ref string) bool {
	_, met := b.forward[boundKey{kind, ref}]
	return met
}

// bind records that two values stand in the same place. The reason says why they cannot be partners.
func (b *Bindings) bind(kind tokenKind, ref, cand string, where Location) diff.Reason {
	if kind <= tokProgram {
		return diff.Reason{} // one value a side, by construction
	}
	if why := b.conflict(kind, ref, cand); !why.None() || b.Met(kind, ref) {
		return why
	}
	b.order = append(b.order, boundKey{kind, ref})
	Put(&b.forward, boundKey{kind, ref}, bound{cand, where})
	Put(&b.backward, boundKey{kind, cand}, bound{ref, where})
	return diff.Reason{}
}

// bindToken binds what two tokens of one kind stand for. An id that may be written in other ways, too, is bound in the one that
// they have in common: behind a prefix without it ("client_01ARZ…" says whose "01ARZ…" is), a UUID in small letters and
// without dashes.
func (b *Bindings) bindToken(t token, ref, cand string, where Location) diff.Reason {
	if why := b.bind(t.Kind, ref, cand, where); !why.None() {
		return why
	}
	kind := t.Kind
	if kind == tokPrefixed {
		ref, cand = ref[t.prefix:], cand[t.prefix:]
		if kind = unprefixedKind(ref); kind == 0 || kind != unprefixedKind(cand) {
			return diff.Reason{}
		}
		if why := b.bindNameless(kind, ref, cand, where); !why.None() {
			return why
		}
	}
	if kind != tokUUID && kind != tokCompact {
		return diff.Reason{}
	}
	return b.bindNameless(tokAnyUUID, plainUUID(ref), plainUUID(cand), where)
}

// bindNameless is bind for another way to write an id that has a name.
func (b *Bindings) bindNameless(kind tokenKind, ref, cand string, where Location) diff.Reason {
	met := len(b.order)
	why := b.bind(kind, ref, cand, where)
	b.order = b.order[:met]
	return why
}

func plainUUID(s string) string { return strings.ToLower(strings.ReplaceAll(s, "-", "")) }

// conflict says with what one of two values was bound instead.
func (b *Bindings) conflict(kind tokenKind, ref, cand string) diff.Reason {
	if partner, met := b.forward[boundKey{kind, ref}]; met && partner.value != cand {
		return diff.Because(diff.IdentityBroken, diff.RefHadOtherPartner, ref, partner.value, partner.where, IDConflict{kind, ref, cand})
	}
	if partner, met := b.backward[boundKey{kind, cand}]; met && partner.value != ref {
		return diff.Because(diff.IdentityBroken, diff.CandHadOtherPartner, cand, partner.value, partner.where, IDConflict{kind, ref, cand})
	}
	return diff.Reason{}
}

// MinKnown is the length from which a bound value is looked for inside longer texts; shorter ones would be found by
// chance.
const MinKnown = 6

// BindWhole binds two whole values and makes them known inside longer texts.
func (b *Bindings) BindWhole(ref, cand string, where Location) diff.Reason {
	met := b.Met(TokKnown, ref)
	if why := b.bindKnown(TokKnown, ref, cand, where); !why.None() || met {
		return why
	}
	if ref != cand && min(len(ref), len(cand)) < MinKnown {
		b.ShortIDs.add([2]string{ref, cand})
	}
	b.rememberEncoded(ref, cand, where)
	return diff.Reason{}
}

// rememberEncoded makes two bound values known where they are percent-encoded, as a part of a path and of a query.
func (b *Bindings) rememberEncoded(ref, cand string, where Location) {
	for _, encode := range [...]func(string) string{url.PathEscape, url.QueryEscape} {
		r, c := encode(ref), encode(cand)
		if r == ref || c == cand || b.Met(TokKnown, r) {
			continue
		}
		order := len(b.order)
		if b.bind(TokKnown, r, c, where).None() {
			b.remember(TokKnown, r, c)
		}
		b.order = b.order[:order] // it has a name
	}
}

// bindKnown binds two values and makes them known inside longer texts. They have no shape of the kind by themselves.
func (b *Bindings) bindKnown(kind tokenKind, ref, cand string, where Location) diff.Reason {
	met := b.Met(kind, ref)
	why := b.bind(kind, ref, cand, where)
	if why.None() && !met {
		b.remember(kind, ref, cand)
	}
	return why
}

// OtherUnit says in what two times are written, when both are times and that differs.
func OtherUnit(ref, cand tokenKind) diff.Reason {
	if ref == cand || !ref.IsTime() || !cand.IsTime() {
		return diff.Reason{}
	}
	return diff.Because(diff.ValueDiffers, diff.TimeUnits, cand.unit(), ref.unit())
}

// Texts compares two texts up to renaming.
func (b *Bindings) Texts(ref, cand string, p Place) diff.Reason {
	why := b.compareTokens(ref, cand, p)
	if why.Code != diff.TextsDiffer {
		return why
	}
	if why, ok := b.EpochDiff(ref, cand, p); ok {
		return why
	}
	found, conflict := b.bindPairs(ref, cand, p.Where)
	switch {
	case !conflict.None():
		return conflict
	case found:
		return b.compareTokens(ref, cand, p)
	}
	return why
}

// compareTokens compares two texts by what is recognised in each.
func (b *Bindings) compareTokens(ref, cand string, p Place) diff.Reason {
	rt := b.Scan(0, ref)
	ct := rt
	if ref != cand || b.Mentions(1, cand) || b.Mentions(0, ref) {
		ct = b.Scan(1, cand)
	}
	if !SameShape(ref, rt, cand, ct) && !b.ShortIDs.same(ref, rt, cand, ct, p.Of) {
		if NanoidPair(ref, cand) {
			return b.bindKnown(tokNano, ref, cand, p.Where)
		}
		_, known := b.backward[boundKey{TokKnown, cand}]
		if known || b.Met(TokKnown, ref) {
			if why := b.conflict(TokKnown, ref, cand); !why.None() {
				return why
			}
		}
		if r, c := prefixOf(ref, rt), prefixOf(cand, ct); r != "" && c != "" {
			return diff.Because(diff.IDForm, diff.IDPrefixes, r, c)
		}
		if len(rt) == 1 && len(ct) == 1 {
			if why := OtherUnit(rt[0].Kind, ct[0].Kind); !why.None() {
				return why
			}
		}
		return diff.Because(diff.ValueDiffers, diff.TextsDiffer)
	}
	if why := b.misplacedShortID(ref, rt, cand, ct, p.Of); !why.None() {
		return why
	}
	composite, format := false, diff.Reason{}
	for i, t := range rt {
		rv, cv := ref[t.Start:t.End], cand[ct[i].Start:ct[i].End]
		if !t.Kind.IsTime() {
			met := b.Met(t.Kind, rv)
			if why := b.bindToken(t, rv, cv, p.Where); !why.None() {
				return why
			}
			if !met && t.Kind == tokTrace {
				b.remember(tokTrace, rv, cv) // it stands alone in logs and bodies, without a shape of its own
			}
			if !met && format.None() {
				format = b.formatDiff(t.Kind, rv[:t.prefix], rv[t.prefix:], cv[t.prefix:])
			}
			continue
		}
		if rv != cv {
			if why := b.MomentsDiff(t.Kind, rv, cv, p); !why.None() {
				return why
			}
		}
		composite = composite || t.Kind == tokMillis && len(rv) < len(ref)
	}
	if composite {
		// Milliseconds inside a longer text make an id, such as "client_call_1765000000000": the whole of it is bound,
		// or another request's id would pass for this one's.
		if why := b.BindWhole(ref, cand, p.Where); !why.None() {
			return why
		}
	}
	return format
}

// SameShape reports whether two texts are equal but for what is made up in their tokens.
func SameShape(a string, at []token, b string, bt []token) bool {
	if len(at) != len(bt) {
		return false
	}
	ai, bi := 0, 0
	for i := range at {
		if at[i].Kind != bt[i].Kind || a[ai:at[i].Start+at[i].prefix] != b[bi:bt[i].Start+bt[i].prefix] {
			return false
		}
		ai, bi = at[i].End, bt[i].End
	}
	return a[ai:] == b[bi:]
}

// Named returns the bindings as they are, with skeletons in which ids that have partners are told apart.
func (b *Bindings) Named() *Bindings {
	out := *b
	out.names = true
	return &out
}

// PartnerOf returns what a whole value of a side has been bound to; "" when it has not been bound.
func (b *Bindings) PartnerOf(side int, value string) string {
	if side == 1 {
		return b.backward[boundKey{TokKnown, value}].value
	}
	return b.forward[boundKey{TokKnown, value}].value
}

// Name returns what an id is called in skeletons that tell ids apart: what the reference has in its place; "" when it
// has no partner, or when skeletons do not.
func (b *Bindings) Name(side int, kind tokenKind, value string) string {
	if !b.names {
		return ""
	}
	if side == 1 {
		return " " + b.backward[boundKey{kind, value}].value
	}
	if b.Met(kind, value) {
		return " " + value
	}
	return " "
}

// Skeleton returns the text with its tokens replaced by their kinds: equal for texts that can be equal up to renaming.
func (b *Bindings) Skeleton(side int, s string) string {
	if jsontree.Plain(s) && len(b.Shapes.all) == 0 && !b.Mentions(side, s) {
		return s
	}
	tokens := b.Scan(side, s)
	if len(tokens) == 0 {
		return s
	}
	out := make([]byte, 0, len(s))
	at := 0
	for _, t := range tokens {
		out = append(out, s[at:t.Start+t.prefix]...)
		out = append(out, "‹"+b.kindName(t.Kind)+b.Name(side, t.Kind, s[t.Start:t.End])+"›"...)
		at = t.End
	}
	return string(append(out, s[at:]...))
}

// A IDConflict is two values that do not belong together.
type IDConflict struct {
	kind      tokenKind
	ref, cand string
}

// Clone returns bindings that can be added to without a trace.
func (b *Bindings) Clone() *Bindings {
	out := *b
	out.forward, out.backward, out.Applied = maps.Clone(b.forward), maps.Clone(b.backward), maps.Clone(b.Applied)
	out.order = slices.Clone(b.order)
	out.Known = [2][]KnownValue{slices.Clone(b.Known[0]), slices.Clone(b.Known[1])}
	out.indexes = [2]*knownIndex{}
	out.ShortIDs = b.ShortIDs.clone()
	out.formats, out.noted = formats{}, nil
	return &out
}

// KnownElsewhere says which of two values, bound by a rule, is known as another thing: by its shape, or because the client has
// sent it.
func (b *Bindings) KnownElsewhere(ref, cand string) diff.Reason {
	if min(len(ref), len(cand)) < MinKnown {
		return diff.Reason{}
	}
	for kind := tokSent; kind < tokPort; kind++ {
		if why := b.conflict(kind, ref, cand); !why.None() {
			return why
		}
	}
	for _, kind := range b.Shapes.kinds {
		if why := b.conflict(kind, ref, cand); !why.None() {
			return why
		}
	}
	return diff.Reason{}
}
