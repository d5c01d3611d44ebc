package jsondiff

import (
	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// Two large parts of documents with the same sum are equal apart from generated values, member by member and element by
// element, until another value becomes known. Binding their values needs no trees: both texts are read side by side,
// and values are visited in the same order as in a tree. Where that fails, because members are in another order or
// names are generated, both parts are read into trees on the spot.

// A walk reads two parts side by side.
type walk struct {
	d          *documents
	ref, cand  jsontree.Cursor
	known      [2]int       // the numbers of known values for which the sums are valid
	times      []memberTime // the times in the objects that are being read
	movedTimes int          // how many values may be times, and are different on the two sides
}

// A lazyPath is a path that is made on request.
type lazyPath struct {
	up    *lazyPath
	name  string
	index int // -1 for a member
	spot  *ident.Path
	made  bool
}

func (w *lazyPath) at() *ident.Path {
	if !w.made {
		if up := w.up.at(); w.index < 0 {
			w.spot = up.Member(w.name, w.name)
		} else {
			w.spot = up.Element(w.index, w.index)
		}
		w.made = true
	}
	return w.spot
}

// sideBySide compares two arrays or objects with the same sum. It returns false when they have to be compared as trees.
func (d *documents) sideBySide(at *ident.Path, ref, cand *jsontree.Node) bool {
	rs, rplain, ok := d.sums.summary(0, ref)
	if !ok {
		return false
	}
	cs, cplain, ok := d.sums.summary(1, cand)
	switch {
	case !ok || rs != cs:
		return false
	case rplain && cplain:
		return true
	}
	w := walk{d: d, known: d.in.ids.Vocabulary.Knowns()}
	var rok, cok bool
	w.ref, rok = ref.Cursor()
	w.cand, cok = cand.Cursor()
	if !rok || !cok {
		return false
	}
	w.times, d.buffer = d.buffer[:0], nil // a walk inside this one gets its own buffer
	w.value(&lazyPath{spot: at, made: true})
	d.buffer = w.times
	return true
}

// value compares the next two values, and returns them if they are strings or numbers.
func (w *walk) value(at *lazyPath) (ref, cand string, kind jsontree.Kind) {
	kind = w.ref.Kind()
	if w.cand.Kind() != kind {
		w.trees(at, w.ref.Offset(), w.cand.Offset())
		return "", "", kind
	}
	switch kind {
	case jsontree.Object, jsontree.Array:
		switch {
		case w.d.in.ids.Vocabulary.Knowns() == w.known && w.d.in.ids.Vocabulary.ShortIDs.Empty() && jsontree.SkipPlain(&w.ref, &w.cand):
		case kind == jsontree.Object:
			w.object(at)
		default:
			w.array(at)
		}
	case jsontree.String:
		ref, cand = w.texts()
		if ref != cand || !w.d.in.ids.Vocabulary.NothingToBind(ref) {
			w.scalars(at, kind, ref, cand)
		}
	case jsontree.Number:
		ref, cand = w.ref.Number(), w.cand.Number()
		if ref != cand {
			w.scalars(at, kind, ref, cand)
		}
	default:
		w.ref.Literal()
		w.cand.Literal()
	}
	return ref, cand, kind
}

// trees compares the values that begin at two offsets as trees.
func (w *walk) trees(at *lazyPath, ref, cand int) {
	r, c := w.ref.Node(ref), w.cand.Node(cand)
	r.Open() // or they would be walked side by side again
	c.Open()
	w.movedTimes++
	w.d.node(at.at(), r, c)
}

func (w *walk) array(at *lazyPath) {
	ref, cand := w.ref.Offset(), w.cand.Offset()
	if w.d.in.ids.Vocabulary.Knowns() != w.known { // the elements may have other partners now
		w.trees(at, ref, cand)
		return
	}
	w.ref.Enter()
	w.cand.Enter()
	before, moved := w.d.out.reported, w.movedTimes
	for i := 0; ; i++ {
		r, c := w.ref.More(']'), w.cand.More(']')
		switch {
		case r != c: // the two sums are equal by chance
			w.trees(at, ref, cand)
			return
		case !r:
			if w.movedTimes > moved && w.d.out.reported == before && i > 1 {
				w.d.times.sequence(at.at(), w.ref.Node(ref), w.cand.Node(cand))
			}
			return
		}
		if ref, cand, _ := w.value(&lazyPath{up: at, index: i}); ref != cand && isMoment(ref) {
			w.movedTimes++
		}
	}
}

func (w *walk) object(at *lazyPath) {
	ref, cand := w.ref.Offset(), w.cand.Offset()
	w.ref.Enter()
	w.cand.Enter()
	var said []string
	first := len(w.times)
	for i := 0; ; i++ {
		r, c := w.ref.More('}'), w.cand.More('}')
		if !r && !c {
			w.chronology(at, first, said)
			return
		}
		if r && c {
			name, escaped := w.ref.Name()
			other, _ := w.cand.Name()
			if name == other && !escaped && w.d.in.ids.Vocabulary.NothingToBind(name) {
				if w.member(at, name) {
					said = append(said, name)
				}
				continue
			}
		}
		w.times = w.times[:first]
		rn, cn := w.ref.Node(ref), w.cand.Node(cand)
		w.movedTimes++
		w.d.membersFrom(i, at.at(), rn, cn, said)
		return
	}
}

// member compares the values of a member, and returns whether it reported a difference. It keeps values that may be
// times for chronology.
func (w *walk) member(at *lazyPath, name string) (told bool) {
	before := w.d.out.reported
	ref, cand, kind := w.value(&lazyPath{up: at, name: name, index: -1})
	if isMoment(ref) && isMoment(cand) {
		w.times = append(w.times, memberTime{name, kind, ref, cand})
		if ref != cand {
			w.movedTimes++
		}
	}
	return w.d.out.reported > before
}

// A memberTime is a member that is a time.
type memberTime struct {
	name      string
	kind      jsontree.Kind
	ref, cand string
}

// isMoment reports whether timeOf may read a text as a time because of its shape.
func isMoment(s string) bool {
	if len(s) < 10 || !ident.Digit(s[0]) && s[3:4] != "," {
		return false
	}
	_, epoch := ident.EpochLen(s)
	return epoch == len(s) || ident.RFC3339Len(s) == len(s) || ident.HTTPDateLen(s) == len(s)
}

// chronology compares the order of an object's times, if there are several and any of them differ between the sides.
func (w *walk) chronology(at *lazyPath, first int, said []string) {
	times := w.times[first:]
	w.times = w.times[:first]
	differ := false
	for i := range times {
		differ = differ || times[i].ref != times[i].cand
	}
	if len(times) < 2 || !differ {
		return
	}
	ref, cand := &jsontree.Node{Kind: jsontree.Object}, &jsontree.Node{Kind: jsontree.Object}
	for _, t := range times {
		ref.Names, cand.Names = append(ref.Names, t.name), append(cand.Names, t.name)
		ref.Items = append(ref.Items, &jsontree.Node{Kind: t.kind, Text: t.ref})
		cand.Items = append(cand.Items, &jsontree.Node{Kind: t.kind, Text: t.cand})
	}
	w.d.times.chronology(at.at(), ref, cand, said)
}

// texts reads two strings.
func (w *walk) texts() (ref, cand string) {
	ref, rescaped := w.ref.String()
	cand, cescaped := w.cand.String()
	if rescaped {
		ref = jsontree.Unquote(ref)
	}
	if cescaped {
		cand = jsontree.Unquote(cand)
	}
	return ref, cand
}

func (w *walk) scalars(at *lazyPath, kind jsontree.Kind, ref, cand string) {
	w.d.node(at.at(), &jsontree.Node{Kind: kind, Text: ref}, &jsontree.Node{Kind: kind, Text: cand})
}
