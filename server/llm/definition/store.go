package definition

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/lockstep-dev/lockstep/gen/api"
	"github.com/lockstep-dev/lockstep/server/files"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
	"github.com/lockstep-dev/lockstep/server/wire/lettercase"
)

// A Store has the definitions in the files of a directory, which are read each time. It is safe for concurrent use.
type Store struct {
	dir   string
	files *files.Cache[Definition]
	mu    sync.Mutex // guards changes: checking, storing the key and writing is one step (decision G62)
}

// NewStore returns the definitions of a directory, which need not exist.
func NewStore(dir string) *Store {
	return &Store{dir: dir, files: files.NewCache(files.MaxSettings, parse)}
}

// These errors say why there is no definition, or why it is not changed.
var (
	ErrUnknown = errors.New("there is no such definition")
	errID      = errors.New("the ID cannot be that of a file")
	errEngine  = errors.New("the engine is unknown")
	errTaken   = errors.New("all IDs are taken")
)

const (
	maxID     = 250
	maxListed = 1000
	maxSuffix = 999
	suffix    = ".json"
)

// isID reports whether a text can be an ID (decision G58).
func isID(id string) bool {
	return id != "" && len(id) <= maxID && utf8.ValidString(id) && id[0] != '.' && !strings.ContainsFunc(id, func(r rune) bool {
		return r == '/' || r == '\\' || r <= '\u001f' || r == '\u007f'
	})
}

func (s *Store) path(id string) string { return filepath.Join(s.dir, id+suffix) }

// Find returns a definition, and whether it is in a file. If there is none, the error is [ErrUnknown], or says what is
// wrong with the file.
func (s *Store) Find(id string) (d Definition, isFile bool, err error) {
	if !isID(id) {
		return d, false, ErrUnknown
	}
	_, d, err = s.files.Read(s.path(id))
	if files.IsMissing(err) {
		d, ok := Bundled()[id]
		if !ok {
			return d, false, ErrUnknown
		}
		return d, false, nil
	}
	return d, true, err
}

// IDs returns the IDs of the first files, sorted (decision G58). Their files need not be definitions.
func (s *Store) IDs() (ids []string) {
	dir, err := os.Open(s.dir)
	if err != nil {
		return nil
	}
	defer dir.Close()
	for {
		names, err := dir.Readdirnames(maxListed)
		for _, name := range names {
			if id, ok := strings.CutSuffix(name, suffix); ok && isID(id) {
				ids = append(ids, id)
			}
		}
		slices.Sort(ids)
		ids = ids[:min(len(ids), maxListed)]
		if err != nil || len(names) == 0 {
			return ids
		}
	}
}

// A Request defines a provider, or changes one.
type Request = api.UpdateCustomProviderRequest

// engines are the engines by the names that requests have for them.
var engines = map[string]api.ProviderEngine{
	"openai_compatible":    api.ProviderEngineOpenai,
	"anthropic_compatible": api.ProviderEngineAnthropic,
	"ollama_compatible":    api.ProviderEngineOllama,
}

// contextLimit is the context limit of the models of custom providers (GA 10.19).
const contextLimit = 128_000

// Create stores a new definition, and its key first (decision G62).
func (s *Store) Create(r Request, storeKey func(name string) error) (id string, err error) {
	engine, ok := engines[r.Engine]
	if !ok {
		return "", errEngine
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	id, err = s.free("custom_" + strings.ReplaceAll(lettercase.Lower(r.DisplayName), " ", "_"))
	if err != nil {
		return "", err
	}
	d := Definition{
		Name: id, Engine: engine, DisplayName: r.DisplayName, Description: new(describe(r.DisplayName)), APIKeyEnv: keyOf(id),
		BaseURL: r.APIURL, Models: models(contextLimit, r.Models...), Headers: r.Headers, SupportsStreaming: r.SupportsStreaming,
	}
	if err := storeKey(d.APIKeyEnv); err != nil {
		return "", err
	}
	return id, s.write(id, d)
}

// describe returns the description of a provider that has none.
func describe(display string) string { return "Custom " + display + " provider" }

// Description returns the description of a definition.
func Description(d Definition) string {
	if d.Description == nil || *d.Description == "" {
		return describe(d.DisplayName)
	}
	return *d.Description
}

// keyOf returns the name of the secret with the key of a new provider.
func keyOf(id string) string { return lettercase.Upper(id) + "_API_KEY" }

// free returns an ID that nothing in the directory has: the wanted one, or else one with a number.
func (s *Store) free(wanted string) (string, error) {
	for n := range maxSuffix + 1 {
		id := wanted
		if n > 0 {
			id += "_" + strconv.Itoa(n)
		}
		if !isID(id) {
			return "", errID
		}
		if _, err := os.Stat(s.path(id)); files.IsMissing(err) {
			return id, nil
		}
	}
	return "", errTaken
}

// Update changes the definition in a file, and stores its key first. Of a bundled one it only stores the key. An empty
// key is not stored (decision G63).
func (s *Store) Update(id string, r Request, storeKey func(name string) error) error {
	if !isID(id) {
		return errID
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	d, isFile, err := s.Find(id)
	if err != nil {
		return err
	}
	engine, known := engines[r.Engine]
	if isFile && !known {
		return errEngine
	}
	if r.APIKey != "" && d.APIKeyEnv != "" {
		if err := storeKey(d.APIKeyEnv); err != nil {
			return err
		}
	}
	if !isFile {
		return nil
	}
	d.Name, d.Engine, d.DisplayName, d.BaseURL = id, engine, r.DisplayName, r.APIURL
	d.Models, d.SupportsStreaming = models(contextLimit, r.Models...), r.SupportsStreaming
	return s.write(id, d)
}

// Remove removes a file, whatever it has, and its key first. It does nothing if there is no file (decision G63).
func (s *Store) Remove(id string, removeKey func(name string) error) error {
	if !isID(id) {
		return errID
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	path := s.path(id)
	if _, err := os.Stat(path); files.IsMissing(err) {
		return nil
	}
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return fmt.Errorf("%s: %w", path, files.ErrNotPlain)
	}
	if err := removeKey(keyOf(id)); err != nil {
		return err
	}
	return os.Remove(path)
}

func (s *Store) write(id string, d Definition) error {
	text := append(jsonwire.Marshal(d).Indented(), '\n')
	if len(text) > files.MaxSettings {
		return files.ErrTooLarge
	}
	return files.ReplacePrivate(files.Target(s.path(id)), text)
}
