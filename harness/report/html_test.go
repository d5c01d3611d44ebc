package report_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/report/html"
	"github.com/lockstep-dev/lockstep/harness/report/internal/groups"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

func pageOf(t *testing.T, doc *report.Document) string {
	t.Helper()
	var b bytes.Buffer
	if err := html.Write(&b, doc); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// pageData is the part of a page's data that the tests read.
type pageData struct {
	groups.Groups
	Facts [][2]string `json:"facts"`
}

func dataOf(t *testing.T, page string) *pageData {
	t.Helper()
	_, rest, _ := strings.Cut(page, `id="data">`)
	data, _, ok := strings.Cut(rest, "</script>")
	if !ok {
		t.Fatal("the page has no data")
	}
	var v pageData
	if err := json.Unmarshal([]byte(data), &v); err != nil {
		t.Fatal(err)
	}
	return &v
}

func TestNothingThatAServerSendsIsMarkupInAPage(t *testing.T) {
	for _, run := range runs {
		for _, sent := range nasty {
			doc := run.doc()
			fill(reflect.ValueOf(doc), sent)
			page := pageOf(t, doc)
			if n := strings.Count(page, "</script>"); n != 2 {
				t.Errorf("%s with %+q: %d ends of scripts", run.name, sent, n)
			}
			_, data, _ := strings.Cut(page, `id="data">`)
			data, _, _ = strings.Cut(data, "</script>")
			if strings.ContainsAny(data, "<>&\u2028\u2029") {
				t.Errorf("%s with %+q: markup in the data", run.name, sent)
			}
			v := dataOf(t, page)
			for _, g := range v.List {
				for _, shown := range []string{g.Place, g.Says, g.Left, g.Right, g.StepText} {
					if why := harmless([]byte(shown)); why != "" {
						t.Errorf("%s with %+q: %s", run.name, sent, why)
					}
				}
			}
		}
	}
}

func TestAPageShowsACauseOnce(t *testing.T) {
	var all []verdict.Scenario
	for i := range 300 {
		all = append(all, scenario(fmt.Sprintf("items/%d", i), step(3, "1", "GET /items", printed("8d1f0c2a", difference("value", "body /a", "the values differ", "1", "2")))))
	}
	all = append(all, scenario("items/other", step(3, "1", "GET /items", printed("00000000", difference("value", "body /b", "the values differ", "1", "2")))))
	v := dataOf(t, pageOf(t, document(all...)))
	if len(v.Rows) != 2 || v.Rows[0].Scenarios != 300 || len(v.List) != 2 || v.List[0].Count != 300 || len(v.List[0].Also) != 299 || v.List[1].Count != 1 {
		t.Errorf("%d groups", len(v.List))
	}
}

func printed(fingerprint string, f verdict.Finding) verdict.Finding {
	f.Fingerprint = fingerprint
	return f
}

func TestWhatIsNewComesFirstAndWhatIsAcceptedLast(t *testing.T) {
	known := printed("aaaaaaaa", difference("value", "body /a", "the values differ", "1", "2"))
	known.Known = true
	old := printed("bbbbbbbb", difference("value", "body /b", "the values differ", "1", "2"))
	fresh := printed("cccccccc", difference("value", "body /c", "the values differ", "1", "2"))
	before := document(scenario("one", step(3, "1", "GET /", known), step(4, "2", "GET /", old)))
	after := document(scenario("one", step(3, "1", "GET /", known), step(4, "2", "GET /", old), step(5, "3", "GET /", fresh)))
	after.Changes = report.ChangesSince(before, "yesterday", after)
	var got []string
	for _, g := range dataOf(t, pageOf(t, after)).List {
		got = append(got, g.Place)
	}
	if want := []string{"body /c", "body /b", "body /a"}; !reflect.DeepEqual(got, want) {
		t.Errorf("groups %v, want %v", got, want)
	}
}

// A constant is found in several scenarios, and the page lists them.
func TestAPageHasTheScenariosOfAConstant(t *testing.T) {
	f := difference("constant", "body /build", "the reference returns the same value", `"a"`, `"b"`)
	f.With = []string{"items/two", "items/one", "elsewhere"}
	doc := document(scenario("items/one"), scenario("items/two", step(3, "1", "GET /", f)))
	if with := dataOf(t, pageOf(t, doc)).List[0].With; !slices.Equal(with, []int{1, 0}) {
		t.Errorf("the scenarios of the constant are %v", with)
	}
}
