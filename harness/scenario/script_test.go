package scenario

import (
	"reflect"
	"runtime"
	"sync"
	"testing"
	"weak"
)

const table = head + `repeat: {big: {text: x, times: 3}}
vars: {name: "a-${{ row.n }}"}
table:
  - {name: one, n: 1}
  - {name: two, n: 2}
steps:
  - {http: GET /, expect: {status: 200, json: {a: [1, "${{ name }}"]}}, compare: {headers: [X]}}
  - {parallel: {l: [{http: "GET /${{ big }}", compare: {volatile: [{at: $.t, kind: time, because: it is one}]}}], r: [{http: GET /}]}}
teardown: [{http: DELETE /, allow_status: [404]}]
`

func TestAScriptThatWasCollectedIsDecodedAgainToTheSame(t *testing.T) {
	s := parse(t, table)
	first := s.Script()
	held, again := weak.Make(first), s.source.decode()
	if !reflect.DeepEqual(again, first) {
		t.Errorf("decoded again to\n%+v, not\n%+v", again, first)
	}
	runtime.KeepAlive(first)
	for range 3 { // the last use of first is above
		runtime.GC()
	}
	if held.Value() != nil {
		t.Error("a script is kept that nobody holds")
	}
	if got := s.Script(); !reflect.DeepEqual(got, again) {
		t.Errorf("after the collection it is\n%+v, not\n%+v", got, again)
	}
}

func TestAScriptInUseIsSharedByAllRows(t *testing.T) {
	rows, problems := Parse("f", "a/b", []byte(table))
	if len(problems) > 0 || len(rows) != 2 {
		t.Fatalf("%d rows, %v", len(rows), problems)
	}
	held := rows[0].Script()
	runtime.GC()
	var asked sync.WaitGroup
	for i := range 8 {
		asked.Go(func() {
			if got := rows[i%2].Script(); got != held {
				t.Errorf("row %d has a script of its own", i%2)
			}
		})
	}
	asked.Wait()
	runtime.KeepAlive(held)
}

func TestRulesOfStepsStayWithTheScenario(t *testing.T) {
	s := parse(t, table)
	var steps []string
	for _, r := range s.StepRules {
		steps = append(steps, r.Step)
	}
	if want := []string{"1", "2.l.1"}; !reflect.DeepEqual(steps, want) {
		t.Errorf("rules of the steps %q, want %q", steps, want)
	}
}
