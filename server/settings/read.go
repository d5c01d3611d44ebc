package settings

import (
	"errors"
	"fmt"
	"os"
	"regexp"

	"github.com/lockstep-dev/lockstep/server/files"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
	"github.com/lockstep-dev/lockstep/server/wire/yamljson"
)

// maxFile is the maximum size of a file (decision G13).
const maxFile = 2 << 20

// ErrNotMapping says that a file can be read but does not hold what it must: a mapping.
var ErrNotMapping = errors.New("not a YAML mapping")

// A content is what a file has.
type content struct {
	text    string
	mapping jsonwire.Text
}

// Mapping returns the mapping of a file. A missing file of secrets holds an empty one. If config.yaml is missing or has
// no mapping, its newest backup with a mapping replaces it, or else an empty mapping (GA 10); a file without a mapping is
// kept under another name. Other files that cannot be read are errors, and stay.
func (s *Settings) Mapping(f File) (jsonwire.Text, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := s.read(f)
	return c.mapping, err
}

// read reads a file, and repairs config.yaml. The caller holds s.mu.
func (s *Settings) read(f File) (content, error) {
	path := s.path(f)
	c, err := readMapping(path)
	missing := files.IsMissing(err)
	switch {
	case f == Secrets && missing:
		return empty, nil
	case f == Secrets || !missing && !errors.Is(err, ErrNotMapping):
		return c, err
	}
	if !missing {
		if err := rotate(path+".broken", c.text, files.ReplacePrivate); err != nil {
			return c, fmt.Errorf("keep what %s held: %w", path, err)
		}
		s.log.Warn("configuration kept aside", "from", path, "to", path+".broken", "err", err)
	}
	from, c := newest(path + ".bak")
	if err := files.ReplacePrivate(files.Target(path), []byte(c.text)); err != nil {
		return c, fmt.Errorf("replace %s: %w", path, err)
	}
	if from != "" {
		s.log.Warn("configuration restored", "from", from, "to", path)
	} else if !missing {
		s.log.Warn("configuration replaced by an empty one", "to", path)
	}
	return c, nil
}

var empty = content{"{}\n", jsonwire.Text("{}")}

// newest returns the newest of a file's copies that has a mapping, and its path; or an empty mapping, and no path.
func newest(path string) (from string, c content) {
	for _, suffix := range suffixes {
		if c, err := readMapping(path + suffix); err == nil {
			return path + suffix, c
		}
	}
	return "", empty
}

// readMapping reads a file that must hold a mapping. An empty file holds an empty one. If the error is [ErrNotMapping],
// there is a text.
func readMapping(path string) (content, error) {
	text, err := files.ReadText(path, maxFile)
	if err != nil {
		return content{}, err
	}
	value, err := yamljson.Parse([]byte(text))
	switch {
	case err != nil:
		return content{text: text}, fmt.Errorf("%s: %w%s", path, ErrNotMapping, placeOf(err))
	case value.Kind() == "null":
		value = jsonwire.Text("{}")
	case value.Kind() != "object":
		return content{text: text}, fmt.Errorf("%s: %w", path, ErrNotMapping)
	}
	return content{text, value}, nil
}

var line = regexp.MustCompile(`\bline \d+`)

// placeOf returns the line of an error of YAML. The rest of the error may quote the file, which may have secrets:
// `PASSWORD: *secret` without quotes is an unknown alias.
func placeOf(err error) string {
	if place := line.FindString(err.Error()); place != "" {
		return " at " + place
	}
	return ""
}

// Exists reports whether there is something with the name of config.yaml, unless it is a link to a path that does not
// exist (decision G45).
func (s *Settings) Exists() bool {
	_, err := os.Stat(s.path(Config))
	return !files.IsMissing(err)
}

// ErrNotYAML says that a file can be read but is not YAML.
var ErrNotYAML = errors.New("not YAML")

// Validate checks whether config.yaml is YAML, whatever it holds, and returns [ErrNotYAML] if not (GA 10.6). Other errors
// come from reading the file, which may be missing. Validate changes nothing.
func (s *Settings) Validate() error {
	path := s.path(Config)
	text, err := files.ReadText(path, maxFile)
	if err != nil {
		return err
	}
	if _, err := yamljson.Parse([]byte(text)); err != nil {
		return fmt.Errorf("%s: %w%s", path, ErrNotYAML, placeOf(err))
	}
	return nil
}
