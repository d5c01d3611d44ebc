package mutate_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/internal/archive"
	"github.com/lockstep-dev/lockstep/harness/lab/mutate"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

var update = flag.Bool("update", false, "rewrite the golden file")

// To examine a survivor again, the same seed must give the same mutants. The golden file has a line for each operator:
// the number of its mutants of the fixtures, and the first digits of a SHA-256 over their contents.
func TestTheSameSeedGivesTheSameMutantsByteForByte(t *testing.T) {
	const golden = "testdata/mutants.txt"
	var got bytes.Buffer
	for _, op := range mutate.Operators() {
		n, sum := 0, sha256.New()
		for _, s := range []*mutate.Subject{subject(), {Reference: reference.packs(), Candidate: candidate.packs(), Rules: rules}} {
			for m := range op.Mutants(s, 7) {
				n++
				fmt.Fprintf(sum, "%q %q %q %q\n", m.Place, m.Before, m.After, m.Explain(s))
				sum.Write(content(t, m.Build()))
			}
		}
		fmt.Fprintf(&got, "%-32s %5d %x\n", op.Name, n, sum.Sum(nil)[:8])
	}
	if *update {
		testfile.Write(t, golden, got.Bytes())
	}
	want := testfile.Read(t, golden)
	if diff := gocmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("mutants (-want +got):\n%s", diff)
	}
}

// content returns everything in a transcript. For an archive, it returns the entries, because compressed bytes may
// change with the version of Go.
func content(t *testing.T, of *transcript.Transcript) []byte {
	t.Helper()
	out, err := json.Marshal(of)
	if err != nil {
		t.Fatal(err)
	}
	for s := range of.AllSteps() {
		for _, x := range s.Exchanges {
			out = append(out, x.Request.Body.Bytes...)
			if r := x.Response; r != nil {
				out = append(out, archive.Content(r.Header.ContentType(), r.Body.Bytes)...)
			}
		}
	}
	return out
}
