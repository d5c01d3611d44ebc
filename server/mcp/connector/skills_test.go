package connector

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/lockstep-dev/lockstep/internal/testfile"
	"github.com/lockstep-dev/lockstep/server/domain/extension"
)

// skilled is a set with the extension skills. Its session has a directory, or does not exist.
type skilled struct {
	t                *testing.T
	set              *Set
	everywhere, here string // the directory for skills of all sessions, and the session's directory
}

func newSkilled(t *testing.T, sessionID string) *skilled {
	t.Helper()
	k := &skilled{t: t, everywhere: t.TempDir(), here: t.TempDir()}
	c := *newSet(t).connector
	c.Sessions, c.Skills = sessions{"x": k.here}, []string{filepath.Join(k.everywhere, "none"), k.everywhere}
	k.set = c.NewSet(sessionID)
	t.Cleanup(k.set.Close)
	add(t, k.set, extension.Config{Type: "platform", Name: "Skills"})
	return k
}

// write creates a skill in a directory.
func (k *skilled) write(directory, head, text string) {
	k.t.Helper()
	testfile.Write(k.t, filepath.Join(directory, "SKILL.md"), "---\n"+head+"\n---\n"+text)
}

// offers checks the tools and the instructions for a model.
func (k *skilled) offers(tools, instructions string) {
	k.t.Helper()
	snapshot, err := k.set.Snapshot(k.t.Context())
	if err != nil || names(snapshot.Tools) != tools || snapshot.Instructions[0].Text != instructions {
		k.t.Errorf("%+v, %v", snapshot, err)
	}
}

// loads checks the answer of the tool.
func (k *skilled) loads(arguments, want string) {
	k.t.Helper()
	if got := said(k.t, k.set.Call(k.t.Context(), quiet("skills__loadSkill", arguments))); got != want {
		k.t.Errorf("%s: %q, want %q", arguments, got, want)
	}
}

func TestNoSkills(t *testing.T) {
	k := newSkilled(t, "x")
	k.offers("", "")
	k.loads(`{"name":"a"}`, "Error: Skill 'a' not found")
	k.loads(`{}`, "Error: Missing required parameter: name")
	k.loads(`{"name":[]}`, "Error: Invalid argument: name")
	if got := written(k.set.Call(t.Context(), quiet("skills__x", ""))); got != "error -32603: -32002: skills__x" {
		t.Error(got)
	}
}

func TestTheSkillsOfASessionTakePrecedence(t *testing.T) {
	k := newSkilled(t, "x")
	const list = "These skills are there. Load one with the tool skills__loadSkill when it helps:\n- a b: Two words\n- b: "
	k.write(filepath.Join(k.everywhere, "1"), "{name: b, description: Everywhere}", "Everywhere.")
	k.write(filepath.Join(k.here, ".claude/skills/1"), "{name: b, description: Of Claude}", "Of Claude.")
	k.write(filepath.Join(k.here, ".claude/skills/2"), `{name: " a\n b", description: " Two\n words "}`, "Twice.")
	k.offers("skills__loadSkill", list+"Of Claude")
	k.loads(`{"name":"b"}`, "# Skill: b\n\nOf Claude.\n\n")
	k.loads(`{"name":" a\n b"}`, "# Skill:  a\n b\n\nTwice.\n\n")
	k.loads(`{"name":"a b"}`, "Error: Skill 'a b' not found")

	k.write(filepath.Join(k.here, ".goose/skills/mine"), "{name: b, description: Mine}", "Mine.")
	k.offers("skills__loadSkill", list+"Mine")
	k.loads(`{"name":"b"}`, "# Skill: b\n\nMine.\n\n")
}

func TestASkillNamesItsFiles(t *testing.T) {
	k := newSkilled(t, "x")
	mine := filepath.Join(k.here, ".goose/skills/mine")
	k.write(mine, "{name: b, description: Mine}", "\nMine.\n\nAll of it.\n")
	if err := os.MkdirAll(filepath.Join(mine, "more", "deep"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.txt", "more/b", "more/deep/c"} {
		testfile.Write(t, filepath.Join(mine, name), "")
	}
	k.loads(`{"name":"b"}`, "# Skill: b\n\nMine.\n\nAll of it.\n\n## Supporting Files\n\nSkill directory: "+mine+"\n\n- a.txt\n- more/b\n")
	if err := errors.Join(os.RemoveAll(filepath.Join(mine, "more")), os.Remove(filepath.Join(mine, "a.txt"))); err != nil {
		t.Fatal(err)
	}
	k.write(mine, "{name: b, description: Mine}", " \n")
	k.loads(`{"name":"b"}`, "# Skill: b\n\n\n\n")
}

func TestSkillsWithoutASession(t *testing.T) {
	k := newSkilled(t, "nobody")
	k.write(filepath.Join(k.everywhere, "1"), "{name: b, description: Everywhere}", "Everywhere.")
	k.write(filepath.Join(k.here, ".goose/skills/1"), "{name: b, description: Here}", "Here.")
	k.loads(`{"name":"b"}`, "# Skill: b\n\nEverywhere.\n\n")
}
