package jsondiff

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A Comparer compares contents with the help of bindings, and remembers what later contents depend on.
type Comparer struct {
	Docs    *jsontree.Documents
	IDs     *ident.Bindings
	history *history
	refuse  func(Refusal)
}

// New returns a Comparer without a history. It passes the rules that it rejects to refuse.
func New(docs *jsontree.Documents, ids *ident.Bindings, refuse func(Refusal)) *Comparer {
	return &Comparer{docs, ids, &history{}, refuse}
}

// With returns a Comparer with other bindings and without a history. It does not report rejected rules.
func (c *Comparer) With(ids *ident.Bindings) *Comparer {
	return &Comparer{c.Docs, ids, &history{}, func(Refusal) {}}
}

// Content is a text that may be JSON: a body, or an event's data.
type Content struct {
	Data    []byte
	NotJSON string   // why it is not read as JSON; "" when it is JSON
	Entries []string // the entries of an archive, if Data is the document that describes it
	Lines   bool     // Data is the list of what the lines of the body contain
}

// unescaped reports whether everything in the content is written literally, without escapes.
func (c Content) unescaped() bool { return c.NotJSON != "" || bytes.IndexByte(c.Data, '\\') < 0 }

// WholeDiffers returns a difference between two contents as a whole.
func WholeDiffers(why diff.Reason, at diff.At, sides [2]Content, fingerprint string) diff.Difference {
	return diff.Difference{
		Reason: why, At: at, Ref: diff.ShowSome(string(sides[0].Data)), Cand: diff.ShowSome(string(sides[1].Data)), Fingerprint: fingerprint,
	}
}

// Content compares two contents. If their bytes are equal, it only binds the ids in them, unless an id is out of place.
func (c *Comparer) Content(p ident.Place, rules []Volatile, sides [2]Content, report func(diff.Difference)) {
	ref, cand := sides[0], sides[1]
	if bytes.Equal(ref.Data, cand.Data) && !mayConcern(c.IDs, rules, ref.Data) {
		if !c.IDs.Vocabulary.MayBind(ref.Data, ref.NotJSON == "", !ref.unescaped()) {
			return
		}
		if ref.unescaped() {
			if c.IDs.Texts(string(ref.Data), string(cand.Data), p).None() {
				return
			}
		}
	}
	some := limiter{report: report}
	defer some.close()
	rt, rdefects, rerr := c.open(ref, rules)
	ct, cdefects, cerr := c.open(cand, rules)
	switch {
	case rerr == nil && cerr == nil:
		same, reported := true, []string(nil) // the candidate's pointers
		in := setting{ids: c.IDs, history: c.history, place: p, full: some.full, refuse: c.refuse, report: func(d diff.Difference) {
			same = false
			if len(rules) > 0 { // else they are not needed
				reported = append(reported, d.At.Pointers[1])
			}
			some.add(d)
		}}
		in.rules = placedRules{Pointers(rules, ref.Data, rt, c.IDs.Applied), Pointers(rules, cand.Data, ct, c.IDs.Applied)}
		d := newDocuments(in)
		d.sums.whole[0].text, d.sums.whole[1].text = ref.Data, cand.Data
		d.node(nil, rt, ct)
		stableTimes{&d.in}.stability([2]*jsontree.Node{rt, ct}, reported)
		if why := c.defectDiff(rdefects, cdefects); same && !why.None() { // else the values show it
			report(WholeDiffers(why, p.Where.At, sides, diff.Digest(why.Text())))
		}
	case (rerr == nil) != (cerr == nil):
		report(WholeDiffers(oneSided(rerr, cerr), p.Where.At, sides, c.ContentsDigest(sides, rules)))
	default:
		why := c.IDs.Texts(string(ref.Data), string(cand.Data), p)
		if why.None() || why.Code == diff.TextsDiffer && c.Encoded(p, string(ref.Data), string(cand.Data), some.add) {
			return
		}
		if why.Kind == diff.ValueDiffers {
			why.Kind = diff.BodyDiffers
		}
		some.add(WholeDiffers(why, p.Where.At, sides, c.ContentsDigest(sides, rules)))
	}
}

// ContentsDigest is a digest of two contents without their generated values.
func (c *Comparer) ContentsDigest(sides [2]Content, rules []Volatile) string {
	var bare [2]string
	for side, s := range sides {
		if _, err := c.Parse(s); err != nil {
			s.Data = []byte(withoutVolatile(string(s.Data), rules))
		}
		bare[side] = c.OutlineBy(c.IDs.Skeletons(), side, s, rules)
	}
	return diff.Digest(bare[:]...)
}

// OutlineBy returns the outline of a content. Contents that can be equal apart from generated values have the same
// outline, which tells bound ids apart if the skeletons do.
func (c *Comparer) OutlineBy(skeletons ident.Skeletons, side int, s Content, rules []Volatile) string {
	if root, err := c.Parse(s); err == nil {
		return outliner{skeletons, side, Pointers(rules, s.Data, root, c.IDs.Applied)}.outline(root)
	}
	return skeletons.Of(side, string(s.Data))
}

// Comparable reports whether two contents can be equal apart from generated values.
func (c *Comparer) Comparable(sides [2]Content, rules []Volatile) bool {
	var outlines [2]string
	for side, s := range sides {
		outlines[side] = c.OutlineBy(c.IDs.Skeletons(), side, s, rules)
	}
	return outlines[0] == outlines[1]
}

func oneSided(ref, cand error) diff.Reason {
	side, err := diff.Side(1), cand
	if cand == nil {
		side, err = 0, ref
	}
	return diff.Because(diff.BodyNotJSON, diff.NotJSON, side, err)
}

// mayConcern reports whether a document must be compared value by value because of a rule, even if both sides are
// equal. Such a rule demands something of the values, or has not been applied yet.
func mayConcern(b *ident.Bindings, rules []Volatile, doc []byte) bool {
	return slices.ContainsFunc(rules, func(r Volatile) bool {
		return (r.Kind != Text && r.Kind != Number && !r.Kind.ComparesNumbers() || !b.Applied[r.Rule]) && r.mayApply(doc)
	})
}

// mayApply reports whether a rule may select something in a document: the document contains the last name of the rule's
// path, if there is one.
func (r Volatile) mayApply(doc []byte) bool {
	name := lastName(r.At)
	return name == "" || bytes.Contains(doc, []byte(name))
}

// Parse reads a content as JSON, and ignores its defects.
func Parse(s Content) (*jsontree.Node, error) {
	root, _, err := s.Read(nil)
	return root, err
}

func (c *Comparer) Parse(s Content) (*jsontree.Node, error) {
	root, _, err := s.Read(c.Docs)
	return root, err
}

// minSummarized is the size from which summarizing a document before building its tree saves time.
const minSummarized = 2 << 10

// open is like Read, but builds the tree of a large document only where it is looked at. It builds the whole tree if
// the document may have ids of a project's own shapes, or places that rules select.
func (c *Comparer) open(s Content, rules []Volatile) (*jsontree.Node, []jsontree.Defect, error) {
	if s.NotJSON == "" && len(s.Data) >= minSummarized && !c.Docs.Has(s.Data) && !c.IDs.Vocabulary.Shapes.MayHold(s.Data, !s.unescaped()) && !slices.ContainsFunc(rules, func(r Volatile) bool { return r.mayApply(s.Data) }) {
		if root, ok := jsontree.Summarize(s.Data, shapeSkeleton); ok {
			return root, nil, nil
		}
	}
	return s.Read(c.Docs)
}

func (s Content) Read(docs *jsontree.Documents) (*jsontree.Node, []jsontree.Defect, error) {
	if s.NotJSON != "" {
		return nil, nil, errors.New(s.NotJSON)
	}
	return docs.Parse(s.Data)
}

// defectDiff returns the first defect that only one of two documents has. Some readers reject it, and comparing the
// values does not reveal it.
func (c *Comparer) defectDiff(ref, cand []jsontree.Defect) diff.Reason {
	sides := [2][]jsontree.Defect{ref, cand}
	for side := range sides {
		if d, ok := c.defectOnly(side, sides[side], sides[1-side]); ok {
			return diff.Because(diff.BodyNotJSON, diff.JSONDefect, diff.Side(side), diff.Side(1-side), d.Text)
		}
	}
	return diff.Reason{}
}

func (c *Comparer) defectOnly(side int, defects, others []jsontree.Defect) (jsontree.Defect, bool) {
	bare := c.IDs.Skeletons()
	for _, d := range defects {
		if !slices.ContainsFunc(others, func(o jsontree.Defect) bool {
			return o.Kind == d.Kind && bare.Of(side, d.Pointer) == bare.Of(1-side, o.Pointer) &&
				(d.Kind != jsontree.TrailingText || bare.Of(side, d.Text) == bare.Of(1-side, o.Text))
		}) {
			return d, true
		}
	}
	return jsontree.Defect{}, false
}

// Encoded compares the contents of two texts that are not values in a document. It reports false when the texts contain
// nothing to compare.
func (c *Comparer) Encoded(p ident.Place, ref, cand string, report func(diff.Difference)) bool {
	d := newDocuments(setting{ids: c.IDs, history: c.history, place: p, refuse: c.refuse, report: report})
	return d.scalars.embedded.compare(nil, textNode(ref), textNode(cand))
}

// withoutVolatile removes the values that rules select by name from a text that should be JSON, but is not.
func withoutVolatile(text string, rules []Volatile) string {
	for _, r := range rules {
		name := lastName(r.At)
		if name == "" || r.Kind == List {
			continue
		}
		var out strings.Builder
		for {
			before, after, ok := strings.Cut(text, diff.Quoted(name))
			out.WriteString(before)
			if !ok {
				break
			}
			out.WriteString(diff.Quoted(name))
			text = after
			if value := strings.TrimLeft(text, ": \t\r\n"); len(value) < len(text) {
				out.WriteString(":‹" + string(r.Kind) + "›")
				text = strings.TrimLeftFunc(value, func(c rune) bool { return !strings.ContainsRune(",]}\r\n", c) })
			}
		}
		text = out.String()
	}
	return text
}
