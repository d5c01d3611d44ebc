package server_test

import (
	"archive/zip"
	"io"
	"strings"
	"testing"
)

// unzip returns the file names of an archive in order, and the contents.
func unzip(t *testing.T, archive string) (names []string, contents map[string]string) {
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
