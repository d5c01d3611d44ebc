package jsonwire_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/internal/ratio"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

func TestARepeatedNameKeepsItsFirstPlaceAndItsLastValue(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":1,"b":2,"a":3}`: `{"a":3,"b":2}`,
		`{"a":{"x":1,"x":2},"b":[{"y":1,"y":{"z":1,"z":[]}}],"a":{"x":[{"w":0,"w":1}],"v":5,"v":6}}`: `{"a":{"x":[{"w":1}],"v":6},"b":[{"y":{"z":[]}}]}`,
		`[{"a":1,"a":2},{"a":1},{"":1,"":{"":2,"":3}},"{"]`:                                          `[{"a":2},{"a":1},{"":{"":3}},"{"]`,
		`{"a":{"a":{"a":1,"a":2},"a":0},"a":{"b":{"c":1,"c":2}},"d":{"e":1,"e":"}"}}`:                `{"a":{"b":{"c":2}},"d":{"e":"}"}}`,
		`{"\u0061":1,"a":"\ud800","a":[ ]}`:                                                          `{"a":[]}`,
	} {
		if got, err := jsonwire.Parse([]byte(in)); err != nil || string(got) != want {
			t.Errorf("%s:\n got %s, %v\nwant %s", in, got, err, want)
		}
	}
}

func nestedTwice(levels int) []byte {
	return []byte(strings.Repeat(`{"a":0,"a":`, levels) + "1" + strings.Repeat("}", levels))
}

// TestNestedRepeatedNamesAreLinear checks that four times as many levels take about four times the memory,
// and not sixteen times.
func TestNestedRepeatedNamesAreLinear(t *testing.T) {
	allocated := func(levels int) uint64 {
		body := nestedTwice(levels)
		var got jsonwire.Text
		var err error
		bytes := ratio.Allocated(func() { got, err = jsonwire.Parse(body) })
		if want := strings.Repeat(`{"a":`, levels) + "1" + strings.Repeat("}", levels); err != nil || string(got) != want {
			t.Fatalf("%d levels: %.60s, %v", levels, got, err)
		}
		return bytes
	}
	if few, many := allocated(2000), allocated(8000); many > 8*few {
		t.Errorf("%d bytes became %d", few, many)
	}
}

func BenchmarkParseRepeatedNames(b *testing.B) {
	for _, levels := range []int{4000, 8000} {
		b.Run(fmt.Sprint(levels), func(b *testing.B) {
			body := nestedTwice(levels)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := jsonwire.Parse(body); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
