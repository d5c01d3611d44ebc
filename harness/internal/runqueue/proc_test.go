package runqueue

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// proc writes files in the form of /proc.
func proc(t *testing.T, files map[string]string) string {
	dir := t.TempDir()
	for name, text := range files {
		testfile.Write(t, filepath.Join(dir, name), text)
	}
	return dir
}

func TestTheNumbersOfTheSystemAreRead(t *testing.T) {
	dir := proc(t, map[string]string{
		"7/stat":              "7 (a ) server (x) S 1 5 5 0 -1 4194304 97 0 0 0 12 3 100 20 20 0 1 0 4503878 3133440 362",
		"7/task/7/schedstat":  "250501115 211041021 1450\n",
		"7/task/71/schedstat": "1 2000000 3\n",
		"7/task/72/schedstat": "0 0 0\n", // not counted
		"8/stat":              "8 (child) S 7 5 5 0 -1 4194304 97 0 0 0 1 1 0 0 20 0 1 0 4503878 3133440 362",
		"8/task/8/schedstat":  "5 6 7\n",
		"9/stat":              "9 (other) S 1 9 9 0 -1 4194304 97 0 0 0 99 99 0 0 20 0 1 0 4503878 3133440 362",
		"9/task/9/schedstat":  "5 6 7\n",
	})
	got, ok := read(dir, []int{7, 8, 77}) // 77 has ended
	want := Use{At: got.At, Ran: 1370 * time.Millisecond, Waited: map[int]time.Duration{7: 211041021, 71: 2000000, 8: 6}}
	if diff := cmp.Diff(want, got); diff != "" || !ok {
		t.Errorf("%t (-want +got):\n%s", ok, diff)
	}
}

func TestWithoutNumbersOfTheSystemNothingIsKnown(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"no /proc":             {},
		"no schedstat":         {"7/stat": "7 (x) S 1 5", "7/task/7/stat": ""},
		"it does not count":    {"7/stat": "7 (x) S 1 5", "7/task/7/schedstat": "0 0 0\n"},
		"it says other things": {"7/stat": "7 (x) S 1 5", "7/task/7/schedstat": "1 2\n"},
	} {
		if got, ok := read(proc(t, files), []int{7}); ok {
			t.Errorf("%s: %v", name, got)
		}
	}
}
