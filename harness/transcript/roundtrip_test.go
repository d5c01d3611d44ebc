package transcript

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// A generator fills any value at random. Texts may have bytes that are not UTF-8, lists and maps may be empty, and
// pointers nil.
type generator struct {
	*rapid.T
	depth int
}

var odd = rapid.OneOf(
	rapid.SampledFrom([]string{"", "a", "\xff", "id-\xc3\x28", "\xed\xa0\x80", "\u2028<&>", "\x00", "a/b~c", "�"}),
	rapid.StringOfN(rapid.Rune(), 0, 9, -1),
	rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 6), func(b []byte) string { return string(b) }),
)

func (g *generator) fill(v reflect.Value) {
	g.depth++
	defer func() { g.depth-- }()
	switch v.Type() {
	case reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Unix(rapid.Int64Range(0, 1<<33).Draw(g.T, "s"), rapid.Int64Range(0, 999_999_999).Draw(g.T, "ns")).UTC()))
		return
	case reflect.TypeFor[json.RawMessage]():
		v.SetBytes([]byte(rapid.SampledFrom([]string{"null", "1.0", `{"a":1}`, `"\ud83d"`, `[]`}).Draw(g.T, "json")))
		return
	case reflect.TypeFor[Body]():
		v.Set(reflect.ValueOf(g.body()))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(odd.Draw(g.T, "text"))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(g.T, "bool"))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.Int64().Draw(g.T, "int"))
	case reflect.Pointer:
		if rapid.IntRange(0, 2).Draw(g.T, "there") > 0 && g.depth < 12 || v.Type().Elem() == reflect.TypeFor[Exchange]() || v.Type().Elem() == reflect.TypeFor[Stream]() {
			v.Set(reflect.New(v.Type().Elem()))
			g.fill(v.Elem())
		}
	case reflect.Slice:
		n := 0
		if g.depth < 12 {
			n = rapid.IntRange(0, 2).Draw(g.T, "length")
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			g.fill(v.Index(i))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for i := range rapid.IntRange(0, 2).Draw(g.T, "length") {
			key := reflect.New(v.Type().Key()).Elem()
			if key.Kind() == reflect.String { // the key comes from a scenario, which is UTF-8
				key.SetString(fmt.Sprintf("$.a/b~%d", i))
			} else {
				key.SetInt(int64(i))
			}
			value := reflect.New(v.Type().Elem()).Elem()
			g.fill(value)
			v.SetMapIndex(key, value)
		}
	case reflect.Float64:
		v.SetFloat(rapid.Float64Range(0, 100).Draw(g.T, "float"))
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				g.fill(v.Field(i))
			}
		}
	default:
		g.Fatalf("nobody knows how to fill a %s", v.Type())
	}
}

// body draws a body such as Decode and requests with fillers produce. A body in a coding may be empty.
func (g *generator) body() Body {
	b := Body{Bytes: []byte(odd.Draw(g.T, "body"))}
	b.Size = int64(len(b.Bytes))
	switch rapid.IntRange(0, 3).Draw(g.T, "kind") {
	case 0:
		b.Sent = rapid.Int64Range(1, 99).Draw(g.T, "sent")
	case 1:
		if b.Size > 0 {
			b.Fill = &Fill{At: rapid.IntRange(0, len(b.Bytes)).Draw(g.T, "at"), Times: 7}
			b.Size += 7
		}
	case 2:
		if b.Size > 0 {
			b.Size++ // as if a part was not kept
		}
	}
	return b
}

// Judging a run reads only transcripts. So equal transcripts lead to equal verdicts.
func TestATranscriptThatIsReadBackIsTheOneThatWasWritten(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		want := &Transcript{}
		(&generator{T: rt}).fill(reflect.ValueOf(want).Elem())
		_, got, err := read(write(t, want))
		if err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff([]*Transcript{want}, got, cmpopts.IgnoreUnexported(Body{}), cmpopts.EquateEmpty()); diff != "" {
			rt.Fatalf("written and read (-written +read):\n%s", diff)
		}
	})
}

func TestTheRunFileHasTextsInTheirPlaces(t *testing.T) {
	tr := sample("ref")
	tr.Steps[0].Text = "odd \xff"
	data := string(write(t, tr))
	const at = `"texts":{"/steps/0/text":`
	if !strings.Contains(data, at) {
		t.Fatalf("the run file has no %s", at)
	}
	if _, _, err := read([]byte(strings.Replace(data, at, `"texts":{"/steps/9/text":`, 1))); err == nil || !strings.Contains(err.Error(), "1 of its texts") {
		t.Errorf("a text that stands nowhere: %v", err)
	}
}
