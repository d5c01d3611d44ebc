package skill

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/internal/testfile"
)

func TestWhatIsASkill(t *testing.T) {
	const found = "n/d/x"
	for _, tc := range []struct{ name, content, want string }{
		{"a skill", "---\nname: n\ndescription: d\n---\nx\n", found},
		{"with other line ends", "---\r\nname: n\r\ndescription: d\r\n---\r\n\r\n x\r\n", found},
		{"without an end", "---\nname: n\ndescription: d\n---", "n/d/"},
		{"more is said of it", "---\n# About\ndescription: d\nname: n\nother: [1]\n---\nx", found},
		{"names can have white space", "---\nname: ' n '\ndescription: \"d\\ne\"\n---\n\nx\n\n---\n", " n /d\ne/x\n\n---"},
		{"no head", "x", ""},
		{"nothing", "", ""},
		{"no first line", "\n---\nname: n\ndescription: d\n---\nx", ""},
		{"a byte order mark", "\uFEFF---\nname: n\ndescription: d\n---\nx", ""},
		{"another first line", "--- \nname: n\ndescription: d\n---\nx", ""},
		{"no end of the head", "---\nname: n\ndescription: d\n", ""},
		{"no YAML", "---\nname: [\n---\nx", ""},
		{"a name twice", "---\nname: n\nname: n\ndescription: d\n---\nx", ""},
		{"no mapping", "---\n- name\n---\nx", ""},
		{"no name", "---\ndescription: d\n---\nx", ""},
		{"a blank name", "---\nname: ' '\ndescription: d\n---\nx", ""},
		{"a number for a name", "---\nname: 7\ndescription: d\n---\nx", ""},
		{"no description", "---\nname: n\n---\nx", ""},
		{"null for a description", "---\nname: n\ndescription:\n---\nx", ""},
		{"no UTF-8", "---\nname: n\ndescription: d\n---\n\xff", ""},
		{"as large as it may be", "---\nname: n\ndescription: d\n---\nx" + strings.Repeat(" ", maxFile-32), found},
		{"too large", "---\nname: n\ndescription: d\n---\nx" + strings.Repeat(" ", maxFile-31), ""},
	} {
		place := t.TempDir()
		testfile.Write(t, filepath.Join(place, "one", fileName), tc.content)
		var got []string
		for _, s := range Find(place) {
			got = append(got, s.Name+"/"+s.Description+"/"+s.Text)
		}
		if got := strings.Join(got, "|"); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

func skill(name string) string { return "---\nname: " + name + "\ndescription: d\n---\nx" }

func TestWhereSkillsAre(t *testing.T) {
	a, b, elsewhere := t.TempDir(), t.TempDir(), t.TempDir()
	testfile.Write(t, filepath.Join(a, "x", fileName), skill("both"))
	testfile.Write(t, filepath.Join(a, "y", fileName), skill("first"))
	testfile.Write(t, filepath.Join(a, "z", fileName), skill("first"))
	testfile.Write(t, filepath.Join(a, fileName), skill("too high"))
	testfile.Write(t, filepath.Join(a, "deep", "er", fileName), skill("too deep"))
	testfile.Write(t, filepath.Join(a, "small", "skill.md"), skill("of another name"))
	testfile.Write(t, filepath.Join(b, "x", fileName), skill("both"))
	testfile.Write(t, filepath.Join(elsewhere, fileName), skill("linked"))
	link(t, elsewhere, filepath.Join(b, "link"))
	link(t, filepath.Join(b, "nowhere"), filepath.Join(b, "broken"))
	if err := os.MkdirAll(filepath.Join(b, "dir", fileName), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(b, "pipe"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(b, "pipe", fileName), 0o644); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range Find(a, filepath.Join(a, "none"), b) {
		got = append(got, s.Name+" "+s.Directory)
	}
	want := []string{"both " + filepath.Join(b, "x"), "first " + filepath.Join(a, "z"), "linked " + filepath.Join(b, "link")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func link(t *testing.T, to, path string) {
	t.Helper()
	if err := os.Symlink(to, path); err != nil {
		t.Fatal(err)
	}
}

func TestTheFirstOfTooManyAreUsed(t *testing.T) {
	place := t.TempDir()
	testfile.Write(t, filepath.Join(place, "0"), "no directory")
	for i := range maxDirectories {
		if err := os.Mkdir(filepath.Join(place, fmt.Sprintf("d%04d", i)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	testfile.Write(t, filepath.Join(place, "d0999", fileName), skill("last"))
	testfile.Write(t, filepath.Join(place, "d1000", fileName), skill("one too many"))
	if all := Find(place); len(all) != 1 || all[0].Name != "last" {
		t.Errorf("%+v", all)
	}
}

func TestFilesOfASkill(t *testing.T) {
	s := Skill{Directory: t.TempDir()}
	testfile.Write(t, filepath.Join(s.Directory, fileName), skill("n"))
	if got := s.Files(); got != nil {
		t.Errorf("no files: %q", got)
	}
	testfile.Write(t, filepath.Join(s.Directory, "b.txt"), "")
	testfile.Write(t, filepath.Join(s.Directory, "a", "c"), "")
	testfile.Write(t, filepath.Join(s.Directory, "a", "d", "e"), "")
	testfile.Write(t, filepath.Join(s.Directory, "Z"), "")
	if diff := cmp.Diff([]string{"Z", "a/c", "b.txt"}, s.Files()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for i := range maxFiles - 3 {
		testfile.Write(t, filepath.Join(s.Directory, fmt.Sprintf("d%04d", i)), "")
	}
	if got := s.Files(); len(got) != maxFiles || got[maxFiles-1] != "d0996" {
		t.Errorf("%d files, the last is %q", len(got), got[len(got)-1])
	}
	testfile.Write(t, filepath.Join(s.Directory, "e"), "")
	if got := s.Files(); len(got) != maxFiles || got[maxFiles-1] != "d0996" {
		t.Errorf("%d files, the last is %q", len(got), got[len(got)-1])
	}
}
