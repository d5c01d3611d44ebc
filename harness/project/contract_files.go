package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/lockstep-dev/lockstep/internal/regular"
)

// ContractFiles reads the other files of a contract, and remembers them. They must be in the repository of the contract,
// or in its folder if there is none.
type ContractFiles struct {
	Names []string // the files that were asked for, whether they exist or not
	texts []byte   // of all files, each after its name
	root  string
}

// NewContractFiles returns a reader for the files that a contract refers to.
func NewContractFiles(contract string) *ContractFiles {
	return &ContractFiles{root: repository(contract)}
}

// repository returns the folder above a file that has .git, or the file's folder if there is none.
func repository(file string) string {
	own, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		own = filepath.Dir(file)
	}
	if real, err := filepath.EvalSymlinks(own); err == nil {
		own = real
	}
	for dir := own; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return own
		}
	}
}

// Open reads a file.
func (f *ContractFiles) Open(file string) ([]byte, error) {
	file = filepath.FromSlash(file)
	f.Names = append(f.Names, file)
	real, err := filepath.Abs(file)
	if err == nil {
		real, err = filepath.EvalSymlinks(real)
	}
	if err != nil {
		if wrong, ok := errors.AsType[*fs.PathError](err); ok {
			err = wrong.Err
		}
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if rel, err := filepath.Rel(f.root, real); err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return nil, fmt.Errorf("%s is outside of %s, the folder that the contract's files must be in", file, f.root)
	}
	text, err := regular.Read(real)
	if err != nil {
		return nil, err
	}
	f.texts = fmt.Appendf(f.texts, "\n%s %d\n", filepath.ToSlash(file), len(text))
	f.texts = append(f.texts, text...)
	return text, nil
}
