package turn

import (
	"strings"

	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/domain/recipe"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
	"github.com/lockstep-dev/lockstep/server/wire/lettercase"
)

// slashCommand returns the messages to save for a message of the user. If it begins with the command of a recipe,
// these are the recipe's text for the agent, and the original message for the user (GA 7.11).
func (s *Service) slashCommand(text string, said message.Message) []message.Message {
	plain := []message.Message{said}
	if !strings.HasPrefix(text, "/") {
		return plain
	}
	command := lettercase.Lower(strings.TrimLeft(strings.Fields(text)[0], "/"))
	path, ok := mappedRecipe(s.Settings, command)
	if !ok {
		return plain
	}
	r, err := s.ReadRecipe(path)
	if err != nil {
		s.Log.Debug("recipe of a command not read", "command", command, "err", err)
		return plain
	}
	var parts []string
	for _, part := range []*string{r.Instructions, r.Prompt} {
		if part != nil {
			parts = append(parts, *part)
		}
	}
	forAgent := message.New(message.User, message.Text{Text: strings.Join(parts, "\n\n")})
	forAgent.Metadata = message.Metadata{AgentVisible: true}
	said.Metadata = message.Metadata{UserVisible: true}
	return []message.Message{forAgent, said}
}

// mappedRecipe returns the path of the recipe for a command. The first mapping wins.
func mappedRecipe(from llm.Settings, command string) (path string, ok bool) {
	raw, err := from.Setting("slash_commands")
	if err != nil {
		return "", false
	}
	for _, known := range recipe.Commands(jsonwire.Text(raw)) {
		if known.Name == command {
			return known.Path, true
		}
	}
	return "", false
}
