package schema

import (
	"slices"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
	"github.com/lockstep-dev/lockstep/internal/problem"
)

// A Judge checks one value against one schema and collects the violations.
//
// It does not use the validator of the loader's library, because that lacks several things. It does not keep all digits
// of numbers, reports the violations of every alternative instead of the one that was meant, and does not find fields
// that no schema names. It also lacks the place of each finding in the document, and a limit on its time. A test
// compares the two where both apply.
//
// At each value, it first applies every schema that concerns it: the one that the parent names, the ones that it
// includes by allOf, and the alternatives that match. Only then it descends, with the union of what these say about
// each field. A field is undocumented when none of them names it, so a single schema cannot decide that.
type Judge struct {
	measurer measurer
	strict   bool // report undocumented fields
	// sees, when set, is called with the schemas that judged a value. s is the schema of the value's place.
	sees func(n *jsontree.Node, s *Schema, applied []*Schema)

	fields  []FieldSchemas // a stack: the last ones belong to the current object
	applied []*Schema      // a stack: the last ones judged the current value
}

// NewJudge returns a judge for messages in one direction. It reports up to limit findings.
func NewJudge(d direction, strict bool, limit int) *Judge {
	j := &Judge{strict: strict}
	j.measurer.keywords.direction, j.measurer.keywords.limit = d, limit
	return j
}

// NewWatcher returns a judge that reports nothing. It calls sees, unless nil, with the schemas that judged a value.
func NewWatcher(d direction, sees func(n *jsontree.Node, s *Schema, applied []*Schema)) *Judge {
	j := &Judge{sees: sees}
	j.measurer.keywords.direction, j.measurer.keywords.quiet = d, true
	return j
}

func (j *Judge) Judge(n *jsontree.Node, s *Schema) []Finding {
	j.value(n, s, nil)
	return j.measurer.keywords.done(s.Ref)
}

// Document returns what is wrong with a parsed JSON text. The schema may be nil.
func (j *Judge) Document(n *jsontree.Node, defects []jsontree.Defect, err error, s *Schema, room *Stacks) []Finding {
	ref := ""
	if s != nil {
		ref = s.Ref
	}
	for _, f := range defects[:min(len(defects), j.measurer.keywords.limit)] {
		j.measurer.keywords.found = append(j.measurer.keywords.found, Finding{cutPointer(f.Pointer), Kind("json-" + f.Kind), f.Text, ref})
	}
	if err != nil {
		return append(j.measurer.keywords.found, Finding{"", JSONSyntax, "the content is not JSON: " + err.Error(), ref})
	}
	if s != nil {
		if len(n.Items) > 0 {
			j.begin(room)
		}
		j.value(n, s, nil)
	}
	return j.measurer.keywords.done(ref)
}

// Stacks are the initial stacks of a judge, large enough for most values. Judges that run one after the other can share
// them.
type Stacks struct {
	path    []byte
	fields  []FieldSchemas
	applied []*Schema
}

func NewStacks() *Stacks {
	return &Stacks{make([]byte, 0, 128), make([]FieldSchemas, 0, 24), make([]*Schema, 0, 8)}
}

// begin uses the given stacks, or new ones.
func (j *Judge) begin(s *Stacks) {
	if s == nil {
		s = NewStacks()
	}
	j.measurer.keywords.path, j.fields, j.applied = s.path, s.fields, s.applied
}

// A FieldSchemas is what the schemas that apply to an object say about one of its fields.
type FieldSchemas struct {
	named  bool
	Schema *Schema
	Also   []*Schema // set in the rare case that several schemas describe one field
}

func (f *FieldSchemas) add(s *Schema) {
	f.named = true
	switch {
	case f.Schema == nil:
		f.Schema = s
	case f.Schema != s && !slices.Contains(f.Also, s):
		f.Also = append(f.Also, s)
	}
}

// merge adds what another schema says about the same field.
func (f *FieldSchemas) merge(other FieldSchemas) {
	f.named = f.named || other.named
	if other.Schema == nil {
		return
	}
	f.add(other.Schema)
	for _, s := range other.Also {
		f.add(s)
	}
}

// A scope is what the schemas that apply to one value say together.
type scope struct {
	first       int              // the start of this object's part of Judge.fields
	applied     int              // the start of this value's part of Judge.applied
	manyApplied map[*Schema]bool // the applied ones, once they are too many for a linear search
	declared    *Schema
	open        bool // some schema allows fields that it does not name
	items       elementSchemas
}

// elementSchemas is what the schemas that apply to an array say about its elements.
type elementSchemas struct {
	all    FieldSchemas                 // of all elements
	single func(index int) FieldSchemas // of single elements; nil if there are none
}

// add adds what a schema says about elements.
func (e *elementSchemas) add(p *Schema) {
	if p.prefix == nil && p.Items != nil {
		e.all.add(p.Items)
	}
	if p.prefix != nil {
		e.addSingle(p.elementAt)
	}
}

func (e *elementSchemas) addSingle(schema func(index int) *Schema) {
	before := e.single
	e.single = func(i int) (f FieldSchemas) {
		if before != nil {
			f = before(i)
		}
		if s := schema(i); s != nil {
			f.add(s)
		}
		return f
	}
}

// at returns the schemas of one element.
func (e *elementSchemas) at(i int) FieldSchemas {
	if e.single == nil {
		return e.all
	}
	f := e.single(i)
	if e.all.Schema != nil {
		for _, s := range append([]*Schema{e.all.Schema}, e.all.Also...) {
			f.add(s)
		}
	}
	return f
}

// value judges one value by a schema, and by the others that describe the same field.
func (j *Judge) value(n *jsontree.Node, s *Schema, also []*Schema) {
	sc := scope{first: len(j.fields), applied: len(j.applied)}
	if n.Kind == jsontree.Object {
		j.fields = append(j.fields, make([]FieldSchemas, len(n.Items))...)
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
		if sc.items.all.Schema != nil || sc.items.single != nil {
			j.elements(n, &sc)
		}
	}
	clear(j.fields[sc.first:])
	j.fields = j.fields[:sc.first]
}

func (j *Judge) descend(n *jsontree.Node, sc *scope) {
	for i, item := range n.Items {
		f := j.fields[sc.first+i]
		depth := len(j.measurer.keywords.path)
		switch {
		case f.Schema != nil:
			j.measurer.keywords.path = jsontree.AppendNameTo(j.measurer.keywords.path, n.Names[i])
			j.value(item, f.Schema, f.Also)
		case j.strict && !f.named && !sc.open && sc.declared != nil:
			j.measurer.keywords.path = jsontree.AppendNameTo(j.measurer.keywords.path, n.Names[i])
			j.measurer.keywords.undocumentedField(sc.declared, n.Names[i])
		}
		j.measurer.keywords.path = j.measurer.keywords.path[:depth]
		if j.measurer.keywords.full || j.measurer.keywords.gaveUp {
			return
		}
	}
}

func (j *Judge) elements(n *jsontree.Node, sc *scope) {
	for i, item := range n.Items {
		depth := len(j.measurer.keywords.path)
		j.measurer.keywords.path = jsontree.AppendIndexTo(j.measurer.keywords.path, i)
		if f := sc.items.at(i); f.Schema != nil {
			j.value(item, f.Schema, f.Also)
		}
		j.measurer.keywords.path = j.measurer.keywords.path[:depth]
		if j.measurer.keywords.full || j.measurer.keywords.gaveUp {
			return
		}
	}
}

// apply checks the value against a schema and everything that the schema combines, and records what they say about the
// parts of the value. A schema is applied once, even if there are several ways to it.
func (j *Judge) apply(n *jsontree.Node, s *Schema, sc *scope) {
	if n.Kind == jsontree.Null {
		if !s.acceptsNull {
			j.measurer.keywords.wrongType(n, s)
		}
		return
	}
	if s.isBase() {
		j.applyDerived(n, s, sc)
		return
	}
	for _, p := range s.Parts {
		if j.hasApplied(p, sc) {
			continue
		}
		j.applied = append(j.applied, p)
		if sc.manyApplied != nil {
			sc.manyApplied[p] = true
		}
		if !j.measurer.keywords.keywords(n, p, s) {
			sc.open = true // the value should not be an object, so its fields do not matter
			return
		}
		j.note(n, p, sc)
		if p.offering {
			j.alternatives(n, p, sc)
		}
	}
}

// hasApplied reports whether a schema has been applied to this value already.
func (j *Judge) hasApplied(s *Schema, sc *scope) bool {
	const few = 16
	applied := j.applied[sc.applied:]
	if len(applied) <= few {
		return slices.Contains(applied, s)
	}
	if sc.manyApplied == nil {
		sc.manyApplied = make(map[*Schema]bool)
		for _, a := range applied {
			sc.manyApplied[a] = true
		}
	}
	return sc.manyApplied[s]
}

// note adds to the scope what a schema says about the fields or elements of a value.
func (j *Judge) note(n *jsontree.Node, p *Schema, sc *scope) {
	switch n.Kind {
	case jsontree.Array:
		sc.items.add(p)
	case jsontree.Object:
		if (p.Properties != nil || p.patterns != nil) && sc.declared == nil {
			sc.declared = p
		}
		if p.extra == extraAllowed {
			sc.open = true
		}
		if p.Properties == nil && p.additional == nil && p.extra != extraRefused && p.patterns == nil {
			break
		}
		for i, name := range n.Names {
			f := &j.fields[sc.first+i]
			if property := p.Properties[name]; property != nil && p.patterns == nil { // the usual case, and faster
				f.add(property)
			} else {
				f.merge(p.fieldSchemas(name))
			}
		}
	}
}

// alternatives applies the members of oneOf and anyOf that the value matches. If it matches none, it applies the
// closest one, because its violations help a reader most.
func (j *Judge) alternatives(n *jsontree.Node, p *Schema, sc *scope) {
	defer j.measurer.asking(n, p)()
	if p.not != nil && j.measurer.distance(n, p.not) == 0 && j.measurer.keywords.fault() {
		j.measurer.keywords.report(ForbiddenMatch, p, "%s matches the schema %s, which it must not", excerpt(n), p.not.Ref)
	}
	if p.cases.any() {
		j.conditional(n, p, sc)
	}
	if p.tag != nil && n.Kind == jsontree.Object {
		if branch := j.tagged(n, p); branch != nil {
			j.apply(n, branch, sc)
		} else {
			sc.open = true
		}
		return
	}
	if p.OneOf != nil {
		if matching := j.choose(n, p.OneOf, sc); len(matching) > 1 && j.measurer.keywords.fault() {
			j.measurer.keywords.report(SeveralAlternatives, p, "%s matches %d alternatives, and must match exactly one: %s",
				excerpt(n), len(matching), refs(matching))
		}
	}
	if p.AnyOf != nil {
		j.choose(n, p.AnyOf, sc)
	}
}

// conditional applies what applies only in some cases, and what concerns the parts that nothing else evaluates.
func (j *Judge) conditional(n *jsontree.Node, p *Schema, sc *scope) {
	for _, s := range j.measurer.chosen(n, p) {
		j.apply(n, s, sc)
	}
	j.measurer.counted(n, p, func(field string, kind Kind, text string, args ...any) {
		switch k := &j.measurer.keywords; {
		case !k.fault():
		case field == "":
			k.report(kind, p, text, args...)
		default:
			k.reportAt(field, kind, p, "%s: "+text, append([]any{problem.Quote(field)}, args...)...)
		}
	})
	schema, known := j.measurer.unevaluatedSchemas(n, p)
	switch {
	case schema == nil:
	case n.Kind == jsontree.Array:
		sc.items.addSingle(func(i int) *Schema {
			if known[i] {
				return nil
			}
			return schema
		})
	default:
		for i := range n.Names {
			if !known[i] {
				j.fields[sc.first+i].add(schema)
			}
		}
	}
	if p.cases.unevaluatedFields != nil && n.Kind == jsontree.Object {
		sc.open = sc.open || schema != nil
		if schema == nil {
			for i := range n.Names { // what is not evaluated is reported as forbidden, and not again as undocumented
				j.fields[sc.first+i].named = true
			}
		}
	}
}

// choose applies the members that match, or the closest one, and returns those that match.
func (j *Judge) choose(n *jsontree.Node, members []*Schema, sc *scope) (matching []*Schema) {
	if len(members) == 1 {
		j.apply(n, members[0], sc)
		return nil
	}
	closest, least := members[0], infinite
	for _, m := range members {
		switch d := j.measurer.distance(n, m); {
		case d == 0, j.hasApplied(m, sc): // hasApplied means that it leads back to a schema that is being applied
			matching = append(matching, m)
		case d < least:
			closest, least = m, d
		}
	}
	for _, m := range matching {
		j.apply(n, m, sc)
	}
	if matching == nil {
		before := j.measurer.keywords.hint
		j.measurer.keywords.hint = hintClosest(closest, len(members))
		j.apply(n, closest, sc)
		j.measurer.keywords.hint = before
	}
	return matching
}
