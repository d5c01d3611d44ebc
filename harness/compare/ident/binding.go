// Package ident recognises generated values in texts, such as ids, times and ports, and binds those of the reference to
// those of the candidate.
//
// Two servers generate different values, so equal texts cannot be required. Instead, a value of the reference must
// always appear in the same places as its partner, the value of the candidate that is bound to it.
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

// Bindings records which generated value of the reference corresponds to which value of the candidate. Two values are
// bound when they first appear in the same place. From then on, each may only appear together with the other.
type Bindings struct {
	vocabulary
	times
	formats
	forward, backward map[boundKey]bound
	// order lists the reference's bound values in the order in which they were bound. Other spellings of a listed
	// value, such as without its prefix, are left out.
	order []boundKey
	// names makes Skeleton distinguish ids that have partners.
	names bool
}

// boundKey is a value and its kind. Each kind has its own bindings.
type boundKey struct {
	kind  tokenKind
	value string
}

// bound is the partner of a value, and the place where the two were bound.
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

// Put sets a value in a map, and makes the map first if it is nil. Most comparisons never use most of their maps.
func Put[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = value
}

// lockstepValues returns the values that lockstep itself gave to a side. The last segment of the directory is one of
// them, because servers derive names from paths in many ways.
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

// Met reports whether a value of the reference is bound.
func (b *Bindings) Met(kind tokenKind, ref string) bool {
	_, met := b.forward[boundKey{kind, ref}]
	return met
}

// bind binds two values that appear in the same place. It returns the reason if they cannot be partners.
func (b *Bindings) bind(kind tokenKind, ref, cand string, where Location) diff.Reason {
	if kind <= tokProgram {
		return diff.Reason{} // each side has exactly one such value
	}
	if why := b.conflict(kind, ref, cand); !why.None() || b.Met(kind, ref) {
		return why
	}
	b.order = append(b.order, boundKey{kind, ref})
	Put(&b.forward, boundKey{kind, ref}, bound{cand, where})
	Put(&b.backward, boundKey{kind, cand}, bound{ref, where})
	return diff.Reason{}
}

// bindToken binds two tokens of the same kind. An id that can be written in several ways is also bound in the form that
// they share. For an id with a prefix, that is the part behind it, because "client_01ARZ…" belongs to "01ARZ…". For a
// UUID, it is the form in lower case and without dashes.
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

// bindNameless binds another spelling of an id that is already in order, and adds nothing to order.
func (b *Bindings) bindNameless(kind tokenKind, ref, cand string, where Location) diff.Reason {
	met := len(b.order)
	why := b.bind(kind, ref, cand, where)
	b.order = b.order[:met]
	return why
}

func plainUUID(s string) string { return strings.ToLower(strings.ReplaceAll(s, "-", "")) }

// conflict returns the earlier binding that makes it impossible to bind two values.
func (b *Bindings) conflict(kind tokenKind, ref, cand string) diff.Reason {
	if partner, met := b.forward[boundKey{kind, ref}]; met && partner.value != cand {
		return diff.Because(diff.IdentityBroken, diff.RefHadOtherPartner, ref, partner.value, partner.where, IDConflict{kind, ref, cand})
	}
	if partner, met := b.backward[boundKey{kind, cand}]; met && partner.value != ref {
		return diff.Because(diff.IdentityBroken, diff.CandHadOtherPartner, cand, partner.value, partner.where, IDConflict{kind, ref, cand})
	}
	return diff.Reason{}
}

// MinKnown is the length from which bound values are searched for inside longer texts. Shorter ones would be found by
// chance.
const MinKnown = 6

// BindWhole binds two whole values, and recognises them inside longer texts from then on.
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

// rememberEncoded recognises two bound values in their percent-encoded forms as well, in paths and in queries.
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
		b.order = b.order[:order] // the value is already in order without the encoding
	}
}

// bindKnown binds two values that their shape alone does not reveal, and recognises them inside longer texts from then
// on.
func (b *Bindings) bindKnown(kind tokenKind, ref, cand string, where Location) diff.Reason {
	met := b.Met(kind, ref)
	why := b.bind(kind, ref, cand, where)
	if why.None() && !met {
		b.remember(kind, ref, cand)
	}
	return why
}

// OtherUnit returns how the notations of two times differ. It returns no reason when they are the same, or when a value
// is not a time.
func OtherUnit(ref, cand tokenKind) diff.Reason {
	if ref == cand || !ref.IsTime() || !cand.IsTime() {
		return diff.Reason{}
	}
	return diff.Because(diff.ValueDiffers, diff.TimeUnits, cand.unit(), ref.unit())
}

// Texts compares two texts and binds the generated values in them. It returns how the texts differ apart from those
// values.
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

// compareTokens compares two texts by the tokens that are recognised in each of them alone.
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
				b.remember(tokTrace, rv, cv) // elsewhere it has no shape: logs and bodies contain it alone
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
		// Milliseconds inside a longer text make it an id, such as "client_call_1765000000000". The whole text is
		// bound, or the id of another request would pass as this one.
		if why := b.BindWhole(ref, cand, p.Where); !why.None() {
			return why
		}
	}
	return format
}

// SameShape reports whether two texts are equal apart from the generated parts of their tokens.
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

// Named returns the same bindings, but their skeletons distinguish ids that have partners.
func (b *Bindings) Named() *Bindings {
	out := *b
	out.names = true
	return &out
}

// PartnerOf returns the value that a whole value of a side is bound to; "" when it is not bound.
func (b *Bindings) PartnerOf(side int, value string) string {
	if side == 1 {
		return b.backward[boundKey{TokKnown, value}].value
	}
	return b.forward[boundKey{TokKnown, value}].value
}

// Name returns the part of a skeleton that distinguishes ids: a space and the reference's value, on both sides. If the
// id is not bound, it is only the space. If skeletons do not distinguish ids, it is "".
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

// Skeleton returns the text with its tokens replaced by their kinds. Texts that can be equal apart from generated
// values have equal skeletons.
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

// An IDConflict is two values that cannot be partners.
type IDConflict struct {
	kind      tokenKind
	ref, cand string
}

// Clone returns a copy. Binding values in the copy does not change the original.
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

// KnownElsewhere returns how a rule's binding of two values conflicts with an earlier one: a value was bound because of
// its shape, or because the client sent it.
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
