package recipe

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// A Library finds recipes in directories (GA 11.1). Its methods are safe for concurrent use.
type Library struct {
	// Directories returns the directories to search. It is called each time.
	Directories func() []string

	mu    sync.Mutex
	paths map[string]string // by ID
}

// ErrUnknown says that no recipe has the ID.
var ErrUnknown = errors.New("no recipe has this id")

// Get returns the recipe with an ID. The error is [ErrUnknown], or says why its file cannot be read.
func (l *Library) Get(id string) (Recipe, error) {
	path, ok := l.path(id)
	if !ok {
		l.List()
		if path, ok = l.path(id); !ok {
			return Recipe{}, ErrUnknown
		}
	}
	return ReadFile(path)
}

func (l *Library) path(id string) (string, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	path, ok := l.paths[id]
	return path, ok
}

// List returns the paths of all recipes in the order of their directories and file names, and remembers their IDs. It
// ignores files that are not recipes.
func (l *Library) List() (files []string) {
	paths := map[string]string{}
	for _, dir := range canonical(l.Directories()) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, entry := range entries {
			path := filepath.Join(dir, entry.Name())
			if ext := filepath.Ext(path); ext != ".yaml" && ext != ".json" {
				continue
			}
			if _, err := ReadFile(path); err != nil {
				continue
			}
			paths[IDOf(path)] = path
			files = append(files, path)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.paths = paths
	return files
}

// canonical returns the real paths of the directories that exist, sorted and without duplicates.
func canonical(dirs []string) []string {
	var found []string
	for _, dir := range dirs {
		abs, err := filepath.Abs(dir)
		if err != nil {
			continue
		}
		if real, err := filepath.EvalSymlinks(abs); err == nil {
			found = append(found, real)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// ReadFile reads a recipe from a file.
func ReadFile(path string) (Recipe, error) {
	text, err := readFile(path)
	if err != nil {
		return Recipe{}, err
	}
	return Parse([]byte(text))
}

// IDOf returns the ID of the recipe at a path: SipHash-1-3 with a zero key over the path and the byte 0xFF, in
// hexadecimal.
func IDOf(path string) string { return fmt.Sprintf("%016x", sipHash13(append([]byte(path), 0xFF))) }

// sipHash13 is SipHash with one round per word and three at the end (Aumasson and Bernstein, 2012), with a zero key.
func sipHash13(text []byte) uint64 {
	v0, v1, v2, v3 := uint64(0x736f6d6570736575), uint64(0x646f72616e646f6d), uint64(0x6c7967656e657261), uint64(0x7465646279746573)
	round := func() {
		v0 += v1
		v1 = bits.RotateLeft64(v1, 13) ^ v0
		v0 = bits.RotateLeft64(v0, 32)
		v2 += v3
		v3 = bits.RotateLeft64(v3, 16) ^ v2
		v0 += v3
		v3 = bits.RotateLeft64(v3, 21) ^ v0
		v2 += v1
		v1 = bits.RotateLeft64(v1, 17) ^ v2
		v2 = bits.RotateLeft64(v2, 32)
	}
	word := func(m uint64) {
		v3 ^= m
		round()
		v0 ^= m
	}
	length := len(text)
	for len(text) >= 8 {
		word(binary.LittleEndian.Uint64(text))
		text = text[8:]
	}
	last := make([]byte, 8)
	copy(last, text)
	last[7] = byte(length)
	word(binary.LittleEndian.Uint64(last))
	v2 ^= 0xff
	for range 3 {
		round()
	}
	return v0 ^ v1 ^ v2 ^ v3
}
