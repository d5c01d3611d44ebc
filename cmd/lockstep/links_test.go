//go:build unix

package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/internal/schemadoc"
)

var (
	// link matches a link or an image, whose text may span lines.
	link     = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	codeSpan = regexp.MustCompile("`[^`\n]*`")
	heading  = regexp.MustCompile(`(?m)^#{1,6} +(.*)$`)
	anchorID = regexp.MustCompile(`<a id="([^"]+)">`)
	linkText = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
)

// anchors returns the targets that links into a document may name. A repeated heading gets a number.
func anchors(text string) map[string]bool {
	out := map[string]bool{}
	text = fence.ReplaceAllString(text, "")
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		slug := schemadoc.Slug(linkText.ReplaceAllString(m[1], "$1"))
		name := slug
		for i := 1; out[name]; i++ {
			name = fmt.Sprintf("%s-%d", slug, i)
		}
		out[name] = true
	}
	for _, m := range anchorID.FindAllStringSubmatch(text, -1) {
		out[m[1]] = true
	}
	return out
}

// links returns the targets of a document's links.
func links(text string) (out []string) {
	text = codeSpan.ReplaceAllString(fence.ReplaceAllString(text, ""), "")
	for _, m := range link.FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	return out
}

// A tree is a set of files that link to each other.
type tree struct {
	files fs.FS
	known map[string]map[string]bool // the anchors of each file
}

// broken says what is wrong with a link in a file. It ignores links to other hosts.
func (t *tree) broken(file, target string) error {
	if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
		return nil
	}
	path, anchor, named := strings.Cut(target, "#")
	if path != "" {
		file = filepath.ToSlash(filepath.Join(filepath.Dir(file), path))
		if _, err := fs.Stat(t.files, file); err != nil {
			return fmt.Errorf("there is no %s", file)
		}
	}
	if !named {
		return nil
	}
	if t.known[file] == nil {
		data, err := fs.ReadFile(t.files, file)
		if err != nil {
			return err
		}
		t.known[file] = anchors(string(data))
	}
	if !t.known[file][anchor] {
		return fmt.Errorf("%s has no heading #%s", file, anchor)
	}
	return nil
}

func TestLinksInTheDocumentationLeadSomewhere(t *testing.T) {
	tr, found := &tree{os.DirFS(root), map[string]map[string]bool{}}, 0
	for name, text := range documentation(t) {
		for _, target := range links(text) {
			found++
			if err := tr.broken(name, target); err != nil {
				t.Errorf("%s links to %s, but %v", name, target, err)
			}
		}
	}
	if found < 200 {
		t.Errorf("only %d links were found", found)
	}
}

func TestTheReadmeLeadsToEveryDocument(t *testing.T) {
	all := documentation(t)
	there := map[string]bool{}
	for _, target := range links(all["README.md"]) {
		path, _, _ := strings.Cut(target, "#")
		there[path] = true
	}
	for name := range all {
		if name != "README.md" && name != "docs/mutants.md" && !there[name] { // docs/mutation.md links that one
			t.Errorf("README.md does not lead to %s", name)
		}
	}
}

// TestLinksThatLeadNowhereAreFound checks that links are found, and that broken ones are reported.
func TestLinksThatLeadNowhereAreFound(t *testing.T) {
	text := "# One `two`\n\n## One two\n\n[a\nb](missing.md), ![c](#one-two-1) and [d](#three), `[e](code.md)`, [f](https://example.com/#x)\n\n" +
		"```\n# four\n[g](fenced.md)\n```\n<a id=\"five\"></a> [h](#five) [i](../README.md#lockstep) [j](../README.md#lokstep) [k](#four)\n"
	tr := &tree{fstest.MapFS{"docs/x.md": {Data: []byte(text)}, "README.md": {Data: []byte("# lockstep\n")}}, map[string]map[string]bool{}}
	var got []string
	for _, target := range links(text) {
		if err := tr.broken("docs/x.md", target); err != nil {
			got = append(got, err.Error())
		}
	}
	want := []string{
		"there is no docs/missing.md", "docs/x.md has no heading #three", "README.md has no heading #lokstep", "docs/x.md has no heading #four",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("broken links (-want +got):\n%s", diff)
	}
}
