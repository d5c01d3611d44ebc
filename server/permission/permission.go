// Package permission keeps what the user has said about tools for good, in permission.yaml (GA 17.2).
package permission

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/lockstep-dev/lockstep/server/jsonwire"
	"github.com/lockstep-dev/lockstep/server/yamljson"
)

// A Level says what happens when a tool is called.
type Level string

// The levels, in the order in which the file has them.
const (
	AlwaysAllow Level = "always_allow"
	AskBefore   Level = "ask_before"
	NeverAllow  Level = "never_allow"
)

var levels = []Level{AlwaysAllow, AskBefore, NeverAllow}

// A Category says whose permissions they are.
type Category string

// The categories.
const (
	User         Category = "user"
	SmartApprove Category = "smart_approve"
)

// A File is where permissions are kept. It is read again each time.
type File struct{ path string }

// In returns the permissions of a configuration directory.
func In(config string) File { return File{filepath.Join(config, "permission.yaml")} }

// Table has the permissions of all tools.
type Table map[Category]map[Level][]string

// Of returns the level of a tool, and false if nothing was said about it.
func (t Table) Of(category Category, tool string) (Level, bool) {
	for _, level := range levels {
		if slices.Contains(t[category][level], tool) {
			return level, true
		}
	}
	return "", false
}

// Read returns what the file says. What is not readable in it counts as empty; the error is one of reading it.
func (f File) Read() (Table, error) {
	content, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	parsed, err := yamljson.Parse(content)
	if err != nil || parsed.Kind() != "object" {
		return nil, nil
	}
	table := Table{}
	for name, category := range parsed.Members() {
		if category.Kind() == "object" {
			table[Category(name.Str())] = lists(category)
		}
	}
	return table, nil
}

func lists(category jsonwire.Text) map[Level][]string {
	lists := map[Level][]string{}
	for name, tools := range category.Members() {
		if tools.Kind() != "array" {
			continue
		}
		for _, tool := range tools.Elements() {
			if tool.Kind() == "string" {
				lists[Level(name.Str())] = append(lists[Level(name.Str())], tool.Str())
			}
		}
	}
	return lists
}
