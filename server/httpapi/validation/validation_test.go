package validation_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/gen/api"
	"github.com/lockstep-dev/lockstep/internal/ratio"
	"github.com/lockstep-dev/lockstep/server/httpapi/validation"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// faulty has bodies with many faults, and functions that find them.
var faulty = map[string]struct {
	body func(n int) string
	find func(body jsonwire.Text, found *validation.Issues)
}{
	"elements of a wrong type": {
		func(n int) string { return "[" + strings.Repeat("0,", n) + "0]" },
		func(body jsonwire.Text, found *validation.Issues) {
			for i, element := range body.Elements() {
				found.Enter(validation.Step{Index: i})
				found.Type(api.InvalidTypeIssueExpectedString, element)
				found.Leave()
			}
		},
	},
	"unions": {
		func(n int) string { return "[" + strings.Repeat("{},", n) + "0]" },
		func(body jsonwire.Text, found *validation.Issues) {
			for i, element := range body.Elements() {
				found.Enter(validation.Step{Index: i})
				found.Enter(validation.Step{Key: "result"})
				found.UnionType(element)
				found.NoMember()
				found.Leave()
				found.Leave()
			}
		},
	},
}

// refused returns the sizes of a body and of its answer, and the memory for making the answer.
func refused(t *testing.T, kind string, n int) (body, answer int, allocated uint64) {
	t.Helper()
	text, err := jsonwire.Parse([]byte(faulty[kind].body(n)))
	if err != nil {
		t.Fatal(err)
	}
	recorder := httptest.NewRecorder()
	allocated = ratio.Allocated(func() {
		var found validation.Issues
		faulty[kind].find(text, &found)
		if err := validation.Refuse(text, &found).Write(recorder); err != nil {
			t.Fatal(err)
		}
	})
	return len(text), recorder.Body.Len(), allocated
}

// TestTheAnswerToManyFaultsIsBounded: 600 KB of faults must not lead to an answer of 85 MB. The answer and the memory
// for it are limited, whatever the body.
func TestTheAnswerToManyFaultsIsBounded(t *testing.T) {
	for kind := range faulty {
		_, small, few := refused(t, kind, 1_000)
		body, large, many := refused(t, kind, 100_000)
		if large > small || large > 64<<10 {
			t.Errorf("%s: %d bytes are answered with %d, and a body with fewer faults with %d", kind, body, large, small)
		}
		if many > 2*few {
			t.Errorf("%s: 100,000 faults take %d bytes of memory, and 1,000 take %d", kind, many, few)
		}
	}
}

func BenchmarkRefuse(b *testing.B) {
	for kind, f := range faulty {
		text, err := jsonwire.Parse([]byte(f.body(100_000)))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(kind, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				var found validation.Issues
				f.find(text, &found)
				validation.Refuse(text, &found)
			}
		})
	}
}
