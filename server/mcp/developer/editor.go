package developer

import (
	"context"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// An editor changes files, and can undo its changes.
type editor struct {
	paths
	write func(io.Writer, string) (int, error)

	mu      sync.Mutex // also guards the files, so that changes happen one after another
	history undo
}

func newEditor(p paths) *editor { return &editor{paths: p, write: io.WriteString} }

// An edit is the request of one call.
type edit struct {
	file
	command    string
	diff, text *string
	from, to   *string
	line       *int64
	shown      *[2]int64
}

func (e *editor) run(_ context.Context, c call) ([]mcp.Content, error) {
	w := edit{file: file{given: c.Need("path")}, command: c.Need("command"), diff: c.MaybeText("diff"), shown: pair(c, "view_range"),
		text: c.MaybeText("file_text"), from: c.MaybeText("old_str"), to: c.MaybeText("new_str"), line: c.Integer("insert_line")}
	if c.Err != nil {
		return nil, c.Err
	}
	var err error
	if w.file, err = e.file(w.given); err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case w.command == "view":
		return e.view(w)
	case w.command == "write":
		return e.overwrite(w)
	case w.command == "str_replace" && w.diff != nil:
		return e.patch(w)
	case w.command == "str_replace":
		return e.replace(w)
	case w.command == "insert":
		return e.insert(w)
	case w.command == "undo_edit":
		return e.undo(w.file)
	}
	return nil, invalid("Unknown command '%s'", w.command)
}

func missing(name, command string) error {
	return invalid("Missing '%s' parameter for %s command", name, command)
}

// change replaces the content of a file, and records the old content.
func (e *editor) change(f file, old *string, content string) error {
	if err := replace(f.path, content, e.write); err != nil {
		return f.unwritable()
	}
	e.history.push(f.path, old)
	return nil
}

func (e *editor) overwrite(w edit) ([]mcp.Content, error) {
	if w.text == nil {
		return nil, missing("file_text", w.command)
	}
	content := withLineEnd(unixLineEnds.Replace(*w.text), "\n")
	if err := replace(w.path, content, e.write); err != nil {
		return nil, w.unwritable()
	}
	e.history.forget(w.path)
	return says("Successfully wrote to "+w.given, "### "+w.given+"\n"+fenced(w.language(), content), forUser), nil
}

func (e *editor) replace(w edit) ([]mcp.Content, error) {
	switch {
	case w.from == nil:
		return nil, missing("old_str", w.command)
	case w.to == nil:
		return nil, missing("new_str", w.command)
	}
	if _, err := os.Stat(w.path); os.IsNotExist(err) {
		return nil, invalid("File '%s' does not exist, you can write a new file with the `write` command", w.given)
	}
	old, err := w.content(maxFile)
	if err != nil {
		return nil, err
	}
	from, to := asIn(old, *w.from), asIn(old, *w.to)
	switch strings.Count(old, from) {
	case 0:
		return nil, invalid("'old_str' must appear exactly once in the file, but it does not appear in the file. " +
			"Make sure the string exactly matches existing file content, including whitespace!")
	case 1:
	default:
		return nil, invalid("'old_str' must appear exactly once in the file, but it appears multiple times")
	}
	before, after, _ := strings.Cut(old, from)
	content := before + to + after
	if err := e.change(w.file, &old, content); err != nil {
		return nil, err
	}
	section := w.section(content, strings.Count(before, "\n"), strings.Count(to, "\n")+1)
	return says("The file "+w.given+" has been edited, and the section now reads:\n"+section+review, section, forUser), nil
}

func (e *editor) insert(w edit) ([]mcp.Content, error) {
	switch {
	case w.line == nil:
		return nil, missing("insert_line", w.command)
	case w.to == nil:
		return nil, missing("new_str", w.command)
	}
	old, err := w.content(maxFile)
	if err != nil {
		return nil, err
	}
	lines := strings.SplitAfter(old, "\n")
	if last := len(lines) - 1; lines[last] == "" {
		lines = lines[:last]
	}
	at := *w.line
	if at < 0 {
		at += int64(len(lines)) + 1
	}
	if at < 0 || at > int64(len(lines)) {
		return nil, invalid("Insert line %d is beyond the end of the file (total lines: %d). Use 0 to insert at the beginning or %d to insert at the end.",
			*w.line, len(lines), len(lines))
	}
	end := lineEnd(old)
	before, after := strings.Join(lines[:at], ""), strings.Join(lines[at:], "")
	if before != "" {
		before = withLineEnd(before, end)
	}
	added := withLineEnd(asIn(old, *w.to), end)
	content := before + added + after
	if err := e.change(w.file, &old, content); err != nil {
		return nil, err
	}
	section := w.section(content, int(at), strings.Count(added, "\n"))
	return says("Text has been inserted at line "+number(at+1)+" in "+w.given+". The section now reads:\n"+section+review, section, forUser), nil
}

func (e *editor) undo(f file) ([]mcp.Content, error) {
	old, ok := e.history.last(f.path)
	if !ok {
		return nil, invalid("No edit history available to undo")
	}
	var err error
	if old == nil {
		err = os.Remove(f.path)
	} else {
		err = replace(f.path, *old, e.write)
	}
	if err != nil && (old != nil || !os.IsNotExist(err)) {
		return nil, f.unwritable()
	}
	e.history.pop(f.path)
	return []mcp.Content{text("Undid the last edit", forAssistant)}, nil
}
