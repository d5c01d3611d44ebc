package recipe

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/lockstep-dev/lockstep/server/domain/recipe/template"
	"github.com/lockstep-dev/lockstep/server/files"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// ErrMissing says that a parameter has neither a value nor a default.
var ErrMissing = errors.New("required parameters are missing")

// maxFile is the maximum size in bytes of a file whose content goes into a recipe.
const maxFile = 2 << 20

// Render renders the recipe's templates with the values of its parameters (GA 11.2). dir is the directory of the
// recipe library: templates can include its files, and relative paths of sub-recipes are resolved against it. The
// error is [ErrMissing], that of the context, or one about a template or a value.
func (r Recipe) Render(ctx context.Context, values jsonwire.Pairs, dir string) (Recipe, error) {
	variables := map[string]string{recipeDir: dir}
	given := make(map[string]string, len(values))
	for _, pair := range values {
		given[pair.Name] = pair.Value
	}
	for _, p := range r.Parameters {
		value, ok := given[p.Key]
		if !ok && p.Default == nil {
			return Recipe{}, ErrMissing
		}
		if !ok {
			value = *p.Default
		}
		if p.InputType == "file" {
			content, err := readFile(value)
			if err != nil {
				return Recipe{}, fmt.Errorf("parameter %s: %w", p.Key, err)
			}
			value = content
		}
		variables[p.Key] = value
	}
	work := template.NewWork(ctx)
	if err := r.texts(func(text string) (string, error) {
		parsed, err := work.Parse(text)
		if err != nil {
			return "", err
		}
		return parsed.Render(work, variables, func(name string) (string, error) { return readBelow(dir, name) })
	}); err != nil {
		return Recipe{}, err
	}
	return r, r.locateSubRecipes(dir)
}

// locateSubRecipes makes the paths of sub-recipes absolute. They must exist.
func (r *Recipe) locateSubRecipes(dir string) error {
	for i := range r.SubRecipes {
		path := &r.SubRecipes[i].Path
		if !filepath.IsAbs(*path) {
			*path = filepath.Join(dir, *path)
		}
		if _, err := os.Stat(*path); err != nil {
			return fileError{"Recipe parsing failed: Sub-recipe file does not exist: " + *path, err} // GA 11.11
		}
	}
	return nil
}

// readBelow reads a file by its path relative to a directory. It follows links that stay in the directory.
func readBelow(dir, name string) (string, error) {
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", notRead(dir, err)
	}
	path := filepath.Join(root, name)
	if filepath.IsAbs(name) || !isBelow(root, path) { // the error must not reveal whether it exists
		return "", errOutside
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", notRead(path, err)
	}
	if !isBelow(root, real) {
		return "", errOutside
	}
	return readFile(real)
}

func isBelow(dir, path string) bool {
	rest, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rest)
}

var errOutside = errors.New("not below the directory of recipes")

// readFile returns the content of a file that is not too large.
func readFile(path string) (string, error) {
	content, err := files.Read(path, maxFile)
	switch {
	case errors.Is(err, files.ErrNotPlain):
		return "", fileError{path + " is no plain file", err}
	case errors.Is(err, files.ErrTooLarge):
		return "", fileError{fmt.Sprintf("%s has more than %d bytes", path, maxFile), err}
	case err != nil:
		return "", notRead(path, err)
	}
	return string(content), nil
}

// A fileError says why a file cannot be used. Its text is for clients, so it leaves out the system's message.
type fileError struct {
	text  string
	cause error
}

func (e fileError) Error() string { return e.text }

func (e fileError) Unwrap() error { return e.cause }

func notRead(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fileError{"there is no file " + path, err}
	}
	return fileError{path + " cannot be read", err}
}
