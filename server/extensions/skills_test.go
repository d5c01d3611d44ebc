package extensions

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/lockstep-dev/lockstep/server/extension"
)

func TestSkillsOfASession(t *testing.T) {
	everywhere, here := t.TempDir(), t.TempDir()
	c := *newSet(t).connector
	c.Sessions, c.Skills = sessions{"x": here}, []string{filepath.Join(everywhere, "none"), everywhere}
	s := c.NewSet("x")
	defer s.Close()
	if err := s.Add(t.Context(), extension.Config{Type: "platform", Name: "skills"}); err != nil {
		t.Fatal(err)
	}
	write := func(directory, head, text string) {
		t.Helper()
		if err := os.MkdirAll(directory, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(directory, "SKILL.md"), []byte("---\n"+head+"\n---\n"+text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	offers := func(tools, instructions string) {
		t.Helper()
		snapshot, err := s.Snapshot(t.Context())
		if err != nil || names(snapshot.Tools) != tools || snapshot.Instructions[0].Text != instructions {
			t.Errorf("%+v, %v", snapshot, err)
		}
	}
	loads := func(arguments, want string) {
		t.Helper()
		if got := said(t, s.Call(t.Context(), quiet("skills__loadSkill", arguments))); got != want {
			t.Errorf("%s: %q, want %q", arguments, got, want)
		}
	}
	offers("", "")
	loads(`{"name":"a"}`, "Skill not found: a")

	write(filepath.Join(everywhere, "1"), "{name: b, description: Everywhere}", "Everywhere.")
	write(filepath.Join(here, ".claude/skills/1"), "{name: b, description: Of Claude}", "Of Claude.")
	write(filepath.Join(here, ".claude/skills/2"), `{name: " a\n b", description: " Two\n words "}`, "Twice.")
	const list = "These skills are there. Load one with the tool skills__loadSkill when it helps:\n- a b: Two words\n- b: "
	offers("skills__loadSkill", list+"Of Claude")
	loads(`{"name":"b"}`, "# Skill b\n\nOf Claude.")
	loads(`{"name":" a\n b"}`, "# Skill  a\n b\n\nTwice.")
	loads(`{"name":"a b"}`, "Skill not found: a b")

	mine := filepath.Join(here, ".goose/skills/mine")
	write(mine, "{name: b, description: Mine}", "\nMine.\n\nAll of it.\n")
	if err := os.Mkdir(filepath.Join(mine, "more"), 0o755); err != nil {
		t.Fatal(err)
	}
	offers("skills__loadSkill", list+"Mine")
	loads(`{"name":"b"}`, "# Skill b\n\nMine.\n\nAll of it.\n\nFiles in "+mine+":\nmore/")
	write(mine, "{name: b, description: Mine}", " \n")
	loads(`{"name":"b"}`, "# Skill b\n\nFiles in "+mine+":\nmore/")
	if err := os.Remove(filepath.Join(mine, "more")); err != nil {
		t.Fatal(err)
	}
	loads(`{"name":"b"}`, "# Skill b")
	loads(`{}`, "Missing argument: name")
	loads(`{"name":[]}`, "Invalid argument: name")
	if got := written(s.Call(t.Context(), quiet("skills__x", ""))); got != "error -32603: -32002: skills__x" {
		t.Error(got)
	}

	nobody := c.NewSet("nobody")
	defer nobody.Close()
	if err := nobody.Add(t.Context(), extension.Config{Type: "platform", Name: "Skills"}); err != nil {
		t.Fatal(err)
	}
	if got := said(t, nobody.Call(t.Context(), quiet("skills__loadSkill", `{"name":"b"}`))); got != "# Skill b\n\nEverywhere." {
		t.Errorf("without a session: %q", got)
	}
}
