package settings_test

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/server/files"
	"github.com/lockstep-dev/lockstep/server/settings"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// newSettings returns the settings of a new directory, without an environment.
func newSettings(t *testing.T) (s *settings.Settings, dir string) {
	t.Helper()
	dir = t.TempDir()
	return settings.New(dir, environment(nil), slog.New(slog.DiscardHandler)), dir
}

func put(s *settings.Settings, in settings.File, key, value string) error {
	return s.Change(in, key, func(jsonwire.Text) jsonwire.Text { return jsonwire.Text(value) })
}

func TestAValueIsChanged(t *testing.T) {
	s, dir := newSettings(t)
	for _, file := range []settings.File{settings.Config, settings.Secrets} {
		write(t, dir, string(file), "# mine\nb: 1.50\na: [no]\nc: {}\n")
		for _, step := range []struct{ key, old, new, want string }{
			{"a", `["no"]`, `"yes"`, "b: 1.50\na: \"yes\"\nc: {}\n"},
			{"d e", "", `12345678901234567890.10`, "b: 1.50\na: \"yes\"\nc: {}\nd e: 12345678901234567890.10\n"},
			{"B", "", "null", "b: 1.50\na: \"yes\"\nc: {}\nd e: 12345678901234567890.10\nB: null\n"},
			{"b", "1.50", "", "a: \"yes\"\nc: {}\nd e: 12345678901234567890.10\nB: null\n"},
			{"b", "", "", "a: \"yes\"\nc: {}\nd e: 12345678901234567890.10\nB: null\n"},
			{"B", "null", "", "a: \"yes\"\nc: {}\nd e: 12345678901234567890.10\n"},
		} {
			err := s.Change(file, step.key, func(old jsonwire.Text) jsonwire.Text {
				if string(old) != step.old {
					t.Errorf("the old value of %s is %s, want %s", step.key, old, step.old)
				}
				if step.new == "" {
					return nil
				}
				return jsonwire.Text(step.new)
			})
			if got := read(t, dir, string(file)); err != nil || got != step.want {
				t.Errorf("%s is\n%s%v, want\n%s", file, got, err, step.want)
			}
		}
	}
	for _, key := range []string{"a", "d e", "c"} {
		if err := s.Change(settings.Secrets, key, func(jsonwire.Text) jsonwire.Text { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if got := read(t, dir, "secrets.yaml"); got != "{}\n" {
		t.Errorf("without secrets the file is %q", got)
	}
}

// generations returns the first characters of config.yaml and its backups, with - for a missing file.
func generations(dir string) (all string) {
	for _, suffix := range []string{"", ".bak", ".bak.1", ".bak.2", ".bak.3", ".bak.4", ".bak.5"} {
		text, err := os.ReadFile(filepath.Join(dir, "config.yaml"+suffix))
		if err != nil {
			text = []byte("-")
		}
		all += strings.TrimPrefix(strings.TrimSpace(string(text)), "v: ")
	}
	return all
}

// TestBackupsMove checks decision G41.
func TestBackupsMove(t *testing.T) {
	s, dir := newSettings(t)
	write(t, dir, "config.yaml", "v: 0")
	for _, step := range []struct{ value, want string }{
		{"1", "10-----"}, {"2", "210----"}, {"2", "2210---"}, {"3", "32210--"}, {"4", "432210-"}, {"5", "5432210"}, {"6", "6543221"},
	} {
		if err := put(s, settings.Config, "v", step.value); err != nil || generations(dir) != step.want {
			t.Errorf("after %s: %s, %v; want %s", step.value, generations(dir), err, step.want)
		}
	}
	if err := os.Remove(filepath.Join(dir, "config.yaml.bak.2")); err != nil {
		t.Fatal(err)
	}
	if path, err := s.Backup(); err != nil || path != filepath.Join(dir, "config.yaml") || generations(dir) != "664-221" {
		t.Errorf("a backup alone of %s: %s, %v", path, generations(dir), err)
	}
	if err := put(s, settings.Config, "v", "7"); err != nil || generations(dir) != "7664-22" {
		t.Errorf("a gap: %s, %v", generations(dir), err)
	}
	if err := errors.Join(put(s, settings.Secrets, "v", "1"), put(s, settings.Secrets, "v", "2")); err != nil {
		t.Fatal(err)
	}
	all, err := filepath.Glob(filepath.Join(dir, "secrets*"))
	if err != nil || len(all) != 1 {
		t.Errorf("secrets are in %q, %v; want one file", all, err)
	}
}

// TestCopiesArePlainFilesWithMode600 checks that config.yaml is copied and not renamed: then it exists at any moment.
func TestCopiesArePlainFilesWithMode600(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	s, dir := newSettings(t)
	elsewhere := t.TempDir()
	write(t, elsewhere, "c", "v: 0\n")
	if err := os.Symlink(filepath.Join(elsewhere, "c"), filepath.Join(dir, "config.yaml")); err != nil {
		t.Fatal(err)
	}
	if err := put(s, settings.Config, "v", "1"); err != nil {
		t.Fatal(err)
	}
	write(t, elsewhere, "c", "- broken")
	if v, err := s.Setting("v"); err != nil || string(v) != "0" {
		t.Errorf("the newest backup has %s, %v; want 0", v, err)
	}
	want := map[string]string{"config.yaml": "link v: 0\n", "config.yaml.bak": "v: 0\n", "config.yaml.broken": "- broken"}
	got := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		text := read(t, dir, entry.Name())
		if entry.Type() == fs.ModeSymlink {
			text = "link " + text
		}
		got[entry.Name()] = text
		if info, err := os.Stat(filepath.Join(dir, entry.Name())); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v; want mode 600", entry.Name(), info, err)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestWhatCannotBeChangedStays checks decisions G13 and G38.
func TestWhatCannotBeChangedStays(t *testing.T) {
	for name, text := range map[string]string{
		"not UTF-8": "a: \"\xff\"\n", "UTF-16": "\xff\xfea\x00:\x00 \x001\x00", "half a pair": "a: \"\xed\xa0\x80\"\n", "large": "a: 1\n#" + strings.Repeat("x", 2<<20),
	} {
		s, dir := newSettings(t)
		for _, file := range []settings.File{settings.Config, settings.Secrets} {
			write(t, dir, string(file), text)
			_, finding := s.Find(file, "a")
			_, mapping := s.Mapping(file)
			if changing := put(s, file, "a", "1"); finding == nil || mapping == nil || changing == nil || read(t, dir, string(file)) != text {
				t.Errorf("%s, %s: %v, %v, %v; want errors", name, file, finding, mapping, changing)
			}
		}
		if all, _ := os.ReadDir(dir); len(all) != 2 {
			t.Errorf("%s: there are %v, want the two files", name, all)
		}
		if value, err := s.Setting("a"); value != nil || err != nil {
			t.Errorf("%s: the setting is %s, %v; want none", name, value, err)
		}
	}
	s, dir := newSettings(t)
	write(t, dir, "secrets.yaml", "- a")
	if err := put(s, settings.Secrets, "a", "1"); !errors.Is(err, settings.ErrNotMapping) || read(t, dir, "secrets.yaml") != "- a" {
		t.Errorf("secrets that are not a mapping: %v", err)
	}
}

func TestAChangeThatDoesNotFitMovesNothing(t *testing.T) {
	s, dir := newSettings(t)
	write(t, dir, "config.yaml", "v: 0\n")
	large := `"` + strings.Repeat("x", 2<<20) + `"`
	if err := put(s, settings.Config, "k", large); err == nil || generations(dir) != "0------" {
		t.Errorf("a file above 2 MiB: %s, %v", generations(dir), err)
	}
	if err := put(s, settings.Config, "k", strings.Repeat("[", 500)+strings.Repeat("]", 500)); err == nil || generations(dir) != "0------" {
		t.Errorf("501 levels: %s, %v", generations(dir), err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "config.yaml.bak.5", "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "config.yaml.bak.4", "v: 4\n")
	if err := put(s, settings.Config, "v", "1"); err == nil || read(t, dir, "config.yaml") != "v: 0\n" {
		t.Errorf("with a backup that cannot move: %v", err)
	}
}

// TestATextThatCannotBeWrittenMovesNoBackup checks decision G41: the new text is on the disk before the backups move.
func TestATextThatCannotBeWrittenMovesNoBackup(t *testing.T) {
	s, dir := newSettings(t)
	write(t, dir, "config.yaml", "v: 1\n")
	write(t, dir, "config.yaml.bak", "v: 0\n")
	write(t, filepath.Join(dir, "config.yaml.tmp"), "in the way", "")
	if err := put(s, settings.Config, "v", "2"); err == nil || generations(dir) != "10-----" {
		t.Errorf("%s, %v; want an error and the backup as it was", generations(dir), err)
	}
}

// TestBackupsOfALinkedDirectory checks that a directory with two paths is locked once.
func TestBackupsOfALinkedDirectory(t *testing.T) {
	_, dir := newSettings(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	s := settings.New(link, environment(nil), slog.New(slog.DiscardHandler))
	write(t, dir, "config.yaml", "v: 0\n")
	if err := put(s, settings.Config, "v", "1"); err != nil || generations(dir) != "10-----" {
		t.Errorf("%s, %v", generations(dir), err)
	}
}

// TestOfManyChangesNoneIsLost checks decision G42.
func TestOfManyChangesNoneIsLost(t *testing.T) {
	s, dir := newSettings(t)
	keys := strings.Split("abcdefghijklmnopqrst", "")
	var all sync.WaitGroup
	for _, key := range keys {
		for _, file := range []settings.File{settings.Config, settings.Secrets} {
			all.Go(func() {
				if err := put(s, file, key+"1", "1"); err != nil {
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
	for _, file := range []settings.File{settings.Config, settings.Secrets} {
		mapping, err := s.Mapping(file)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for key := range mapping.Members() {
			got = append(got, key.Str()[:1])
		}
		slices.Sort(got)
		if !slices.Equal(got, keys) {
			t.Errorf("%s has %q, want all", file, got)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.tmp")); len(left) > 0 {
		t.Errorf("temporary files are left: %q", left)
	}
}

func TestWhetherTheFileIsValid(t *testing.T) {
	for name, tc := range map[string]struct {
		make func(path string) error
		want error // nil for a valid file
	}{
		"a list":    {func(path string) error { return os.WriteFile(path, []byte("- a"), 0o600) }, nil},
		"empty":     {func(path string) error { return os.WriteFile(path, nil, 0o600) }, nil},
		"syntax":    {func(path string) error { return os.WriteFile(path, []byte("a: ["), 0o600) }, settings.ErrNotYAML},
		"not UTF-8": {func(path string) error { return os.WriteFile(path, []byte("\xff"), 0o600) }, errAny},
		"none":      {func(string) error { return nil }, fs.ErrNotExist},
		"dangling":  {func(path string) error { return os.Symlink("nowhere", path) }, fs.ErrNotExist},
		"in a file": {func(path string) error { return os.Symlink("/dev/null/x", path) }, fs.ErrNotExist},
		"loop":      {func(path string) error { return os.Symlink(path, path) }, errAny},
		"FIFO":      {func(path string) error { return syscall.Mkfifo(path, 0o600) }, errAny},
	} {
		s, dir := newSettings(t)
		if err := tc.make(filepath.Join(dir, "config.yaml")); err != nil {
			t.Fatal(err)
		}
		err := s.Validate()
		if files.IsMissing(err) {
			err = fs.ErrNotExist
		}
		isAny := err != nil && !errors.Is(err, settings.ErrNotYAML) && !errors.Is(err, fs.ErrNotExist)
		if !errors.Is(err, tc.want) && (tc.want != errAny || !isAny) {
			t.Errorf("%s: %v, want %v", name, err, tc.want)
		}
		if got, want := s.Exists(), tc.want != fs.ErrNotExist; got != want {
			t.Errorf("%s: there is a file: %t, want %t", name, got, want)
		}
	}
}

var errAny = errors.New("another error")

// TestErrorsDoNotQuoteFiles checks that a secret that is not quoted, and so is not YAML, stays in the file.
func TestErrorsDoNotQuoteFiles(t *testing.T) {
	var logged bytes.Buffer
	dir := t.TempDir()
	s := settings.New(dir, environment(nil), slog.New(slog.NewTextHandler(&logged, nil)))
	for _, text := range []string{"a: 1\nPASSWORD: *canary", "PASSWORD: &a !canary!x b", "canary: 1\ncanary: 1", "a: [\ncanary", "%canary\n---\na: 1", "PASSWORD: !<canary> [", "a: 1\ncanary"} {
		write(t, dir, "secrets.yaml", text)
		write(t, dir, "config.yaml", text)
		_, secret := s.Secret("PASSWORD")
		valid := s.Validate()
		_, setting := s.Mapping(settings.Config)
		if secret == nil || valid == nil || setting != nil {
			t.Fatalf("%q is YAML: %v, %v, %v", text, secret, valid, setting)
		}
		for _, said := range []string{secret.Error(), valid.Error(), logged.String()} {
			if strings.Contains(said, "canary") {
				t.Errorf("%q is quoted: %s", text, said)
			}
		}
	}
	if !strings.Contains(logged.String(), "not a YAML mapping at line 2") {
		t.Errorf("the log does not say where:\n%s", &logged)
	}
}

func TestKeysThatAreNoVariables(t *testing.T) {
	s := settings.New(t.TempDir(), func(string) (string, bool) { return "value", true }, slog.New(slog.DiscardHandler))
	for key, want := range map[string]string{"a": `"value"`, "": "", "a=b": "", "a\x00": "", "goose_server__ſecret_key": "", "GOOSE_SERVER__SECRET_KEY": ""} {
		if got, err := s.Find(settings.Config, key); err != nil || string(got) != want {
			t.Errorf("%q is %s, %v; want %s", key, got, err, want)
		}
	}
}
