package settings

import (
	"fmt"
	"os"

	"github.com/lockstep-dev/lockstep/server/files"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
	"github.com/lockstep-dev/lockstep/server/wire/yamljson"
)

// Change changes the value of a key. change gets the old value, or nil if there is none, and returns the new one, or nil
// to remove the key. A known key keeps its place, and a new one goes to the end (decision G44). Secrets are changed in the
// keyring, if there is one (decision G55).
//
// The file is written, and the backups of config.yaml move, even if nothing changes. If Change fails, the file keeps its
// content, and so do the backups if the new text cannot be written (decision G41).
func (s *Settings) Change(in File, key string, change func(old jsonwire.Text) jsonwire.Text) error {
	if in == Secrets {
		return s.changeSecret(key, change)
	}
	return s.changeFile(in, key, false, change)
}

// RemoveSecret removes a stored secret. Without it, nothing is written.
func (s *Settings) RemoveSecret(key string) error {
	if s.secrets.keyring(s) == nil {
		return s.changeFile(Secrets, key, true, remove)
	}
	return s.changeSecret(key, remove)
}

func remove(jsonwire.Text) jsonwire.Text { return nil }

// changeFile changes the value of a key in a file, or only a value that is there.
func (s *Settings) changeFile(in File, key string, ifThere bool, change func(old jsonwire.Text) jsonwire.Text) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, err := s.read(in)
	if err != nil || ifThere && old.values[key] == nil {
		return err
	}
	return s.write(in, old, changed(old.json, key, change))
}

// SetTexts sets settings to strings in one write. New keys go to the end, in the given order (decision G60).
func (s *Settings) SetTexts(texts jsonwire.Pairs) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, err := s.read(Config)
	if err != nil {
		return err
	}
	mapping := old.json
	for _, text := range texts {
		mapping = changed(mapping, text.Name, func(jsonwire.Text) jsonwire.Text { return jsonwire.AppendQuoted(nil, text.Value) })
	}
	return s.write(Config, old, mapping)
}

// write replaces the mapping of a file. The new text is on the disk before the backups move, so a full disk loses none of
// them (decision G41). The caller holds s.mu.
func (s *Settings) write(in File, old content, mapping jsonwire.Text) error {
	path := s.path(in)
	text, err := yamljson.Format(mapping, files.MaxSettings)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return files.ReplacePrivateAfter(files.Target(path), text, func(replace files.Replace) error {
		if in != Config {
			return nil
		}
		if err := rotate(path+".bak", old.text, replace); err != nil {
			return fmt.Errorf("back up %s: %w", path, err)
		}
		return nil
	})
}

// changed returns a mapping with another value for a key.
func changed(mapping jsonwire.Text, key string, change func(old jsonwire.Text) jsonwire.Text) jsonwire.Text {
	w := jsonwire.NewWriter(nil)
	write := func(value jsonwire.Text) {
		if value != nil {
			w.Key(key).Raw(value)
		}
	}
	w.Open('{')
	found := false
	for name, value := range mapping.Members() {
		if name.Str() == key {
			found = true
			write(change(value))
		} else {
			w.Key(name.Str()).Raw(value)
		}
	}
	if !found {
		write(change(nil))
	}
	w.Close('}')
	return w.Text()
}

// Backup copies config.yaml to its newest backup as it is, and returns its path (GA 10.7). The other backups stay.
func (s *Settings) Backup() (path string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	path = s.path(Config)
	content, err := files.Read(path, files.MaxSettings)
	if err != nil {
		return "", err
	}
	return path, files.ReplacePrivate(path+".bak", content)
}

// suffixes are the suffixes of a file's copies, newest first.
var suffixes = []string{"", ".1", ".2", ".3", ".4", ".5"}

// rotate stores the newest of a file's copies. It shifts the earlier ones by one, which drops the oldest.
func rotate(path string, text []byte, replace files.Replace) error {
	for i := len(suffixes) - 1; i > 0; i-- {
		if err := os.Rename(path+suffixes[i-1], path+suffixes[i]); err != nil && !files.IsMissing(err) {
			return err
		}
	}
	return replace(path, text)
}
