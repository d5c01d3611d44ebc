// Package testfile writes, reads and removes files in tests. An error ends the test.
package testfile

import (
	"archive/zip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Write writes a file, and makes the directories above it.
func Write[T string | []byte](t testing.TB, path string, content T) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Read returns the content of a file.
func Read(t testing.TB, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// Text returns the content of a file as a string.
func Text(t testing.TB, path string) string {
	t.Helper()
	return string(Read(t, path))
}

// Remove removes a file.
func Remove(t testing.TB, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

// Program returns the path of the test binary, for tests that run it as another program.
func Program(t testing.TB) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Unzip returns the file names of an archive in order, and the contents. All of them must be deflated.
func Unzip(t testing.TB, archive string) (names []string, contents map[string]string) {
	t.Helper()
	z, err := zip.NewReader(strings.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	contents = map[string]string{}
	for _, entry := range z.File {
		if entry.Method != zip.Deflate {
			t.Errorf("%s is not deflated", entry.Name)
		}
		f, err := entry.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(f)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, entry.Name)
		contents[entry.Name] = string(content)
	}
	return names, contents
}
