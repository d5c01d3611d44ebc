// Package permission stores which tools may run without asking the user, in permission.yaml (GA 10.12, 17.2). It
// reads the file for each lookup, so that running agents see a change at once.
package permission

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/lockstep-dev/lockstep/server/files"
	"github.com/lockstep-dev/lockstep/server/wire/decode"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
	"github.com/lockstep-dev/lockstep/server/wire/yamljson"
)

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
	path  string
	files *files.Cache[jsonwire.Text] // as JSON

	mu sync.Mutex // guards the file
}

// New returns the permissions in a configuration directory.
func New(config string) *Permissions {
	return &Permissions{path: filepath.Join(config, "permission.yaml"), files: files.NewCache(files.MaxSettings, parse)}
}

// A file is the content of permission.yaml: ordered categories, each with its tools by level.
type file []category

type category struct {
	name  string
	tools map[Level][]string
}

// A Decision is a user's decision about a tool.
type Decision struct {
	Tool  string
	Level Level
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
func (p *Permissions) Allow(tool string) error { return p.Set(Decision{tool, AlwaysAllow}) }

// Set records a user's decisions, all or none. Of two about one tool, the second wins. Without any, it only checks that
// the file can be read (decision G51).
func (p *Permissions) Set(decisions ...Decision) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	content, err := p.read()
	if err != nil || len(decisions) == 0 {
		return err
	}
	last := map[string]int{} // the index of the last decision about each tool
	for i, d := range decisions {
		last[d.Tool] = i
	}
	tools := content.category(User).tools
	for _, level := range levels {
		tools[level] = slices.DeleteFunc(tools[level], func(tool string) bool { _, decided := last[tool]; return decided })
	}
	for i, d := range decisions {
		if last[d.Tool] == i {
			tools[d.Level] = append(tools[d.Level], d.Tool)
		}
	}
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

// read returns the content of the file. A missing file counts as empty, and so does one that is not what [decodeFile]
// reads.
func (p *Permissions) read() (*file, error) {
	_, mapping, err := p.files.Read(p.path)
	if files.IsMissing(err) {
		return new(file), nil
	}
	if err != nil {
		return nil, fmt.Errorf("read permissions: %w", err)
	}
	content, err := decode.Text(mapping, decodeFile)
	if err != nil {
		return new(file), nil
	}
	return &content, nil
}

// parse returns the JSON of a text. A text that is not YAML counts as empty.
func parse(text []byte) (jsonwire.Text, error) {
	if !utf8.Valid(text) {
		return nil, files.ErrNotUTF8
	}
	json, err := yamljson.Parse(text)
	if err != nil {
		json = jsonwire.Text("{}")
	}
	return json, nil
}

// decodeFile reads categories that have all lists. Other members of a category are ignored.
func decodeFile(v decode.Value) (content file, err error) {
	err = v.Object().Err()
	for name, value := range v.Members() {
		o := value.Object(string(AlwaysAllow), string(AskBefore), string(NeverAllow))
		c := category{name, map[Level][]string{}}
		for _, level := range levels {
			c.tools[level] = decode.List(o, string(level), decode.Value.Str)
		}
		content, err = append(content, c), errors.Join(err, o.Err())
	}
	return content, err
}

// write replaces the file atomically, because an empty file would mean no permissions.
func (p *Permissions) write(content *file) error {
	text, err := yamljson.Format(jsonwire.Of(content), files.MaxSettings)
	if err == nil {
		err = files.ReplacePrivate(files.Target(p.path), text)
	}
	if err != nil {
		return fmt.Errorf("write permissions: %w", err)
	}
	return nil
}

// Write writes the content as JSON.
func (f *file) Write(w *jsonwire.Writer) {
	w.Open('{')
	for _, c := range *f {
		w.Key(c.name)
		w.Open('{')
		for _, level := range levels {
			jsonwire.Array(w.Name(string(level)), c.tools[level], func(tool string, w *jsonwire.Writer) { w.String(tool) })
		}
		w.Close('}')
	}
	w.Close('}')
}
