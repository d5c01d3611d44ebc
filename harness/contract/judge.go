package contract

import (
	"hash/maphash"
	"slices"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A judge holds one value against one schema and collects what is wrong.
//
// It is written here, rather than borrowed from the loader's library, because a judge needs what that validator does
// not have: numbers with all their digits, the alternative that was meant instead of the complaints of every one, the
// fields that no schema names, the place in the document of each finding, and an end in bounded time. Where both have
// an opinion they are compared by test.
//
// At each value it first applies every schema that has a say there (the one the parent names for it, what that takes
// in by allOf, the alternatives that match) and only then descends, with the union of what these say about each field.
// A field is undocumented when none of them names it, so the question cannot be asked of one schema at a time.
type judge struct {
	side   Side
	strict bool // report undocumented fields
	limit  int  // of findings

	path  []byte // JSON Pointer of the value under judgement
	found []finding
	full  bool // there is more than the limit

	// quiet is set while the judge only measures how far a value is from a schema; faults counts what it saw.
	quiet  bool
	faults int
	depth  int // of the measurement
	// measurements counts those of compound schemas. returned is the lowest level of one that was met again while it was
	// still measured.
	measurements int
	returned     int
	asked        map[visit]int // the schemas that a value is held against what is beside them, and at which depth
	gaveUp       bool          // the measurement would not end in bounded time
	hint         string        // said of each finding at this value: why this alternative was chosen

	// sees is told, when set, which schemas a value was judged by; s is the one that its place has.
	sees func(n *jsontree.Node, s *schema, applied []*schema)

	fields   []fieldState // a stack: those of the object under judgement are the last
	applied  []*schema    // a stack: those of the value under judgement are the last
	measured map[visit]measurement
	hashes   map[*jsontree.Node]uint64 // of values in arrays whose elements must differ
	seed     maphash.Seed
}

// A finding is a violation without the exchange it stands in.
type finding struct {
	pointer string // of the value
	kind    Kind
	text    string
	ref     string // of the schema
}

// A fieldState says what the schemas that apply to an object say about one of its fields.
type fieldState struct {
	named  bool
	schema *schema
	also   []*schema // in the rare case that several schemas describe one field
}

func (f *fieldState) add(s *schema) {
	f.named = true
	switch {
	case f.schema == nil:
		f.schema = s
	case f.schema != s && !slices.Contains(f.also, s):
		f.also = append(f.also, s)
	}
}

// A scope is what the schemas that apply to one value say together.
type scope struct {
	first    int              // of the judge's fields, for an object
	applied  int              // of the judge's applied
	many     map[*schema]bool // the applied ones, once they are too many to be searched
	declared *schema
	open     bool // some schema allows fields it does not name
	items    fieldState
}

// value judges one value by a schema and the others that describe the same field.
func (j *judge) value(n *jsontree.Node, s *schema, also []*schema) {
	sc := scope{first: len(j.fields), applied: len(j.applied)}
	if n.Kind == jsontree.Object {
		j.fields = append(j.fields, make([]fieldState, len(n.Items))...)
	}
	j.apply(n, s, &sc)
	for _, s := range also {
		j.apply(n, s, &sc)
	}
	if j.sees != nil {
		j.sees(n, s, j.applied[sc.applied:])
	}
	j.applied = j.applied[:sc.applied]
	switch n.Kind {
	case jsontree.Object:
		j.descend(n, &sc)
	case jsontree.Array:
		if sc.items.schema != nil {
			j.elements(n, &sc)
		}
	}
	clear(j.fields[sc.first:])
	j.fields = j.fields[:sc.first]
}

func (j *judge) descend(n *jsontree.Node, sc *scope) {
	for i, item := range n.Items {
		f := j.fields[sc.first+i]
		depth := len(j.path)
		switch {
		case f.schema != nil:
			j.path = appendName(j.path, n.Names[i])
			j.value(item, f.schema, f.also)
		case j.strict && !f.named && !sc.open && sc.declared != nil:
			j.path = appendName(j.path, n.Names[i])
			j.undocumentedField(sc.declared, n.Names[i])
		}
		j.path = j.path[:depth]
		if j.full || j.gaveUp {
			return
		}
	}
}

func (j *judge) elements(n *jsontree.Node, sc *scope) {
	for i, item := range n.Items {
		depth := len(j.path)
		j.path = appendIndex(j.path, i)
		j.value(item, sc.items.schema, sc.items.also)
		j.path = j.path[:depth]
		if j.full || j.gaveUp {
			return
		}
	}
}

// apply holds the value against a schema and everything it puts beside itself, and notes what they say about what is
// inside the value. A schema has its say once, by however many ways it is reached.
func (j *judge) apply(n *jsontree.Node, s *schema, sc *scope) {
	if n.Kind == jsontree.Null {
		if !s.acceptsNull {
			j.wrongType(n, s)
		}
		return
	}
	if s.isBase() {
		j.applyHeir(n, s, sc)
		return
	}
	for _, p := range s.parts {
		if j.hasApplied(p, sc) {
			continue
		}
		j.applied = append(j.applied, p)
		if sc.many != nil {
			sc.many[p] = true
		}
		if !j.keywords(n, p, s) {
			sc.open = true // of an object where something else belongs, no field is worth a word
			return
		}
		j.note(n, p, sc)
		if p.offers() {
			j.alternatives(n, p, sc)
		}
	}
}

// hasApplied says that a schema has had its say on this value.
func (j *judge) hasApplied(s *schema, sc *scope) bool {
	const few = 16
	applied := j.applied[sc.applied:]
	if len(applied) <= few {
		return slices.Contains(applied, s)
	}
	if sc.many == nil {
		sc.many = make(map[*schema]bool)
		for _, a := range applied {
			sc.many[a] = true
		}
	}
	return sc.many[s]
}

// note adds to the scope what a schema says about the fields or elements of a value.
func (j *judge) note(n *jsontree.Node, p *schema, sc *scope) {
	switch n.Kind {
	case jsontree.Array:
		if p.items != nil {
			sc.items.add(p.items)
		}
	case jsontree.Object:
		if p.properties != nil && sc.declared == nil {
			sc.declared = p
		}
		if p.extra == extraAllowed {
			sc.open = true
		}
		if p.properties == nil && p.additional == nil && p.extra != extraRefused {
			break
		}
		for i, name := range n.Names {
			f := &j.fields[sc.first+i]
			switch property := p.properties[name]; {
			case property != nil:
				f.add(property)
			case p.additional != nil:
				f.add(p.additional)
			case p.extra == extraRefused:
				f.named = true // as not wanted, and reported as such
			}
		}
	}
}

// alternatives applies those members of oneOf and anyOf that the value matches or, if it matches none, the one it
// comes closest to: its complaints are what a reader can use.
func (j *judge) alternatives(n *jsontree.Node, p *schema, sc *scope) {
	defer j.ask(n, p)()
	if p.not != nil && j.distance(n, p.not) == 0 && j.fault() {
		j.report(ForbiddenMatch, p, "%s matches the schema %s, which it must not", excerpt(n), p.not.ref)
	}
	if p.tag != nil && n.Kind == jsontree.Object {
		if branch := j.tagged(n, p); branch != nil {
			j.apply(n, branch, sc)
		} else {
			sc.open = true
		}
		return
	}
	if p.oneOf != nil {
		if matching := j.choose(n, p.oneOf, sc); len(matching) > 1 && j.fault() {
			j.report(SeveralAlternatives, p, "%s matches %d alternatives, and must match exactly one: %s",
				excerpt(n), len(matching), refs(matching))
		}
	}
	if p.anyOf != nil {
		j.choose(n, p.anyOf, sc)
	}
}

// choose applies the members that match, or the closest, and returns those that match.
func (j *judge) choose(n *jsontree.Node, members []*schema, sc *scope) (matching []*schema) {
	if len(members) == 1 {
		j.apply(n, members[0], sc)
		return nil
	}
	closest, least := members[0], tooFar
	for _, m := range members {
		switch d := j.distance(n, m); {
		case d == 0, j.hasApplied(m, sc): // it leads back to a schema that is having its say
			matching = append(matching, m)
		case d < least:
			closest, least = m, d
		}
	}
	for _, m := range matching {
		j.apply(n, m, sc)
	}
	if matching == nil {
		before := j.hint
		j.hint = hintClosest(closest, len(members))
		j.apply(n, closest, sc)
		j.hint = before
	}
	return matching
}
