package extensions

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/message"
	"github.com/lockstep-dev/lockstep/server/reply"
	"github.com/lockstep-dev/lockstep/server/skills"
)

// A skillbook is the extension that tells the model which skills there are, and loads one (decisions X30, X31).
type skillbook struct {
	inProcess
	set *Set
}

// all returns the skills of all sessions, and of the session's working directory, which win.
func (b *skillbook) all(ctx context.Context) []skills.Skill {
	places := b.set.connector.Skills
	if s, err := b.set.connector.Sessions.Session(ctx, b.set.sessionID); err == nil {
		places = append(places[:len(places):len(places)],
			filepath.Join(s.WorkingDir, ".claude", "skills"), filepath.Join(s.WorkingDir, ".goose", "skills"))
	}
	return skills.Find(places...)
}

func (b *skillbook) tools(ctx context.Context) ([]llm.Tool, error) {
	if len(b.all(ctx)) == 0 {
		return nil, nil
	}
	return []llm.Tool{loadSkill}, nil
}

var loadSkill = llm.Tool{
	Name:        "loadSkill",
	Description: "Loads a skill: what to know for one kind of work.",
	Schema:      json.RawMessage(`{"type":"object","properties":{"name":{"type":"string","description":"The name of the skill"}},"required":["name"]}`),
}

func (b *skillbook) instructions(ctx context.Context) string {
	all := b.all(ctx)
	if len(all) == 0 {
		return ""
	}
	lines := []string{"These skills are there. Load one with the tool skills__loadSkill when it helps:"}
	for _, s := range all {
		lines = append(lines, "- "+squeezed(s.Name)+": "+squeezed(s.Description))
	}
	return strings.Join(lines, "\n")
}

// squeezed returns a text with single blanks for white space, and none at its ends.
func squeezed(text string) string { return strings.Join(strings.Fields(text), " ") }

func (b *skillbook) call(ctx context.Context, name string, call reply.Call) message.Result[[]message.ToolContent] {
	if name != loadSkill.Name {
		return unknown(call.Name)
	}
	a := argumentsOf(call.Arguments)
	wanted := a.need("name")
	if a.wrong != "" {
		return fails(a.wrong)
	}
	for _, s := range b.all(ctx) {
		if s.Name == wanted {
			return says(loaded(s))
		}
	}
	return fails("Skill '" + wanted + "' not found")
}

// loaded is all that the model is told of a skill.
func loaded(s skills.Skill) string {
	text := "# Skill: " + s.Name + "\n\n" + s.Text + "\n\n"
	if files := s.Files(); len(files) > 0 {
		text += "## Supporting Files\n\nSkill directory: " + s.Directory + "\n\n"
		for _, file := range files {
			text += "- " + file + "\n"
		}
	}
	return text
}
