package recipe

import "github.com/lockstep-dev/lockstep/server/wire/jsonwire"

// A Command is a slash command that runs a recipe, as the setting slash_commands has it (GA 7.11).
type Command struct{ Name, Path string }

// Commands reads the setting slash_commands, which is a list. It leaves out elements that are not commands (decision
// G33).
func Commands(setting jsonwire.Text) []Command {
	var commands []Command
	for _, element := range setting.Elements() {
		members := element.Pick("command", "recipe_path")
		if members[0].Kind() == "string" && members[1].Kind() == "string" {
			commands = append(commands, Command{members[0].Str(), members[1].Str()})
		}
	}
	return commands
}
