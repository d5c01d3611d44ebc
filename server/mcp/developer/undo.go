package developer

import "slices"

// These bounds limit what can be undone (decision X20).
const (
	maxUndo      = 10 // changes per file
	maxUndoBytes = 64 << 20
)

// undo has the contents of files before their changes, oldest first.
type undo struct {
	changes []change
	bytes   int
}

// A change is one change of a file, with the content before it. A nil content means that there was no file.
type change struct {
	path    string
	content *string
}

// push records a change.
func (f *undo) push(path string, content *string) {
	f.changes = append(f.changes, change{path, content})
	f.bytes += size(content)
	of := 0
	for _, c := range f.changes {
		if c.path == path {
			of++
		}
	}
	if of > maxUndo {
		f.drop(slices.IndexFunc(f.changes, func(c change) bool { return c.path == path }))
	}
	for f.bytes > maxUndoBytes {
		f.drop(0)
	}
}

func (f *undo) drop(i int) {
	f.bytes -= size(f.changes[i].content)
	f.changes = slices.Delete(f.changes, i, i+1)
}

// index returns the index of the last change of a file, or -1 if there is none.
func (f *undo) index(path string) int {
	for i := len(f.changes) - 1; i >= 0; i-- {
		if f.changes[i].path == path {
			return i
		}
	}
	return -1
}

// last returns the content of a file before its last change, and false if there is no such change.
func (f *undo) last(path string) (*string, bool) {
	i := f.index(path)
	if i < 0 {
		return nil, false
	}
	return f.changes[i].content, true
}

// pop removes the last change of a file.
func (f *undo) pop(path string) {
	if i := f.index(path); i >= 0 {
		f.drop(i)
	}
}

// forget removes all changes of a file.
func (f *undo) forget(path string) {
	for f.index(path) >= 0 {
		f.pop(path)
	}
}

func size(content *string) int {
	if content == nil {
		return 0
	}
	return len(*content)
}
