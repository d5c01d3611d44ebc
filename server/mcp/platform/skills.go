package platform

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/domain/skill"
	"github.com/lockstep-dev/lockstep/server/engine/toolbox"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/mcp/arguments"
	"github.com/lockstep-dev/lockstep/server/mcp/mcperror"
)

// skills is the extension that tells the model which skills exist, and loads one (decisions X30, X31).
type skills struct {
	unconnected
	host *Host
}

// find returns the skills for all sessions and those in the session's working directory, which have precedence.
func (k *skills) find(ctx context.Context) []skill.Skill {
	places := k.host.Skills
	if s, err := k.host.Sessions.Session(ctx, k.host.SessionID); err == nil {
		places = append(places[:len(places):len(places)],
			filepath.Join(s.WorkingDir, ".claude", "skills"), filepath.Join(s.WorkingDir, ".goose", "skills"))
	}
	return skill.Find(places...)
}

func (k *skills) Tools(ctx context.Context) ([]llm.Tool, error) {
	if len(k.find(ctx)) == 0 {
		return nil, nil
	}
	return []llm.Tool{loadSkill}, nil
}

var loadSkill = llm.Tool{
	Name:        "loadSkill",
	Description: "Loads a skill: what to know for one kind of work.",
	Schema:      json.RawMessage(`{"type":"object","properties":{"name":{"type":"string","description":"The name of the skill"}},"required":["name"]}`),
}

func (k *skills) Instructions(ctx context.Context) string {
	all := k.find(ctx)
	if len(all) == 0 {
		return ""
	}
	lines := []string{"These skills are there. Load one with the tool skills__loadSkill when it helps:"}
	for _, s := range all {
		lines = append(lines, "- "+squeezed(s.Name)+": "+squeezed(s.Description))
	}
	return strings.Join(lines, "\n")
}

// squeezed replaces each run of white space by a single blank, and trims both ends.
func squeezed(text string) string { return strings.Join(strings.Fields(text), " ") }

func (k *skills) Call(ctx context.Context, name string, call toolbox.Call) message.ToolResult {
	if name != loadSkill.Name {
		return mcperror.UnknownTool(call.Name)
	}
	a := arguments.Parse(call.Arguments, argumentErrors)
	wanted := a.Need("name")
	if a.Err != nil {
		return fails(a.Err.Error())
	}
	for _, s := range k.find(ctx) {
		if s.Name == wanted {
			return message.TextResult(loaded(s))
		}
	}
	return fails("Skill '" + wanted + "' not found")
}

// loaded returns the text for the model that loads a skill.
func loaded(s skill.Skill) string {
	text := "# Skill: " + s.Name + "\n\n" + s.Text + "\n\n"
	if files := s.Files(); len(files) > 0 {
		text += "## Supporting Files\n\nSkill directory: " + s.Directory + "\n\n"
		for _, file := range files {
			text += "- " + file + "\n"
		}
	}
	return text
}
