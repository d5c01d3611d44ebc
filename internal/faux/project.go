package faux

import (
	"embed"
	"io/fs"
	"os"
	"path/filepath"
)

//go:embed project
var project embed.FS

// WriteProject writes the contract (openapi.yaml) and the scenarios (scenarios/) into a folder.
func WriteProject(dir string) error { return Unpack(project, "project", dir) }

// Unpack copies an embedded folder to disk.
func Unpack(from embed.FS, folder, dir string) error {
	files, err := fs.Sub(from, folder)
	if err != nil {
		return err
	}
	return fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(dir, filepath.FromSlash(path))
		if d.IsDir() {
			return os.MkdirAll(to, 0o755)
		}
		data, err := fs.ReadFile(files, path)
		if err != nil {
			return err
		}
		return os.WriteFile(to, data, 0o644)
	})
}
