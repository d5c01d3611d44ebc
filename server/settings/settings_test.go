package settings_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
	"github.com/lockstep-dev/lockstep/internal/testfile"
	"github.com/lockstep-dev/lockstep/server/settings"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m)) }

func environment(variables map[string]string) settings.Lookup {
	return func(name string) (string, bool) {
		value, ok := variables[name]
		return value, ok
	}
}

func TestWhereFilesAreStored(t *testing.T) {
	t.Chdir("/")
	for _, tc := range []struct {
		name string
		env  map[string]string
		want settings.Directories
	}{
		{"a root", map[string]string{"GOOSE_PATH_ROOT": "/r", "HOME": "/h", "XDG_DATA_HOME": "/x"},
			settings.Directories{Config: "/r/config", Data: "/r/data", State: "/r/state", Cache: "/h/.cache/goose"}},
		{"a relative root", map[string]string{"GOOSE_PATH_ROOT": "r/.", "GOOSE_CACHE_DIR": "c/."},
			settings.Directories{Config: "/r/config", Data: "/r/data", State: "/r/state", Cache: "/c"}},
		{"a root alone", map[string]string{"GOOSE_PATH_ROOT": "/r", "XDG_CACHE_HOME": "x"},
			settings.Directories{Config: "/r/config", Data: "/r/data", State: "/r/state"}},
		{"at home", map[string]string{"HOME": "/h", "GOOSE_PATH_ROOT": "", "GOOSE_CACHE_DIR": ""},
			settings.Directories{Config: "/h/.config/goose", Data: "/h/.local/share/goose", State: "/h/.local/state/goose", Cache: "/h/.cache/goose"}},
		{"by XDG", map[string]string{"XDG_CONFIG_HOME": "/c", "XDG_DATA_HOME": "/d", "XDG_STATE_HOME": "/s", "XDG_CACHE_HOME": "/x"},
			settings.Directories{Config: "/c/goose", Data: "/d/goose", State: "/s/goose", Cache: "/x/goose"}},
		{"partly by XDG", map[string]string{"HOME": "/h", "XDG_CONFIG_HOME": "c", "XDG_DATA_HOME": "", "XDG_CACHE_HOME": "x", "GOOSE_CACHE_DIR": "/y"},
			settings.Directories{Config: "/h/.config/goose", Data: "/h/.local/share/goose", State: "/h/.local/state/goose", Cache: "/y"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := settings.Locate(environment(tc.env))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if _, err := settings.Locate(environment(map[string]string{"XDG_DATA_HOME": "/d"})); err == nil {
		t.Error("Locate knows where without being told")
	}
}

func TestMakeCreatesWhatIsNeeded(t *testing.T) {
	d := settings.Below(filepath.Join(t.TempDir(), "root"))
	for range 2 {
		if err := d.Make(); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{d.Config, filepath.Dir(d.Sessions())} {
		if info, err := os.Stat(path); err != nil || !info.IsDir() || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
}

// TestTheEnvironmentComesFirstAndIsTyped checks decision G14.
func TestTheEnvironmentComesFirstAndIsTyped(t *testing.T) {
	for value, want := range map[string]string{
		"8080": "8080", `"8080"`: `"8080"`, "[1]": "[1]", ` {"a" : 1.0}`: `{"a":1.0}`, "null": "null", "": `""`, "true": "true", "True": "true", "FALSE": "false", "fal\u017fe": "\"fal\u017fe\"",
		"007": "7", "+5": "5", "-0": "-0", "1.": "1", ".5": "0.5", "+1.5e3": "1500", "inf": `"inf"`, "NaN": `"NaN"`, "1e999": "1e999", ".1e999": `".1e999"`,
		"0099999999999999999999": "1e+20", "sk-1": `"sk-1"`, "[1": `"[1"`, "a\xffb": "\"a\uFFFDb\"", "0x10": `"0x10"`, "true ": "true", "\uFEFF1": "\"\uFEFF1\"",
	} {
		s := settings.New(t.TempDir(), environment(map[string]string{"SOME_KEY": value}), slog.New(slog.DiscardHandler))
		for _, find := range []func() (string, error){
			func() (string, error) { v, err := s.Setting("some_Key"); return string(v), err },
			func() (string, error) { v, err := s.Secret("SOME_KEY"); return string(v), err },
		} {
			if got, err := find(); err != nil || got != want {
				t.Errorf("%q is %s, %v; want %s", value, got, err, want)
			}
		}
	}
}

func TestFilesAreReadAgainEachTime(t *testing.T) {
	dir := t.TempDir()
	s := settings.New(dir, environment(nil), slog.New(slog.DiscardHandler))
	value := func(key string) string {
		t.Helper()
		v, err := s.Setting(key)
		if err != nil {
			t.Fatal(err)
		}
		return string(v)
	}
	if got := value("GOOSE_MODEL"); got != "" {
		t.Errorf("a setting of nowhere: %s", got)
	}
	if got := read(t, dir, "config.yaml"); got != "{}\n" {
		t.Errorf("config.yaml: %q", got)
	}
	write(t, dir, "config.yaml", "GOOSE_MODEL: gpt-4o\nn: 1.50\nextensions: {developer: {enabled: true}}\n")
	if got := value("GOOSE_MODEL"); got != `"gpt-4o"` {
		t.Errorf("GOOSE_MODEL: %s", got)
	}
	if got := value("goose_model"); got != "" {
		t.Errorf("keys of the file are matched in any case: %s", got)
	}
	if got := value("n") + value("extensions"); got != `1.50{"developer":{"enabled":true}}` {
		t.Errorf("others: %s", got)
	}
	if text, ok := s.Text("GOOSE_MODEL"); text != "gpt-4o" || !ok {
		t.Errorf("Text: %q, %t", text, ok)
	}
	if _, ok := s.Text("n"); ok {
		t.Error("Text of a number")
	}
	write(t, dir, "secrets.yaml", "KEY: s3cret\n")
	if v, err := s.Secret("KEY"); err != nil || string(v) != `"s3cret"` {
		t.Errorf("Secret: %s, %v", v, err)
	}
	write(t, dir, "secrets.yaml", "[")
	if _, err := s.Secret("KEY"); err == nil {
		t.Error("secrets that are no mapping have no error")
	}
}

func TestABadFileIsReplaced(t *testing.T) {
	for _, bad := range []string{"[1]", "a: [", "text", "5", "a: 1\na: 2", ": bad", "? [a]\n: b"} {
		dir := t.TempDir()
		s := settings.New(dir, environment(nil), slog.New(slog.DiscardHandler))
		write(t, dir, "config.yaml", bad)
		write(t, dir, "config.yaml.bak", "- also\n- bad\n")
		write(t, dir, "config.yaml.bak.1", "good: 1 # kept\n")
		write(t, dir, "config.yaml.bak.2", "good: 2\n")
		if v, err := s.Setting("good"); err != nil || string(v) != "1" {
			t.Errorf("with %q: %s, %v", bad, v, err)
		}
		if got := read(t, dir, "config.yaml"); got != "good: 1 # kept\n" {
			t.Errorf("with %q: the file is %q", bad, got)
		}
		if got := read(t, dir, "config.yaml.broken"); got != bad {
			t.Errorf("with %q: %q is kept", bad, got)
		}
	}
	dir := t.TempDir()
	write(t, dir, "config.yaml", "")
	s := settings.New(dir, environment(nil), slog.New(slog.DiscardHandler))
	if v, err := s.Mapping(settings.Config); err != nil || string(v) != "{}" || read(t, dir, "config.yaml") != "" {
		t.Errorf("an empty file: %s, %v", v, err)
	}
}

func TestTheLastBadFilesAreKept(t *testing.T) {
	dir := t.TempDir()
	var logged strings.Builder
	s := settings.New(dir, environment(nil), slog.New(slog.NewTextHandler(&logged, nil)))
	for _, bad := range strings.Split("1234567", "") {
		write(t, dir, "config.yaml", bad)
		if v, err := s.Mapping(settings.Config); err != nil || string(v) != "{}" {
			t.Errorf("%s, %v", v, err)
		}
	}
	for suffix, want := range map[string]string{"": "7", ".1": "6", ".2": "5", ".3": "4", ".4": "3", ".5": "2"} {
		if got := read(t, dir, "config.yaml.broken"+suffix); got != want {
			t.Errorf("config.yaml.broken%s: %s, want %s", suffix, got, want)
		}
	}
	for _, want := range []string{"from=" + filepath.Join(dir, "config.yaml"), "to=" + filepath.Join(dir, "config.yaml.broken"), "replaced"} {
		if !strings.Contains(logged.String(), want) {
			t.Errorf("the log does not say %q:\n%s", want, &logged)
		}
	}
}

// TestAFileThatCannotBeReadStays checks that the server does not block on a FIFO, and does not replace a file that it
// cannot read.
func TestAFileThatCannotBeReadStays(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"FIFO":      func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"directory": func(path string) error { return os.Mkdir(path, 0o700) },
		"zeros":     func(path string) error { return os.Symlink("/dev/zero", path) },
		"loop":      func(path string) error { return os.Symlink(path, path) },
		"large":     func(path string) error { return os.WriteFile(path, bytes.Repeat([]byte("a: 1\n#"), 1<<19), 0o600) },
	} {
		dir := t.TempDir()
		s := settings.New(dir, environment(nil), slog.New(slog.DiscardHandler))
		for _, file := range []string{"config.yaml", "secrets.yaml"} {
			if err := make(filepath.Join(dir, file)); err != nil {
				t.Fatal(err)
			}
		}
		if value, err := s.Setting("a"); value != nil || err != nil {
			t.Errorf("%s: the setting is %s, %v; want none", name, value, err)
		}
		if _, err := s.Secret("a"); err == nil {
			t.Errorf("%s: secrets.yaml was read", name)
		}
		if all, err := os.ReadDir(dir); err != nil || len(all) != 2 {
			t.Errorf("%s: there are %v, %v; want the two files", name, all, err)
		}
	}
}

func write(t *testing.T, dir, name, content string) {
	t.Helper()
	testfile.Write(t, filepath.Join(dir, name), content)
}

func read(t *testing.T, dir, name string) string {
	return testfile.Text(t, filepath.Join(dir, name))
}

// TestAViewIsOfOneMoment checks that a view reads each file once, and that the next one sees changes of others (decision
// G38).
func TestAViewIsOfOneMoment(t *testing.T) {
	dir := t.TempDir()
	s := settings.New(dir, environment(map[string]string{"E": "1", "GOOSE_DISABLE_KEYRING": ""}), slog.New(slog.DiscardHandler))
	for _, value := range []string{"1", "2"} {
		write(t, dir, "config.yaml", "a: "+value+"\nb: "+value)
		write(t, dir, "secrets.yaml", "c: "+value+"\nd: "+value)
		v := s.View()
		a, _ := v.Setting("a")
		c, _ := v.Secret("c")
		write(t, dir, "config.yaml", "a: 9\nb: 9")
		write(t, dir, "secrets.yaml", ": no mapping")
		b, _ := v.Setting("b")
		d, err := v.Secret("d")
		e, _ := v.Secret("e")
		if string(a) != value || string(b) != value || string(c) != value || string(d) != value || err != nil || string(e) != "1" {
			t.Errorf("%s %s %s %s %s, %v; want %s, and 1", a, b, c, d, e, err, value)
		}
	}
	if a, _ := s.Setting("a"); string(a) != "9" {
		t.Errorf("the next view has %s, want 9", a)
	}
	if c, err := s.Secret("c"); err == nil {
		t.Errorf("the next view has %s, want an error", c)
	}
}
