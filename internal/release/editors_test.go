package release

import (
	"encoding/json"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// published is where the files of the repository are.
const published = "https://raw.githubusercontent.com/lockstep-dev/lockstep/main/"

// TestEditorsFindTheSchemas checks that each schema has the URL of its file as its $id, so that editors that go by one
// or by the other find the same; that what it refers to is there; and that the URLs in the documentation lead to one.
func TestEditorsFindTheSchemas(t *testing.T) {
	ref := regexp.MustCompile(`"\$ref": *"([^"#]+)`)
	schemas := map[string]bool{}
	for _, dir := range []string{"harness", "internal"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".schema.json") {
				return err
			}
			name, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			at := published + filepath.ToSlash(name)
			var schema struct {
				ID string `json:"$id"`
			}
			data := testfile.Read(t, path)
			if err := json.Unmarshal(data, &schema); err != nil || schema.ID != at {
				t.Errorf("the $id of %s is %s, %v; want %s", name, schema.ID, err, at)
			}
			for _, m := range ref.FindAllStringSubmatch(string(data), -1) {
				to, err := url.JoinPath(at, "..", m[1])
				if err != nil {
					return err
				}
				if _, err := os.Stat(filepath.Join(root, strings.TrimPrefix(to, published))); err != nil {
					t.Errorf("%s refers to %s: %v", name, m[1], err)
				}
			}
			schemas[at] = true
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	shown := regexp.MustCompile(regexp.QuoteMeta(published)+`[^\s"]*`).FindAllString(testfile.Text(t, filepath.Join(root, "docs/install.md")), -1)
	if len(shown) < 3 {
		t.Errorf("docs/install.md has only %d schemas", len(shown))
	}
	for _, u := range shown {
		if !schemas[u] {
			t.Errorf("docs/install.md names %s, which is no schema", u)
		}
	}
}
