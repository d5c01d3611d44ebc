package scaffold

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/harness/contract"
)

// TestPublicDocuments reads all OpenAPI documents below a folder, and generates a project from each. `make
// test-documents` fetches well-known ones. Scenarios that are set aside although their requests are valid, because they
// destroy something or show other scenarios, count as drafted.
func TestPublicDocuments(t *testing.T) {
	folder := os.Getenv("LOCKSTEP_DOCUMENTS")
	if folder == "" {
		t.Skip("make test-documents runs it")
	}
	var read, refused, operations, drafts int
	for _, path := range documentsBelow(t, folder) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name, _ := filepath.Rel(folder, path)
		allocated, before := allocations(), time.Now()
		doc, err := contract.Parse(data, &contract.Options{File: filepath.Base(path), KeepTree: true})
		took, needed := time.Since(before), allocations()-allocated
		var problems contract.Problems
		switch {
		case errors.As(err, &problems):
			refused++
			t.Logf("%s is refused: %d mistakes, the first: %v", name, len(problems), problems[0])
			if problems[0].Line == 0 || problems[0].What == "" {
				t.Errorf("%s: the mistake has no line: %v", name, problems[0])
			}
			continue
		case err != nil:
			t.Errorf("%s: %v", name, err)
			continue
		}
		read++
		p := New(doc, &Options{Destructive: true, Targets: []Target{{Name: "one", Command: []string{"./one"}}}})
		whole := 0
		for _, s := range p.Scenarios {
			if s.Missing == "" {
				whole++
			} else if testing.Verbose() {
				t.Logf("%s: %s: %.200s", name, s.Operation, s.Missing)
			}
		}
		operations, drafts = operations+len(p.Scenarios), drafts+whole
		for _, n := range doc.Notes() {
			if n.Line == 0 {
				t.Errorf("%s: the note has no line: %v", name, n)
			}
		}
		if len(data) > 1<<20 {
			t.Logf("%s: %d bytes read in %v; %d of %d requests drafted, %d notes; %d MB allocated while reading", name, len(data), took, whole, len(p.Scenarios), len(doc.Notes()), needed>>20)
			if needed > 30*len(data) {
				t.Errorf("%s: reading %d bytes allocated %d, want at most 30 times the size", name, len(data), needed)
			}
		}
	}
	t.Logf("%d documents read, %d refused with a line; %d of %d requests drafted", read, refused, drafts, operations)
	if read+refused < 100 {
		t.Errorf("there are %d documents below %s, want 100 or more", read+refused, folder)
	}
	if drafts*100 < operations*95 {
		t.Errorf("%d of %d requests were drafted, want 95 %%", drafts, operations)
	}
}

// allocations returns how many bytes the program has allocated.
func allocations() int {
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return int(memory.TotalAlloc)
}

// documentsBelow lists the files that say that they are OpenAPI documents. Of the ones with expanded references, which are
// the largest, it leaves out all.
func documentsBelow(t *testing.T, folder string) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !slices.Contains([]string{".json", ".yaml", ".yml"}, filepath.Ext(path)) || strings.Contains(path, ".deref.") {
			return err
		}
		head := make([]byte, 4096)
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		n, _ := file.Read(head)
		if text := string(head[:n]); strings.Contains(text, "openapi") && strings.Contains(text, "3.") || strings.Contains(text, "swagger") && strings.Contains(text, "2.0") {
			if filepath.Base(path) != "package.json" && filepath.Base(path) != ".package-lock.json" {
				paths = append(paths, path)
			}
		}
		return file.Close()
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(paths, cmp.Compare[string])
	return paths
}
