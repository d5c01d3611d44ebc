package connector

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/lockstep-dev/lockstep/server/domain/extension"
	"github.com/lockstep-dev/lockstep/server/files/tempdir"
	"github.com/lockstep-dev/lockstep/server/mcp/client"
	"github.com/lockstep-dev/lockstep/server/mcp/mcperror"
)

// openPython runs a server whose Python code is in its configuration (decision X22).
func (c *Connector) openPython(ctx context.Context, config extension.Config) (provider, error) {
	directory, err := writeCode(config.Code)
	if err != nil {
		c.Log.WarnContext(ctx, "code of an extension not written", "extension", config.Name, "err", err)
		return nil, mcperror.Reason("Temporary file cannot be written")
	}
	args := []string{"--with", "mcp"}
	for _, dependency := range config.Dependencies {
		args = append(args, "--with", dependency)
	}
	return c.run(ctx, config, client.Command{
		Name: "uvx", Args: append(args, "python", filepath.Join(directory.Path, codeFile)),
		Directory: c.Directory, Environment: environment(c.Environment, nil), Temporary: directory,
	})
}

const codeFile = "main.py"

// writeCode writes code to a file in a new directory that only the user can read, and returns the directory.
func writeCode(code string) (*tempdir.Directory, error) {
	directory, err := tempdir.Make()
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(directory.Path, codeFile), []byte(code), 0o600); err != nil {
		return nil, errors.Join(err, directory.Remove())
	}
	return directory, nil
}
