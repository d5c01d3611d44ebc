package jsonwire_test

import (
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

func TestTheElementsOfAMemberAreCounted(t *testing.T) {
	for in, want := range map[string]int{
		`{"a":[1,[2,3],{"a":[4]}]}`:                    3,
		"\uFEFF" + ` {"b":[0,0],"\u0061":["\ud800"]} `: 1,
		"{\"a\":[\"\xff\",0]}":                         2,
		`{"a":[1,2],"a":[],"b":[1]}`:                   0,
		`{"a":[],"a":[1,2],"b":{"a":[1]}}`:             2,
		`{"a":[1],"a":{"x":1}}`:                        0,
		`{"a":[1],"a":"x"}`:                            0,
		`{"b":{"a":[1]}}`:                              0,
		`["a",[1]]`:                                    0,
		`{}`:                                           0,
		``:                                             0,
		`{"a":[1]`:                                     0,
		`{"a":[1]}0`:                                   0,
		`{"a":[` + deep(8998) + `]}`:                   1,
		`{"a":[` + deep(8999) + `]}`:                   0,
	} {
		if got := jsonwire.CountElements([]byte(in), "a"); got != want {
			t.Errorf("%.60s: %d, want %d", in, got, want)
		}
	}
}

func deep(levels int) string { return strings.Repeat("[", levels) + strings.Repeat("]", levels) }
