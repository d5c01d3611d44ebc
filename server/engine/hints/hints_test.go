package hints

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// write writes files below a directory.
func write(t *testing.T, directory string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		testfile.Write(t, filepath.Join(directory, name), text)
	}
}

func TestFilesInFiles(t *testing.T) {
	outside := t.TempDir()
	write(t, outside, map[string]string{"secret": "secret"})
	for name, tc := range map[string]struct {
		files map[string]string
		want  string
	}{
		"named":                {map[string]string{"b": " B\n"}, "Read\n--- Content from b ---\nB\n--- End of b ---."},
		"missing":              {nil, "Read\n@b."},
		"itself":               {map[string]string{"b": "@b @AGENTS.md"}, "Read\n--- Content from b ---\n@b @AGENTS.md\n--- End of b ---."},
		"relative":             {map[string]string{"b": "@d/c", "d/c": "@e @../x", "d/e": "E", "x": "X"}, "Read\n--- Content from b ---\n--- Content from d/c ---\n--- Content from e ---\nE\n--- End of e --- --- Content from ../x ---\nX\n--- End of ../x ---\n--- End of d/c ---\n--- End of b ---."},
		"four deep":            {map[string]string{"b": "@c", "c": "@d", "d": "@e", "e": "E"}, "Read\n--- Content from b ---\n--- Content from c ---\n--- Content from d ---\n@e\n--- End of d ---\n--- End of c ---\n--- End of b ---."},
		"outside":              {map[string]string{"b": "@../x @" + outside + "/secret @link a@c"}, "Read\n--- Content from b ---\n@../x @" + outside + "/secret @link a@c\n--- End of b ---."},
		"a directory":          {map[string]string{"b/c": "C"}, "Read\n@b."},
		"no UTF-8":             {map[string]string{"b": "\xff"}, "Read\n@b."},
		"too large":            {map[string]string{"b": strings.Repeat("x", maxFile+1)}, "Read\n@b."},
		"a file that is empty": {map[string]string{"b": ""}, "Read\n--- Content from b ---\n\n--- End of b ---."},
	} {
		project := t.TempDir()
		write(t, project, map[string]string{"AGENTS.md": "Read\n@b.\n\n", ".git/x": "", "c": "C"})
		if err := os.Symlink(filepath.Join(outside, "secret"), filepath.Join(project, "link")); err != nil {
			t.Fatal(err)
		}
		write(t, project, tc.files)
		if got := Read([]string{"AGENTS.md", "link"}, outside, project); got != "### Project Hints\n"+tc.want {
			t.Errorf("%s:\n got %.300q\nwant %q", name, got, "### Project Hints\n"+tc.want)
		}
	}
}

func TestManyFilesAreBounded(t *testing.T) {
	project := t.TempDir()
	write(t, project, map[string]string{"a": strings.Repeat("@b ", maxFile/3), "b": strings.Repeat("@c ", 1000), "c": "@d", "d": ""})
	if got := Read([]string{"a"}, project, project); len(got) > 3*maxAll {
		t.Errorf("%d bytes", len(got))
	}
}

func TestNames(t *testing.T) {
	for setting, want := range map[string]string{
		"": ".goosehints AGENTS.md", `"x"`: ".goosehints AGENTS.md", `["a",5]`: ".goosehints AGENTS.md", `["a","","b/c","a","d"]`: "a d", "[]": "",
	} {
		if got := strings.Join(Names([]byte(setting)), " "); got != want {
			t.Errorf("%s: %s", setting, got)
		}
	}
}
