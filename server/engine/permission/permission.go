// Package permission stores which tools may run without asking the user, in permission.yaml (GA 10.12, 17.2). It
// reads the file for each lookup, so that running agents see a change at once.
package permission

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/lockstep-dev/lockstep/server/files"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
	"github.com/lockstep-dev/lockstep/server/wire/yamljson"
)

// maxFile is the maximum size of the file (decision G13).
const maxFile = 2 << 20

// A Level says whether a tool may run.
type Level string

// The levels are in the order of the file. The empty level means none.
const (
	AlwaysAllow Level = "always_allow"
	AskBefore   Level = "ask_before"
	NeverAllow  Level = "never_allow"
)

var levels = []Level{AlwaysAllow, AskBefore, NeverAllow}

// The categories: decisions of users, and results of the mode smart_approve.
const (
	User         = "user"
	SmartApprove = "smart_approve"
)

// Permissions are the permissions in one configuration directory. Its methods are safe for concurrent use.
type Permissions struct {
	path string

	mu sync.Mutex // guards the file
}

// New returns the permissions in a configuration directory, which must exist.
func New(config string) *Permissions {
	return &Permissions{path: filepath.Join(config, "permission.yaml")}
}

// A file is the content of permission.yaml: ordered categories, each with its tools by level.
type file []category

type category struct {
	name  string
	tools map[Level][]string
}

// Of returns the level of a tool in a category.
func (p *Permissions) Of(category, tool string) (Level, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	content, err := p.read()
	if err != nil {
		return "", err
	}
	tools := content.category(category).tools
	for _, level := range levels {
		if slices.Contains(tools[level], tool) {
			return level, nil
		}
	}
	return "", nil
}

// Permission returns what users have decided about a tool.
func (p *Permissions) Permission(tool string) (Level, error) { return p.Of(User, tool) }

// Allow records that a tool may run without a question.
func (p *Permissions) Allow(tool string) error { return p.Set(tool, AlwaysAllow) }

// Set records a user's decision about a tool.
func (p *Permissions) Set(tool string, level Level) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	content, err := p.read()
	if err != nil {
		return err
	}
	tools := content.category(User).tools
	for _, other := range levels {
		tools[other] = slices.DeleteFunc(tools[other], func(name string) bool { return name == tool })
	}
	tools[level] = append(tools[level], tool)
	return p.write(content)
}

// category returns a category, and adds it if it is missing.
func (f *file) category(name string) category {
	for _, c := range *f {
		if c.name == name {
			return c
		}
	}
	c := category{name, map[Level][]string{}}
	*f = append(*f, c)
	return c
}

// read returns the content of the file. A missing file or invalid YAML counts as empty.
func (p *Permissions) read() (*file, error) {
	content := new(file)
	text, err := files.ReadText(p.path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return content, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read permissions: %w", err)
	}
	mapping, _ := yamljson.Parse([]byte(text))
	for name, lists := range mapping.Members() {
		if lists.Kind() != "object" {
			continue
		}
		tools := content.category(name.Str()).tools
		for i, list := range lists.Pick(string(levels[0]), string(levels[1]), string(levels[2])) {
			tools[levels[i]] = strs(list)
		}
	}
	return content, nil
}

func strs(list jsonwire.Text) (strs []string) {
	for _, element := range list.Elements() {
		if element.Kind() == "string" {
			strs = append(strs, element.Str())
		}
	}
	return strs
}

// write replaces the file atomically, because an empty file would mean no permissions.
func (p *Permissions) write(content *file) error {
	if err := files.ReplacePrivate(p.path, p.path+".tmp", content.yaml()); err != nil {
		return fmt.Errorf("write permissions: %w", err)
	}
	return nil
}

// yaml returns the content as YAML. A JSON string is also a YAML string.
func (f *file) yaml() []byte {
	var out strings.Builder
	for _, c := range *f {
		fmt.Fprintf(&out, "%s:\n", jsonwire.AppendQuoted(nil, c.name))
		for _, level := range levels {
			if len(c.tools[level]) == 0 {
				fmt.Fprintf(&out, "  %s: []\n", level)
				continue
			}
			fmt.Fprintf(&out, "  %s:\n", level)
			for _, tool := range c.tools[level] {
				fmt.Fprintf(&out, "  - %s\n", jsonwire.AppendQuoted(nil, tool))
			}
		}
	}
	return []byte(out.String())
}
