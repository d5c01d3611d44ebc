package jsontree_test

import (
	"testing"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

func TestAnObjectIsBuiltMemberByMember(t *testing.T) {
	n := &jsontree.Node{Kind: jsontree.Object}
	n.Set("a", jsontree.NewText("x"))
	n.Set("b", jsontree.NewTexts([]string{"y", "z"}))
	n.Set("a", jsontree.NewText(`"`))
	if got, want := n.String(), `{"a":"\"","b":["y","z"]}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestAStepOfAPathQuotesWhatIsNoName(t *testing.T) {
	for name, want := range map[string]string{"a_1": ".a_1", "1a": "['1a']", "é": "['é']", `it's\`: `['it\'s\\']`, "": "['']"} {
		if got := jsontree.PathStep(name); got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
}
