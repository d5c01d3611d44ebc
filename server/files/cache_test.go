package files_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/internal/testfile"
	"github.com/lockstep-dev/lockstep/server/files"
)

var errNotParsed = errors.New("not parsed")

// counting returns a cache of texts in upper case, and how often it has parsed one.
func counting() (*files.Cache[string], *atomic.Int64) {
	var parsed atomic.Int64
	return files.NewCache(files.MaxSettings, func(text []byte) (string, error) {
		parsed.Add(1)
		if strings.HasPrefix(string(text), "!") {
			return "", errNotParsed
		}
		return strings.ToUpper(string(text)), nil
	}), &parsed
}

func TestOnlyTextsThatDifferAreParsed(t *testing.T) {
	c, parsed := counting()
	path := filepath.Join(t.TempDir(), "file")
	long := time.Now().Add(-time.Hour)
	for _, step := range []struct {
		do    func()
		text  string // "-" if there is no file
		want  error
		total int64
	}{
		{func() {}, "-", os.ErrNotExist, 0},
		{func() { testfile.Write(t, path, "abc") }, "abc", nil, 1},
		{func() {}, "abc", nil, 1},
		{func() { testfile.Write(t, path, "abc") }, "abc", nil, 1},
		{func() { testfile.Write(t, path, "abd") }, "abd", nil, 2},
		{func() { os.Chtimes(path, long, long) }, "abd", nil, 2},
		{func() { testfile.Write(t, path, "abe"); os.Chtimes(path, long, long) }, "abe", nil, 3},
		{func() { testfile.Write(t, path, "!") }, "!", errNotParsed, 4},
		{func() {}, "!", errNotParsed, 4},
		{func() { testfile.Write(t, path, "") }, "", nil, 5},
		{func() {}, "", nil, 5},
		{func() { os.Remove(path) }, "-", os.ErrNotExist, 5},
		{func() { testfile.Write(t, path, "") }, "", nil, 6},
		{func() { os.Truncate(path, files.MaxSettings+1) }, "-", files.ErrTooLarge, 6},
	} {
		step.do()
		text, value, err := c.Read(path)
		if !errors.Is(err, step.want) || string(text) != strings.Trim(step.text, "-") || err == nil && value != strings.ToUpper(step.text) || parsed.Load() != step.total {
			t.Errorf("%.9q, %q, %v after %d; want %q, %v after %d", text, value, err, parsed.Load(), step.text, step.want, step.total)
		}
	}
}

// TestACacheIsBounded reads files of 12 MiB in total, from several goroutines.
func TestACacheIsBounded(t *testing.T) {
	var parsed atomic.Int64
	c := files.NewCache(files.MaxSettings, func(text []byte) (int, error) {
		parsed.Add(1)
		return len(text), nil
	})
	dir := t.TempDir()
	in := func(i int) string { return filepath.Join(dir, fmt.Sprint(i)) }
	for i := range 12 {
		testfile.Write(t, in(i), strings.Repeat("x", 1<<20))
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range 12 {
				if _, value, err := c.Read(in(i)); err != nil || value != 1<<20 {
					t.Errorf("%d: %d bytes, %v", i, value, err)
				}
			}
		})
	}
	all.Wait()
	c.Read(in(11))
	parsed.Store(0)
	if c.Read(in(11)); parsed.Load() != 0 {
		t.Error("the last file was parsed again")
	}
	for i := range 12 {
		c.Read(in(i))
	}
	if parsed.Load() < 4 {
		t.Errorf("of 12 MiB, all but %d MiB are kept", parsed.Load())
	}
}
