package transcript

import (
	"bytes"
	"crypto/sha256"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// FuzzReadRun reads arbitrary run files.
func FuzzReadRun(f *testing.F) {
	whole := write(f, sample("ref"), sample("cand"))
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add([]byte("{}\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		n := 0
		footer, err := ReadRun(bytes.NewReader(file), nil, func(*Transcript) error { n++; return nil })
		if err == nil && footer.Transcripts != n {
			t.Errorf("%d transcripts were read, and the footer has %d", n, footer.Transcripts)
		}
	})
}

// FuzzLine reads single lines of run files, which no checksum protects. A line that is read, written and read again
// must give the same result.
func FuzzLine(f *testing.F) {
	whole := write(f, sample("ref"))
	var bodies [][]byte
	for line := range bytes.Lines(whole) {
		f.Add(line)
		if bytes.HasPrefix(line, []byte(`{"body"`)) {
			bodies = append(bodies, bytes.Clone(line))
		}
	}
	if len(bodies) == 0 {
		f.Fatalf("no bodies in %s", whole)
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		rr := runReader{sum: sha256.New(), bodies: map[string][]byte{}}
		var first []*Transcript
		each := func(tr *Transcript) error {
			first = append(first, tr)
			return nil
		}
		for _, body := range bodies {
			if _, err := rr.line(body, false, nil, each); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := rr.line(line, false, nil, each); err != nil || len(first) == 0 {
			return
		}
		var again []*Transcript
		_, err := ReadRun(bytes.NewReader(write(t, first...)), nil, func(tr *Transcript) error {
			again = append(again, tr)
			return nil
		})
		if err != nil {
			t.Fatalf("what was read cannot be read again: %v", err)
		}
		if diff := cmp.Diff(first, again, cmpopts.IgnoreUnexported(Body{}), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("it was written and read again (-first +again):\n%s", diff)
		}
	})
}
