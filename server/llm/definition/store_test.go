package definition_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/internal/testfile"
	"github.com/lockstep-dev/lockstep/server/llm/definition"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

const least = `{"name":"n","engine":"openai","display_name":"D","base_url":"http://h","models":[]}`

func newStore(t *testing.T, files map[string]string) (s *definition.Store, dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		testfile.Write(t, filepath.Join(dir, name), text)
	}
	return definition.NewStore(dir), dir
}

// TestADefinitionIsShownAsItIs checks decisions G58 and G63.
func TestADefinitionIsShownAsItIs(t *testing.T) {
	s, _ := newStore(t, map[string]string{
		"least.json": least,
		"full.json": `{"more":1,"supports_streaming":false,"timeout_seconds":7,"headers":{"X-B":"2","X-A":"1"},"models":[{"context_limit":9007199254740993,
			"name":"m","input_token_cost":1e-06,"currency":"$","supports_cache_control":true}],"base_url":"u","api_key_env":"K","description":"",
			"display_name":"D","engine":"ollama","name":"n"}`,
	})
	for id, want := range map[string]string{
		"least": `{"name":"n","engine":"openai","display_name":"D","description":null,"api_key_env":"","base_url":"http://h","models":[],"headers":null,"timeout_seconds":null,"supports_streaming":null}`,
		"full": `{"name":"n","engine":"ollama","display_name":"D","description":"","api_key_env":"K","base_url":"u","models":[{"name":"m","context_limit":9007199254740993,` +
			`"input_token_cost":1e-06,"output_token_cost":null,"currency":"$","supports_cache_control":true}],"headers":{"X-B":"2","X-A":"1"},"timeout_seconds":7,"supports_streaming":false}`,
	} {
		d, isFile, err := s.Find(id)
		if got := string(jsonwire.Marshal(d)); got != want || !isFile || err != nil {
			t.Errorf("%s is %s, %t, %v\nwant %s", id, got, isFile, err, want)
		}
	}
}

// TestWhatIsNoDefinition checks decision G58: such a file hides a bundled definition.
func TestWhatIsNoDefinition(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "a list": "[]", "mark": "\ufeff" + least, "more": least + "x", "twice": strings.Replace(least, "{", `{"name":"n",`, 1),
		"engine": strings.Replace(least, `"openai"`, `"vax"`, 1), "no models": strings.Replace(least, `,"models":[]`, "", 1),
		"names": strings.Replace(least, "[]", `["m"]`, 1), "limit": strings.Replace(least, "[]", `[{"name":"m","context_limit":1.5}]`, 1),
		"no key": strings.Replace(least, "{", `{"api_key_env":null,`, 1), "header": strings.Replace(least, "{", `{"headers":{"A":1},`, 1),
		"large": least + strings.Repeat(" ", 2<<20),
	} {
		s, _ := newStore(t, map[string]string{"groq.json": text})
		if _, isFile, err := s.Find("groq"); err == nil || !isFile || errors.Is(err, definition.ErrUnknown) {
			t.Errorf("%s: %t, %v; want a file that is no definition", name, isFile, err)
		}
	}
	s, dir := newStore(t, nil)
	if err := os.Symlink("nowhere", filepath.Join(dir, "groq.json")); err != nil {
		t.Fatal(err)
	}
	if d, isFile, err := s.Find("groq"); d.Name != "groq" || isFile || err != nil {
		t.Errorf("behind a link to nowhere: %s, %t, %v; want the bundled one", d.Name, isFile, err)
	}
}

var badIDs = []string{"", ".", "..", ".x", "a/b", `a\b`, "a\x00", "a\x1f", "a\x7f", "a\xff", strings.Repeat("a", 251), strings.Repeat("ü", 126)}

func TestIDsLeadToNoOtherFile(t *testing.T) {
	s, dir := newStore(t, map[string]string{"../out.json": least, ".x.json": least})
	secret := func(name string) error { return fmt.Errorf("the secret %s is used", name) }
	for _, id := range badIDs {
		_, _, finding := s.Find(id)
		request := definition.Request{Engine: "openai_compatible", APIKey: "k"}
		updating, removing := s.Update(id, request, secret), s.Remove(id, secret)
		if !errors.Is(finding, definition.ErrUnknown) || updating == nil || removing == nil || strings.Contains(fmt.Sprint(updating, removing), "is used") {
			t.Errorf("%q: %v, %v, %v; want errors", id, finding, updating, removing)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("there are %v, %v", left, err)
	}
}

func TestTheFirstThousandAreListed(t *testing.T) {
	files := map[string]string{"no.txt": least, ".x.json": least, "a.json": "", "a-b.json": ""}
	for n := range 1005 {
		files[fmt.Sprintf("b%04d.json", n)] = ""
	}
	s, _ := newStore(t, files)
	ids := s.IDs()
	if len(ids) != 1000 || ids[0] != "a" || ids[1] != "a-b" || ids[999] != "b0997" || !slices.IsSorted(ids) {
		t.Errorf("%d IDs: %q ... %q", len(ids), ids[:3], ids[len(ids)-1])
	}
	if ids := definition.NewStore(filepath.Join(t.TempDir(), "none")).IDs(); len(ids) != 0 {
		t.Errorf("without a directory there are %q", ids)
	}
}

func keyNames(names *[]string) func(string) error {
	return func(name string) error {
		*names = append(*names, name)
		return nil
	}
}

// TestCreated checks decision G62.
func TestCreated(t *testing.T) {
	s, dir := newStore(t, map[string]string{"custom_a_1.json": "broken"})
	var names, ids []string
	for _, display := range []string{"A", "a", "Straße", " B  c", strings.Repeat("d", 243)} {
		id, err := s.Create(definition.Request{Engine: "anthropic_compatible", DisplayName: display, APIURL: "u", Models: []string{"b", "a"}}, keyNames(&names))
		if err != nil {
			t.Errorf("%s: %v", display, err)
		}
		ids = append(ids, id)
	}
	long := "custom_" + strings.Repeat("d", 243)
	same(t, "IDs", []string{"custom_a", "custom_a_2", "custom_straße", "custom__b__c", long}, ids)
	same(t, "keys", []string{"CUSTOM_A_API_KEY", "CUSTOM_A_2_API_KEY", "CUSTOM_STRASSE_API_KEY", "CUSTOM__B__C_API_KEY", strings.ToUpper(long) + "_API_KEY"}, names)
	d, _, err := s.Find("custom_a_2")
	want := `{"name":"custom_a_2","engine":"anthropic","display_name":"a","description":"Custom a provider","api_key_env":"CUSTOM_A_2_API_KEY","base_url":"u",` +
		`"models":[{"name":"b","context_limit":128000,"input_token_cost":null,"output_token_cost":null,"currency":null,"supports_cache_control":null},` +
		`{"name":"a","context_limit":128000,"input_token_cost":null,"output_token_cost":null,"currency":null,"supports_cache_control":null}],` +
		`"headers":null,"timeout_seconds":null,"supports_streaming":null}`
	if got := string(jsonwire.Marshal(d)); err != nil || got != want {
		t.Errorf("%s, %v\nwant %s", got, err, want)
	}
	if info, err := os.Stat(filepath.Join(dir, "custom_a.json")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v; want mode 600", info, err)
	}
}

func same(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// TestRefused checks that nothing is stored of what is refused, not even the key.
func TestRefused(t *testing.T) {
	s, dir := newStore(t, map[string]string{"x.json": strings.Replace(least, "{", `{"api_key_env":"K",`, 1)})
	var names []string
	for _, r := range []definition.Request{
		{Engine: "openai", DisplayName: "a"}, {Engine: "openai_compatible", DisplayName: "a/b"}, {Engine: "openai_compatible", DisplayName: "a\tb"},
		{Engine: "openai_compatible", DisplayName: strings.Repeat("a", 244)},
	} {
		if id, err := s.Create(r, keyNames(&names)); err == nil {
			t.Errorf("%q of the engine %s is stored as %s", r.DisplayName, r.Engine, id)
		}
	}
	for id, engine := range map[string]string{"x": "openai", "none": "openai_compatible"} {
		if err := s.Update(id, definition.Request{Engine: engine, APIKey: "k"}, keyNames(&names)); err == nil {
			t.Errorf("%s is changed", id)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 || len(names) > 0 {
		t.Errorf("%v, %v, keys %q; want nothing new", left, err, names)
	}
}

func TestRequestsAtOnceGetTheirOwnIDs(t *testing.T) {
	s, _ := newStore(t, nil)
	var all sync.WaitGroup
	ids := make([]string, 10)
	for i := range ids {
		all.Go(func() {
			ids[i], _ = s.Create(definition.Request{Engine: "ollama_compatible", DisplayName: "A"}, func(string) error { return nil })
		})
	}
	all.Wait()
	slices.Sort(ids)
	if len(slices.Compact(ids)) != 10 || ids[0] != "custom_a" || ids[9] != "custom_a_9" {
		t.Errorf("IDs: %q", ids)
	}
}

// TestUpdated checks decision G63.
func TestUpdated(t *testing.T) {
	s, dir := newStore(t, map[string]string{
		"elsewhere/one": `{"name":"n","engine":"anthropic","display_name":"Old","description":"Mine","api_key_env":"K","base_url":"u","models":[{"name":"a","context_limit":5}],"headers":{"X":"1"},"timeout_seconds":7,"supports_streaming":true}`,
	})
	if err := os.Symlink(filepath.Join("elsewhere", "one"), filepath.Join(dir, "one.json")); err != nil {
		t.Fatal(err)
	}
	var names []string
	request := definition.Request{Engine: "ollama_compatible", DisplayName: "New", APIURL: "v", APIKey: "k", Models: []string{"b"}, Headers: jsonwire.Pairs{{Name: "Y", Value: "2"}}}
	if err := s.Update("one", request, keyNames(&names)); err != nil {
		t.Fatal(err)
	}
	d, _, err := s.Find("one")
	want := `{"name":"one","engine":"ollama","display_name":"New","description":"Mine","api_key_env":"K","base_url":"v","models":[{"name":"b","context_limit":128000,` +
		`"input_token_cost":null,"output_token_cost":null,"currency":null,"supports_cache_control":null}],"headers":{"X":"1"},"timeout_seconds":7,"supports_streaming":null}`
	if got := string(jsonwire.Marshal(d)); err != nil || got != want {
		t.Errorf("%s, %v\nwant %s", got, err, want)
	}
	if info, err := os.Lstat(filepath.Join(dir, "one.json")); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("%v, %v; want the link", info, err)
	}
	if err := s.Update("groq", definition.Request{Engine: "?", APIKey: "k"}, keyNames(&names)); err != nil {
		t.Error(err)
	}
	request.APIKey = ""
	if err := s.Update("one", request, keyNames(&names)); err != nil {
		t.Error(err)
	}
	same(t, "keys", []string{"K", "GROQ_API_KEY"}, names)
}

func TestRemoved(t *testing.T) {
	s, dir := newStore(t, map[string]string{"a.json": "broken", "b.json": least, "d.json/x": ""})
	var names []string
	for _, id := range []string{"a", "none", "groq"} {
		if err := s.Remove(id, keyNames(&names)); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
	if err := s.Remove("b", func(string) error { return errors.New("no") }); err == nil {
		t.Error("b is removed, and its key is not")
	}
	if err := s.Remove("d", keyNames(&names)); err == nil {
		t.Error("a directory is removed")
	}
	same(t, "keys", []string{"A_API_KEY"}, names)
	var left []string
	all, _ := os.ReadDir(dir)
	for _, entry := range all {
		left = append(left, entry.Name())
	}
	same(t, "files", []string{"b.json", "d.json"}, left)
}

func TestWhatDoesNotFitIsNotWritten(t *testing.T) {
	s, dir := newStore(t, nil)
	if _, err := s.Create(definition.Request{Engine: "ollama_compatible", APIURL: strings.Repeat("x", 2<<20)}, func(string) error { return nil }); err == nil {
		t.Error("a file above 2 MiB is written")
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("there are %v", left)
	}
}

func TestBundledDefinitionsAreWhole(t *testing.T) {
	for id, d := range definition.Bundled() {
		text, err := json.Marshal(d)
		if err != nil || d.Name != id || len(d.Models) == 0 || !definition.NeedsKey(d) || definition.Description(d) == "" {
			t.Errorf("%s is %s, %v", id, text, err)
		}
	}
}
