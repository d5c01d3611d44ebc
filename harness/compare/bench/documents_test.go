package bench

import (
	"bytes"
	"fmt"
	"math/rand/v2"
)

// A document is a list of records that has at least size bytes. Its differences and the order of its members are known.
type document struct {
	size      int
	edited    bool // five differences, one of them an inserted element
	reordered bool // the members of each record are in reverse order
	ids       bool // each record has a generated id and a generated time
}

// bytes writes the document. The same document always has the same bytes.
func (d document) bytes() []byte {
	random := rand.New(rand.NewPCG(1, 2))
	made := rand.New(rand.NewPCG(uint64(d.size), 3))
	if d.edited || d.reordered {
		made = rand.New(rand.NewPCG(uint64(d.size), 4))
	}
	var out bytes.Buffer
	out.Grow(d.size + d.size/8)
	record := 380
	if d.ids {
		record = 460
	}
	n := max(3, d.size/record)
	edits := map[int]string{}
	if d.edited {
		edits = map[int]string{0: "value", n / 4: "missing", n / 2: "insert", 3 * n / 4: "type", n - 1: "extra"}
		if n == 3 { // a document of one kilobyte has only three records
			edits = map[int]string{0: "value missing", 1: "insert", 2: "type extra"}
		}
	}
	out.WriteString(`{"kind":"list","items":[`)
	for i := range n {
		if i > 0 {
			out.WriteByte(',')
		}
		d.record(&out, i, edits[i], random, made)
	}
	fmt.Fprintf(&out, `],"total":%d}`, n)
	return out.Bytes()
}

var words = []string{"lamp", "chair", "rug", "table", "clock", "mirror", "shelf", "curtain", "vase", "stool"}

func (d document) record(out *bytes.Buffer, i int, edits string, random, made *rand.Rand) {
	has := func(edit string) bool { return bytes.Contains([]byte(edits), []byte(edit)) }
	if has("insert") {
		out.WriteString(`{"number":-1,"name":"put in","tags":[]},`)
	}
	word := func() string { return words[random.IntN(len(words))] }
	price, name := fmt.Sprintf("%d.%02d", random.IntN(1000), random.IntN(100)), word()+" "+word()
	if has("value") {
		name += ", another"
	}
	if has("type") {
		price = `"` + price + `"`
	}
	members := []string{
		fmt.Sprintf(`"number":%d`, i),
		fmt.Sprintf(`"name":"%s no. %d"`, name, i),
		fmt.Sprintf(`"price":%s`, price),
		fmt.Sprintf(`"active":%t`, random.IntN(2) == 0),
		fmt.Sprintf(`"note":"The %s stands behind the %s.\nNobody has seen the %s since."`, word(), word(), word()),
		fmt.Sprintf(`"tags":["%s","%s","%s"]`, word(), word(), word()),
		fmt.Sprintf(`"size":{"width":%d,"height":%d,"depth":%d,"unit":"mm"}`, random.IntN(3000), random.IntN(3000), random.IntN(3000)),
		fmt.Sprintf(`"stock":[{"place":"%s","count":%d},{"place":"%s","count":%d}]`, word(), random.IntN(99), word(), random.IntN(99)),
	}
	if d.ids {
		members = append(members, fmt.Sprintf(`"id":"item_%012x00","at":"2026-11-20T12:00:%02d.%03dZ"`, made.Uint64N(1<<48), made.IntN(60), made.IntN(1000)))
	}
	if !has("missing") {
		members = append(members, `"parent":null`)
	}
	if has("extra") {
		members = append(members, `"more":true`)
	}
	out.WriteByte('{')
	for k := range members {
		if k > 0 {
			out.WriteByte(',')
		}
		if d.reordered {
			k = len(members) - 1 - k
		}
		out.WriteString(members[k])
	}
	out.WriteByte('}')
}
