package schema

import (
	"hash/maphash"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// A hasher hashes every value once.
type hasher struct {
	hashes map[*jsontree.Node]uint64
	seed   maphash.Seed
}

// findEqual finds two equal elements. It compares only elements with equal hashes, so its time is proportional to the
// length of the array. Hashes are kept for the enclosing values, so deep nesting does not multiply the time either.
func (j *hasher) findEqual(items []*jsontree.Node) (a, b int, ok bool) {
	if len(items) < 2 {
		return 0, 0, false
	}
	if j.hashes == nil {
		j.hashes, j.seed = make(map[*jsontree.Node]uint64), maphash.MakeSeed()
	}
	seen := make(map[uint64]int, len(items))
	for i, item := range items {
		h := j.hash(item)
		if first, dup := seen[h]; dup && equal(items[first], item) {
			return first, i, true
		}
		seen[h] = i
	}
	return 0, 0, false
}

// hash returns equal numbers for equal values.
func (j *hasher) hash(n *jsontree.Node) uint64 {
	if h, ok := j.hashes[n]; ok {
		return h
	}
	var h maphash.Hash
	h.SetSeed(j.seed)
	h.WriteByte(byte(n.Kind))
	switch n.Kind {
	case jsontree.Number:
		maphash.WriteComparable(&h, parseDecimal(n.Text))
	case jsontree.Array:
		for _, item := range n.Items {
			maphash.WriteComparable(&h, j.hash(item))
		}
	case jsontree.Object:
		var sum uint64 // the order of the fields does not matter
		for i, name := range n.Names {
			sum += maphash.Comparable(j.seed, field{name, j.hash(n.Items[i])})
		}
		maphash.WriteComparable(&h, sum)
	default:
		h.WriteString(n.Text)
	}
	j.hashes[n] = h.Sum64()
	return j.hashes[n]
}

type field struct {
	name  string
	value uint64
}

// equal reports whether two values are equal, with numbers compared by their values.
func equal(a, b *jsontree.Node) bool {
	return jsontree.Equal(a, b, func(a, b string) bool { return parseDecimal(a) == parseDecimal(b) })
}
