package coverage

import (
	"bytes"

	"github.com/lockstep-dev/lockstep/harness/contract/schema"
	"github.com/lockstep-dev/lockstep/harness/contract/spec"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// An unseen has what was not seen yet of the schemas that can judge a value. When little is left, most contents need
// not be parsed, because they do not contain the names and texts that are missing.
type unseen struct {
	rows []int // rows that the schema can use and that were not seen completely
	at   int   // how much was left of all rows when needles were collected
	// needles are texts. A content with anything new contains at least one of them. They are nil when no such texts
	// exist.
	needles [][]byte
}

// maxNeedles limits how many texts are searched for in each content.
const maxNeedles = 8

// unseen returns the up-to-date unseen of a schema.
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

// renew removes the rows that have been seen completely, and collects the needles.
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

// needlesOf returns texts that a JSON content with unseen parts of a row must contain. It reports false when there are
// no such texts: numbers can be written in several ways, and an alternative has no text of its own.
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

// mayHave reports whether a content can have anything new. It returns true for texts with escapes.
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
