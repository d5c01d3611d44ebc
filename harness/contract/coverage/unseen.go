package coverage

import (
	"bytes"

	"github.com/lockstep-dev/lockstep/harness/contract/schema"
	"github.com/lockstep-dev/lockstep/harness/contract/spec"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// An unseen is what has not been seen of the schemas that a value can be judged by. When that is little, most contents can be
// passed over without reading them: the names and texts that are looked for do not stand in them.
type unseen struct {
	rows []int // that the schema leads to and that were not seen whole
	at   int   // how much was left of all rows when needles was made
	// needles are the texts of which a content has one if it has anything new. They are nil when that cannot be said.
	needles [][]byte
}

// maxNeedles is how many texts are looked for in each content.
const maxNeedles = 8

// unseen returns the view of a schema, as it is now.
func (g *marker) unseen(s *schema.Schema, in Messages) *unseen {
	v := g.unseenOf[s]
	if v == nil {
		v = &unseen{at: -1}
		for _, one := range reach(s, in, map[*schema.Schema]Messages{}, nil) {
			if i, ok := g.index[one]; ok && g.rows[i].In == in {
				v.rows = append(v.rows, i)
			}
		}
		g.unseenOf[s] = v
	}
	if v.at != g.total {
		v.at = g.total
		g.renew(v)
	}
	return v
}

// renew leaves out the rows that have been seen whole, and collects the needles.
func (g *marker) renew(v *unseen) {
	rows := v.rows[:0]
	for _, i := range v.rows {
		if g.left[i] > 0 {
			rows = append(rows, i)
		}
	}
	v.rows, v.needles = rows, nil
	var needles [][]byte
	for _, i := range rows {
		own, ok := needlesOf(&g.rows[i])
		if needles = append(needles, own...); !ok || len(needles) > maxNeedles {
			return
		}
	}
	v.needles = needles
}

// needlesOf returns what stands in a JSON text that has what was not seen of a row. It reports false when that can be
// written in several ways, as numbers can, or stands in no text, as what an alternative is.
func needlesOf(r *Schema) (out [][]byte, ok bool) {
	for _, p := range r.Properties {
		if !p.Seen {
			name := jsontree.Node{Kind: jsontree.String, Text: p.Name}
			out = append(out, []byte(name.String()))
		}
	}
	for _, p := range r.Enum {
		switch {
		case p.Seen:
		case p.Name[0] == '"' || p.Name == "true" || p.Name == "false" || p.Name == "null":
			out = append(out, []byte(p.Name))
		default:
			return nil, false
		}
	}
	for _, p := range r.Alternatives {
		if !p.Seen {
			return nil, false
		}
	}
	return out, true
}

// mayHave reports whether a content can have anything that was not seen. Where a text is written with escapes, it can.
func (v *unseen) mayHave(how spec.Encoding, data []byte) bool {
	switch {
	case len(v.rows) == 0:
		return false
	case v.needles == nil || how != spec.JSON:
		return true
	}
	for _, needle := range v.needles {
		if bytes.Contains(data, needle) {
			return true
		}
	}
	return bytes.IndexByte(data, '\\') >= 0
}
