//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestWhatWasAcknowledgedInFilesSurvivesKills kills a server with SIGKILL while clients change config.yaml,
// secrets.yaml, permission.yaml and definitions of providers. Afterwards every file and every backup must be whole, and have all acknowledged
// changes. A new server must read them, and its next writes must leave no temporary file (decision G41).
func TestWhatWasAcknowledgedInFilesSurvivesKills(t *testing.T) {
	kills, seed := number(t, killsVariable, ordinaryKills), number(t, seedVariable, rand.Uint64()>>1)
	t.Logf("seed %d (%s)", seed, seedVariable)
	rng := rand.New(rand.NewPCG(seed, 1))
	home := t.TempDir()
	editors := make([]*editor, killClients)
	for i := range editors {
		editors[i] = &editor{name: fmt.Sprint("editor", i)}
	}
	s, _ := startServer(t, home, "http://127.0.0.1:1")
	for _, e := range editors {
		s.check(t, request{"POST", "/config/custom-providers", defined(e.name, "0", "0"), 200, ""})
	}
	interrupted := map[string]int{}
	for round := range kills {
		acts := make([]func() error, len(editors))
		for i, e := range editors {
			api, rng := s.api(), rand.New(rand.NewPCG(rng.Uint64(), 0))
			defer api.close()
			acts[i] = func() error { return e.act(api, rng) }
		}
		workUntilKilled(t, s, rng, acts)
		problems, temporary := examine(t, filepath.Join(home, "config"), editors)
		for _, name := range temporary {
			if dir := filepath.Dir(name); dir != "." {
				name = dir
			}
			interrupted[name]++
		}
		s, _ = startServer(t, home, "http://127.0.0.1:1")
		api := s.api()
		for _, e := range editors { // writes of each file
			for _, change := range e.changes() {
				if err := change.make(api, 0); err != nil {
					problems = append(problems, err.Error())
				}
			}
		}
		api.close()
		more, temporary := examine(t, filepath.Join(home, "config"), editors)
		if problems = append(problems, more...); len(temporary) > 0 {
			problems = append(problems, fmt.Sprintf("the next writes left %q", temporary))
		}
		for _, problem := range problems {
			t.Errorf("after kill %d: %s", round+1, problem)
		}
		if t.Failed() {
			return
		}
	}
	changes := 0
	for _, e := range editors {
		for _, change := range e.changes() {
			changes += change.count.known
		}
	}
	t.Logf("%d kills; in the middle of writes: %v; acknowledged and found: %d changes", kills, interrupted, changes)
	if changes == 0 {
		t.Error("nothing was acknowledged: nothing was tried")
	}
}

// An editor changes one value of each file again and again. Its values are numbers that only grow.
type editor struct {
	name                                               string
	setting, extension, secret, permission, definition count
	// made is for a provider that is defined and removed, in turns: it exists while the number is odd.
	made count
}

// A count is the last number that a server has acknowledged, and the last that was sent.
type count struct{ known, tried int }

// A change is a request that stores the next number.
type change struct {
	count        *count
	method, path string
	body         func(n, size int) object
}

// levels are the permissions for the numbers of an editor, one after the other.
var levels = []string{"always_allow", "ask_before", "never_allow"}

func (e *editor) changes() []change {
	return []change{
		{&e.setting, "POST", "/config/upsert", func(n, size int) object {
			return object{"key": e.name, "is_secret": false, "value": entry{n, strings.Repeat("x", size), size}}
		}},
		{&e.extension, "POST", "/config/extensions", func(n, size int) object {
			return object{"name": e.name, "enabled": false, "config": object{
				"type": "builtin", "name": e.name, "timeout": n, "display_name": strings.Repeat("x", size), "available_tools": []string{fmt.Sprint(size)},
			}}
		}},
		{&e.secret, "POST", "/config/upsert", func(n, size int) object {
			return object{"key": e.name, "is_secret": true, "value": entry{n, strings.Repeat("x", size), size}}
		}},
		{&e.permission, "POST", "/config/permissions", func(n, size int) object {
			return object{"tool_permissions": []object{{"tool_name": e.name, "permission": levels[n%len(levels)]}}}
		}},
		{&e.definition, "PUT", "/config/custom-providers/custom_" + e.name, func(n, size int) object {
			return defined(strings.Repeat("x", size), fmt.Sprint(n), fmt.Sprint(size))
		}},
		e.makes(),
	}
}

// makes is the change that defines a provider, or removes it if it exists.
func (e *editor) makes() change {
	if e.made.known%2 == 1 {
		return change{&e.made, "DELETE", "/config/custom-providers/custom_" + e.name + "_made", nil}
	}
	return change{&e.made, "POST", "/config/custom-providers", func(n, size int) object {
		display := e.name + " made"
		provider := defined(display, fmt.Sprint(n), fmt.Sprint(len(display)))
		provider["api_key"], provider["api_url"] = "key", "http://127.0.0.1:1/"+strings.Repeat("x", size)
		return provider
	}}
}

// defined is a request that defines a provider.
func defined(display string, models ...string) object {
	return object{"engine": "openai_compatible", "display_name": display, "api_url": "http://127.0.0.1:1", "api_key": "", "models": append([]string{}, models...)}
}

// make sends the next number. size is the size of what comes with it, so that writing a file takes some time.
func (c change) make(api *api, size int) error {
	c.count.tried = c.count.known + 1
	var body any
	if c.body != nil {
		body = c.body(c.count.tried, size)
	}
	if _, err := api.do(c.method, c.path, body); err != nil {
		return err
	}
	c.count.known = c.count.tried
	return nil
}

// act makes one change, or a backup.
func (e *editor) act(api *api, rng *rand.Rand) error {
	changes := e.changes()
	n := rng.IntN(len(changes) + 1)
	if n == len(changes) {
		_, err := api.do("POST", "/config/backup", nil)
		return err
	}
	return changes[n].make(api, rng.IntN(20_000))
}

// An entry is the value of an editor. It is whole if its filler has its size.
type entry struct {
	N      int    `json:"n"`
	Filler string `json:"filler"`
	Size   int    `json:"size"`
}

// names are the files that a server may have in its directory. A temporary file is one of them with the suffix .tmp.
var names = []string{
	"config.yaml", "config.yaml.bak", "config.yaml.bak.1", "config.yaml.bak.2", "config.yaml.bak.3", "config.yaml.bak.4", "config.yaml.bak.5",
	"secrets.yaml", "permission.yaml",
}

// examine returns what is wrong with the files of a server that was killed, and the names of its temporary files. The
// numbers in the files become known.
func examine(t *testing.T, dir string, editors []*editor) (problems, temporary []string) {
	t.Helper()
	found := map[string]map[string]int{}
	for name, text := range contents(t, dir) {
		switch whole, isTemporary := strings.CutSuffix(name, ".tmp"); {
		case !slices.Contains(names, whole) && filepath.Dir(name) != "custom_providers":
			problems = append(problems, "there is also "+name)
		case isTemporary:
			temporary = append(temporary, name)
		default:
			read := numbersOf
			if filepath.Ext(name) == ".json" {
				read = numberOfDefinition
			}
			numbers, err := read([]byte(text))
			if err != nil {
				problems = append(problems, fmt.Sprintf("%s: %v", name, err))
			}
			found[name] = numbers
		}
	}
	newer := names[0]
	for _, backup := range names[1:7] {
		if found[backup] == nil {
			continue
		}
		for key, n := range found[backup] {
			if found[newer][key] < n {
				problems = append(problems, fmt.Sprintf("%s: %s has %d, and %s %d", key, newer, found[newer][key], backup, n))
			}
		}
		newer = backup
	}
	for _, e := range editors {
		problems = append(problems, e.setting.settle("setting of "+e.name, found["config.yaml"][e.name])...)
		problems = append(problems, e.extension.settle("extension of "+e.name, found["config.yaml"]["extension "+e.name])...)
		problems = append(problems, e.secret.settle("secret of "+e.name, found["secrets.yaml"][e.name])...)
		level := found["permission.yaml"][e.name]
		if c := &e.permission; level == levelOf(c.tried) {
			level = c.tried
		} else if level == levelOf(c.known) {
			level = c.known
		}
		problems = append(problems, e.permission.settle("permission of "+e.name, level)...)
		problems = append(problems, e.definition.settle("definition of "+e.name, found["custom_providers/custom_"+e.name+".json"]["definition"])...)
		problems = append(problems, e.settleMade(found)...)
	}
	return problems, temporary
}

// settleMade returns what is wrong with the provider that is defined and removed. Its key is stored before its file, and
// removed before it (decisions G62, G63).
func (e *editor) settleMade(found map[string]map[string]int) []string {
	c := &e.made
	n := found["custom_providers/custom_"+e.name+"_made.json"]["definition"]
	exists, changing := n != 0, c.tried != c.known
	hasKey := found["secrets.yaml"]["CUSTOM_"+strings.ToUpper(e.name)+"_MADE_API_KEY"] != 0
	if isRemoval := c.tried%2 == 0; hasKey != exists && (!changing || isRemoval == hasKey) {
		return []string{fmt.Sprintf("of the provider made by %s, there is a key: %t, a file: %t, after %+v", e.name, hasKey, exists, *c)}
	}
	if !exists && c.tried%2 == 0 {
		n = c.tried
	} else if !exists && c.known%2 == 0 {
		n = c.known
	}
	return c.settle("provider made by "+e.name, n)
}

// settle returns a problem if a number is neither the last acknowledged nor the last sent.
func (c *count) settle(what string, found int) []string {
	if found != c.known && found != c.tried {
		return []string{fmt.Sprintf("the %s is %d, want %d or %d", what, found, c.known, c.tried)}
	}
	c.known, c.tried = found, found
	return nil
}

// levelOf returns a negative number for the level of an editor's number, or 0 for no level.
func levelOf(n int) int {
	if n == 0 {
		return 0
	}
	return -1 - n%len(levels)
}

// numbersOf reads the numbers of the editors in a file, and checks that each of its entries is whole.
func numbersOf(text []byte) (map[string]int, error) {
	var file map[string]any
	if err := yaml.Unmarshal(text, &file); err != nil {
		return nil, err
	}
	if len(text) == 0 {
		return nil, errors.New("it is empty")
	}
	numbers := map[string]int{}
	for key, value := range file {
		members, isMapping := value.(map[string]any)
		switch key {
		case "user":
			for i, level := range levels {
				tools, _ := members[level].([]any)
				for _, tool := range tools {
					numbers[fmt.Sprint(tool)] = -1 - i
				}
			}
		case "extensions":
			for name, value := range members {
				extension, _ := value.(map[string]any)
				tools, _ := extension["available_tools"].([]any)
				if !strings.HasPrefix(name, "editor") {
					continue
				}
				if !isWhole(extension["display_name"], tools) {
					return nil, fmt.Errorf("the extension %s is not whole", name)
				}
				numbers["extension "+name], _ = extension["timeout"].(int)
			}
		default:
			if !isMapping && strings.HasSuffix(key, "_API_KEY") { // of a definition
				numbers[key] = 1
				continue
			}
			if !isWhole(members["filler"], []any{members["size"]}) {
				return nil, fmt.Errorf("%s is not whole", key)
			}
			numbers[key], _ = members["n"].(int)
		}
	}
	return numbers, nil
}

// numberOfDefinition reads the number of an editor in a definition, and checks that it is whole.
func numberOfDefinition(text []byte) (map[string]int, error) {
	var d struct {
		DisplayName string `json:"display_name"`
		Models      []struct{ Name string }
	}
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, err
	}
	if len(d.Models) != 2 || d.Models[0].Name != "0" && !isWhole(d.DisplayName, []any{d.Models[1].Name}) {
		return nil, errors.New("it is not whole")
	}
	n, err := strconv.Atoi(d.Models[0].Name)
	return map[string]int{"definition": n}, err
}

// isWhole reports whether a text has the size that is written behind it.
func isWhole(text any, size []any) bool {
	filler, ok := text.(string)
	return ok && len(size) == 1 && fmt.Sprint(size[0]) == fmt.Sprint(len(filler))
}
