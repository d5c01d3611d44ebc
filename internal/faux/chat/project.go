package chat

import (
	"embed"

	"github.com/lockstep-dev/lockstep/internal/faux"
)

//go:embed project
var project embed.FS

// WriteProject writes the contract (openapi.yaml) and the scenarios (scenarios/) into a folder.
func WriteProject(dir string) error { return faux.Unpack(project, "project", dir) }
