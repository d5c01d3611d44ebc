package jsontree

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseKeepsDigitsOrderAndRepeatedNames(t *testing.T) {
	root, defects, err := Parse([]byte(`{"b":1.0,"a":[true,null,"x",12345678901234567890],"b":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := &Node{Kind: Object, Names: []string{"b", "a", "b"}, Items: []*Node{
		{Kind: Number, Text: "1.0"},
		{Kind: Array, Items: []*Node{
			{Kind: Boolean, Text: "true"}, {Kind: Null}, {Kind: String, Text: "x"},
			{Kind: Number, Text: "12345678901234567890"},
		}},
		{Kind: Object},
	}}
	if diff := cmp.Diff(want, root, cmp.AllowUnexported(Node{})); diff != "" {
		t.Errorf("tree (-want +got):\n%s", diff)
	}
	if len(defects) != 1 || defects[0].Kind != DuplicateName || defects[0].Pointer != "/b" {
		t.Errorf("defects %v, want one duplicate-name at /b", defects)
	}
}

func TestParseReportsWhatALenientReaderHides(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       []Defect
	}{
		{"a sound document", `{"a":"\ufffd"}`, nil},
		{"a byte order mark", "\xef\xbb\xbf1", []Defect{{ByteOrderMark, "", ""}}},
		{"two byte order marks", "\xef\xbb\xbf\xef\xbb\xbf1", []Defect{{ByteOrderMark, "", ""}}}, // and there is no value
		{"an invalid byte in a value", "{\"a\":[\"x\",\"\xff\"]}", []Defect{{InvalidUTF8, "/a/1", ""}}},
		{"an invalid byte in a name", "{\"\xff\":1}", []Defect{{InvalidUTF8, "/\ufffd", ""}}},
		{"a lone surrogate", `"\ud800"`, nil},
		{"text behind the value", `{} x`, []Defect{{TrailingText, "", ""}}},
		{"a second document", "1\n2", []Defect{{TrailingText, "", ""}}},
		{"blanks behind the value", "1 \n", nil},
		{"names that differ in case only", `{"a":1,"A":1}`, nil},
		{"a repeated name deep down", `[{"a":{"x/y":1,"x/y":1}}]`, []Defect{{DuplicateName, "/0/a/x~1y", ""}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, got, _ := Parse([]byte(tc.text))
			for i := range got {
				if got[i].Text == "" {
					t.Errorf("defect %v has no text", got[i])
				}
				got[i].Text = ""
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("defects (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseRefusesWhatHasNoValue(t *testing.T) {
	for text, want := range map[string]string{
		"":             "the document is empty",
		" ":            "the document is empty",
		"{":            "ends before",
		`{"a":1,}`:     "offset 6",
		"{'a':1}":      "offset 1",
		"nul":          "ends before",
		"NaN":          "offset 0",
		"01":           "",
		`{"a" 1}`:      "offset 5",
		"<html>":       "offset 0",
		`["` + "\n":    "offset 2",
		"[1,2":         "ends before",
		`{"a":tru}`:    "offset 8",
		"\xef\xbb\xbf": "the document is empty",
	} {
		_, defects, err := Parse([]byte(text))
		if err == nil && len(defects) == 0 {
			t.Errorf("Parse(%q): no error", text)
		}
		if err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%q): %v, want %q in it", text, err, want)
		}
	}
}

func TestParseStopsAtMaxDepth(t *testing.T) {
	deep := func(n int) []byte { return []byte(strings.Repeat("[", n) + strings.Repeat("]", n)) }
	if _, _, err := Parse(deep(MaxDepth)); err != nil {
		t.Errorf("depth %d: %v", MaxDepth, err)
	}
	if _, _, err := Parse(deep(100_000)); err == nil {
		t.Error("depth 100000: no error")
	}
}

func TestEqual(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want bool
	}{
		{`{"a":1,"b":2}`, `{"b":2,"a":1}`, true},
		{`{"a":1}`, `{"a":1,"b":2}`, false},
		{`{"a":1,"b":2}`, `{"a":1,"c":2}`, false},
		{`[1,2]`, `[2,1]`, false},
		{`[1,2]`, `[1]`, false},
		{`"a"`, `"b"`, false},
		{`null`, `false`, false},
		{`true`, `false`, false},
		{`[]`, `{}`, false},
		{`1`, `1.0`, true},
		{`1`, `"1"`, false},
		{`{"a":1,"a":2}`, `{"a":1,"a":2}`, true},
		{`{"a":1,"a":2}`, `{"a":2}`, false},
		{`{"a":1,"a":2}`, `{"a":2,"a":1}`, false},
		{`{"a":1,"a":2}`, `{"a":2,"b":1}`, false},
		{`{"a":1,"b":2}`, `{"a":1,"a":1}`, false},
	} {
		if got := Equal(mustParse(t, tc.a), mustParse(t, tc.b), EqualNumbers); got != tc.want {
			t.Errorf("Equal(%s, %s) = %t", tc.a, tc.b, got)
		}
	}
}

func TestEqualNumbersComparesEveryDigit(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want bool
	}{
		{"1", "1.0", true},
		{"1", "1e0", true},
		{"100", "1e2", true},
		{"100", "1E+2", true},
		{"0.01", "1e-2", true},
		{"10.50", "1.05e1", true},
		{"0", "-0", true},
		{"0", "0e99", true},
		{"0.000", "0", true},
		{"-1", "1", false},
		{"9007199254740993", "9007199254740992", false},
		{"9007199254740993", "9007199254740993.0", true},
		{"1e400", "1e401", false},
		{"1e400", "10e399", true},
		{"1e999999999999999999999", "1e999999999999999999998", false},
		{"1e999999999999999999999", "10e999999999999999999998", true},
		{"0.1", "0.10000000000000000001", false},
	} {
		if got := EqualNumbers(tc.a, tc.b); got != tc.want {
			t.Errorf("EqualNumbers(%s, %s) = %t", tc.a, tc.b, got)
		}
		if got := EqualNumbers(tc.b, tc.a); got != tc.want {
			t.Errorf("EqualNumbers(%s, %s) = %t", tc.b, tc.a, got)
		}
	}
}

func TestMemberFindsTheLastOfANameHoweverManyThereAre(t *testing.T) {
	for _, members := range []int{1, small, small + 1, 10 * small} {
		var b strings.Builder
		b.WriteString(`{"x":"first"`)
		for i := range members {
			fmt.Fprintf(&b, `,"k%d":%d`, i, i)
		}
		b.WriteString(`,"x":"last"}`)
		n := mustParse(t, b.String())
		if got := n.Member("x"); got == nil || got.Text != "last" {
			t.Errorf("%d members: Member(x) = %v, want the last", members, got)
		}
		if got := n.Member("k0"); got == nil || got.Text != "0" {
			t.Errorf("%d members: Member(k0) = %v", members, got)
		}
		if got := n.Member("none"); got != nil {
			t.Errorf("%d members: Member(none) = %v", members, got)
		}
	}
}

func TestAHugeExponentCostsNothing(t *testing.T) {
	huge := "1e" + strings.Repeat("9", 5_000_000)
	if !EqualNumbers(huge, huge) || EqualNumbers(huge, "10e"+strings.Repeat("9", 5_000_000)) {
		t.Error("a number with a huge exponent is equal to its own text alone")
	}
}

// FuzzScanAgreesWithTheDecoder checks that Parse reads every document as the decoder does.
func FuzzScanAgreesWithTheDecoder(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,2,{"b":"c"}],"d":{},"e":[]}`, `[-0.0e+1,1E9,-12,0]`, `"\ud83d\ude00\n\/"`, `"\ud800"`, `"\x"`, "[true,false,null]", "nulls",
		"01", "1.", "-", "+1", "[1,]", "[,1]", "[1 2]", `{"a":1,}`, `{"a" 1}`, `{a:1}`, "\"\x1f\"", "\"\x7f\u00e9\"", "\"\xff\"", `{"a":1,"a":2}`,
		"\xef\xbb\xbf1", " [ 1 , { \"a\" : 2 } ] \r\n\t", "\v1", "1 1", `{"a":1,"b":{"a":"\xff"},"b":[{"\ud800":1,"\ud800":2}]} x`, "\xef\xbb\xbf{\"\xff\":1,\"\xfe\":2,", "", `["`, strings.Repeat("[", 100), manyMembers(small), manyMembers(3 * small),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		want, wantDefects, wantErr := read(data)
		got, defects, err := Parse(data)
		if diff := cmp.Diff(wantDefects, defects); diff != "" || fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Fatalf("Parse: %v, want %v; defects (-decoder +scanner):\n%s", err, wantErr, diff)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("Parse: %s, want %s", got, want)
		}
	})
}

func TestScanStopsAtMaxDepth(t *testing.T) {
	for _, pair := range []string{"[]", `{"":}`} {
		open, end := pair[:len(pair)-1], pair[len(pair)-1:]
		deep := func(n int) []byte { return []byte(strings.Repeat(open, n-1) + open[:1] + strings.Repeat(end, n)) }
		if _, ok := scan(string(deep(MaxDepth))); !ok {
			t.Errorf("%s: depth %d is not read", pair, MaxDepth)
		}
		if _, ok := scan(string(deep(MaxDepth + 1))); ok {
			t.Errorf("%s: depth %d is read", pair, MaxDepth+1)
		}
	}
}

func manyMembers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"k%d":[%d]`, i, i)
	}
	return "{" + b.String()[1:] + "}"
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{`{"a":[1,2,{"b":"c"}]}`, "\xef\xbb\xbf1", `{"a":1,"a":2}`, "{\"a\":\"\xff\"}", `-0.0e+1`, "[[]] x"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		root, defects, err := Parse(data)
		var raw json.RawMessage // not any, because that rounds numbers and rejects large ones
		std := json.Unmarshal(data, &raw)
		if std == nil && err != nil {
			t.Fatalf("encoding/json reads it, Parse does not: %v", err)
		}
		if err == nil && len(defects) == 0 && std != nil {
			t.Fatalf("Parse finds no fault, encoding/json does: %v", std)
		}
		if err == nil && !Equal(root, root, EqualNumbers) {
			t.Fatal("a document is not equal to itself")
		}
	})
}

func mustParse(t *testing.T, s string) *Node {
	t.Helper()
	n, _, err := Parse([]byte(s))
	if err != nil {
		t.Fatalf("Parse(%s): %v", s, err)
	}
	return n
}
