package problem

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAProblemHasAPlaceAMessageAndAFix(t *testing.T) {
	for want, p := range map[string]Problem{
		"a.yaml:3:7: unknown key\n\tfix: remove it": {"a.yaml", 3, 7, "unknown key", "remove it"},
		"a.yaml:3: not YAML":                        {"a.yaml", 3, 0, "not YAML", ""},
		"a.yaml: empty":                             {"a.yaml", 0, 0, "empty", ""},
		"3:7: unknown key":                          {"", 3, 7, "unknown key", ""},
		"empty":                                     {"", 0, 0, "empty", ""},
		"Löwe's \\ \"a b\".yaml: empty":             {`Löwe's \ "a b".yaml`, 0, 0, "empty", ""},
		`"a\n::error::\x1b\xff":3: empty`:           {"a\n::error::\x1b\xff", 3, 0, "empty", ""},
	} {
		if got := p.Error(); got != want {
			t.Errorf("%#v: %q, want %q", p, got, want)
		}
	}
}

func TestProblemsAreInOrderAndEachOnce(t *testing.T) {
	ps := Problems{{"b", 1, 0, "x", ""}, {"a", 2, 9, "x", ""}, {"a", 2, 1, "x", ""}, {"a", 2, 1, "x", ""}, {"a", 10, 0, "x", ""}}
	want := Problems{{"a", 2, 1, "x", ""}, {"a", 2, 9, "x", ""}, {"a", 10, 0, "x", ""}, {"b", 1, 0, "x", ""}}
	if diff := cmp.Diff(want, ps.Sort()); diff != "" {
		t.Errorf("Sort (-want +got):\n%s", diff)
	}
	if Problems(nil).Err() != nil || ps.Err() == nil {
		t.Error("no problems are no error, and some are one")
	}
	if got := want[:2].Error(); got != "a:2:1: x\na:2:9: x" {
		t.Errorf("Error: %q", got)
	}
}

func TestNearest(t *testing.T) {
	known := []string{"name", "comments", "events", "client-tools/register"}
	for word, want := range map[string]string{
		"nmae": "name", "Event": "events", "comment": "comments", "NAME": "name", "client-tool/regsiter": "client-tools/register",
		"client-tools": "client-tools/register", "even": "events", "com": "comments", "co": "",
		"bame": "name", "nmea": "name", "bane": "", "schema": "", "": "", "x": "", strings.Repeat("e", 1000): "",
	} {
		if got, ok := Nearest(word, known); got != want || ok != (want != "") {
			t.Errorf("Nearest(%q) = %q, %t, want %q", word, got, ok, want)
		}
	}
	if got := OneOf("zzz", known); got != "use one of: client-tools/register, comments, events, name" {
		t.Errorf("OneOf: %q", got)
	}
	if got := OneOf("evnts", known); got != `did you mean "events"?` {
		t.Errorf("OneOf: %q", got)
	}
	if got := DidYouMean("zzz", known); got != "" {
		t.Errorf("DidYouMean: %q", got)
	}
}
