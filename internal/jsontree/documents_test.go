package jsontree

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDocumentsReadEachContentOnce(t *testing.T) {
	d := NewDocuments(2)
	first, _, err := d.Parse([]byte(`{"a":1}`))
	if err != nil {
		t.Fatal(err)
	}
	if again, _, _ := d.Parse([]byte(`{"a":1}`)); again != first {
		t.Error("the same content is read twice")
	}
	if other, _, _ := d.Parse([]byte(`{"a":2}`)); other.Member("a").Text != "2" {
		t.Errorf("another content has the tree %s", other)
	}
	if !d.Has([]byte(`{"a":1}`)) || d.Has([]byte(`{"a":3}`)) {
		t.Error("Has does not say what has been read")
	}
}

func TestDocumentsKeepsOnlyWhatFits(t *testing.T) {
	long := []byte(`"` + strings.Repeat("x", longestKept) + `"`)
	d := NewDocuments(0)
	if root, _, err := d.Parse(long); err != nil || root.Kind != String || d.Has(long) {
		t.Errorf("a document beyond the limit: error %v, kept %t", err, d.Has(long))
	}
	content := func(i int) []byte { return fmt.Appendf(nil, `[%d,"%s"]`, i, strings.Repeat("x", longestKept/2)) }
	for i := range 2 * mostKept / (longestKept / 2) {
		if root, _, err := d.Parse(content(i)); err != nil || root.Items[0].Text != fmt.Sprint(i) {
			t.Fatalf("document %d: %v", i, err)
		}
	}
	if !d.Has(content(0)) || d.Has(content(2*mostKept/(longestKept/2)-1)) {
		t.Error("the first is to be kept, and the last is not")
	}
}

func TestDocumentsAgreesWithParse(t *testing.T) {
	var none *Documents
	for _, text := range []string{`{"a":[1,2.0,"x"]}`, `{"a":1,"a":2}`, "\"\xff\"", "\xef\xbb\xbf1", `[1] x`, `[1`, ``, `{"a":nope}`} {
		want, defects, err := Parse([]byte(text))
		kept := NewDocuments(1)
		for _, d := range []*Documents{none, kept, kept} {
			root, gotDefects, gotErr := d.Parse([]byte(text))
			if diff := cmp.Diff(want, root, cmp.AllowUnexported(Node{})); diff != "" {
				t.Errorf("%q (-Parse +Documents):\n%s", text, diff)
			}
			if diff := cmp.Diff(defects, gotDefects); diff != "" || fmt.Sprint(err) != fmt.Sprint(gotErr) {
				t.Errorf("%q: %v and %v\n%s", text, err, gotErr, diff)
			}
		}
	}
	if none.Has([]byte(`1`)) {
		t.Error("nil keeps something")
	}
}
