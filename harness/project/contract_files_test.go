package project

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFilesOfAContractStayInItsRepository(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"repository/.git/HEAD": "", "repository/api/openapi.yaml": "{}", "repository/common.yaml": "a: 1\n", "secret.yaml": "b: 2\n", "folder/openapi.yaml": "{}", "folder/own.yaml": "c: 3\n"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(dir, "repository", "link.yaml")
	if err := os.Symlink(filepath.Join(dir, "secret.yaml"), link); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ contract, file, text, says string }{
		{"repository/api/openapi.yaml", "repository/common.yaml", "a: 1\n", ""},
		{"repository/api/openapi.yaml", "secret.yaml", "", "is outside of"},
		{"repository/api/openapi.yaml", "repository/link.yaml", "", "is outside of"},
		{"repository/api/openapi.yaml", "repository/none.yaml", "", "no such file"},
		{"folder/openapi.yaml", "folder/own.yaml", "c: 3\n", ""},
		{"folder/openapi.yaml", "secret.yaml", "", "is outside of"},
	} {
		files := NewContractFiles(filepath.Join(dir, tc.contract))
		text, err := files.Open(filepath.Join(dir, tc.file))
		switch {
		case string(text) != tc.text || (err == nil) != (tc.says == "") || err != nil && !strings.Contains(err.Error(), tc.says):
			t.Errorf("%s from %s: %q, %v", tc.file, tc.contract, text, err)
		case len(files.Names) != 1:
			t.Errorf("%s is not watched", tc.file)
		}
	}
}
