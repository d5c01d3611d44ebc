package settings

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"unicode/utf8"

	"github.com/lockstep-dev/lockstep/server/files"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
	"github.com/lockstep-dev/lockstep/server/wire/yamljson"
)

// ErrNotMapping says that a file can be read but does not hold what it must: a mapping.
var ErrNotMapping = errors.New("not a YAML mapping")

// A content is what a file has.
type content struct {
	text []byte
	mapping
}

// A mapping is the JSON of a mapping, and its values by their keys.
type mapping struct {
	json   jsonwire.Text
	values map[string]jsonwire.Text
}

// mappingOf returns the mapping of the JSON of an object.
func mappingOf(json jsonwire.Text) mapping {
	m := mapping{json, map[string]jsonwire.Text{}}
	for name, value := range json.Members() {
		m.values[name.Str()] = value
	}
	return m
}

// Mapping returns the mapping of a file. A missing file of secrets holds an empty one. If config.yaml is missing or has
// no mapping, its newest backup with a mapping replaces it, or else an empty mapping (GA 10); a file without a mapping is
// kept under another name. Other files that cannot be read are errors, and stay.
func (s *Settings) Mapping(f File) (jsonwire.Text, error) {
	m, err := s.mapping(f)
	return m.json, err
}

func (s *Settings) mapping(f File) (mapping, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := s.read(f)
	return c.mapping, err
}

// read reads a file, and repairs config.yaml. The caller holds s.mu.
func (s *Settings) read(f File) (content, error) {
	path := s.path(f)
	var c content
	var err error
	c.text, c.mapping, err = s.files.Read(path)
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
	if err := files.ReplacePrivate(files.Target(path), c.text); err != nil {
		return c, fmt.Errorf("replace %s: %w", path, err)
	}
	if from != "" {
		s.log.Warn("configuration restored", "from", from, "to", path)
	} else if !missing {
		s.log.Warn("configuration replaced by an empty one", "to", path)
	}
	return c, nil
}

var empty = content{[]byte("{}\n"), mappingOf(jsonwire.Text("{}"))}

// newest returns the newest of a file's copies that has a mapping, and its path; or an empty mapping, and no path.
func newest(path string) (from string, c content) {
	for _, suffix := range suffixes {
		text, err := files.Read(path+suffix, files.MaxSettings)
		if err != nil {
			continue
		}
		if m, err := parseMapping(text); err == nil {
			return path + suffix, content{text, m}
		}
	}
	return "", empty
}

// parseMapping returns the mapping of a text, which may be empty.
func parseMapping(text []byte) (mapping, error) {
	if !utf8.Valid(text) {
		return mapping{}, files.ErrNotUTF8
	}
	value, err := yamljson.Parse(text)
	switch {
	case err != nil:
		return mapping{}, fmt.Errorf("%w%s", ErrNotMapping, placeOf(err))
	case value.Kind() == "null":
		return empty.mapping, nil
	case value.Kind() != "object":
		return mapping{}, ErrNotMapping
	}
	return mappingOf(value), nil
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
	text, err := files.ReadText(path, files.MaxSettings)
	if err != nil {
		return err
	}
	if _, err := yamljson.Parse([]byte(text)); err != nil {
		return fmt.Errorf("%s: %w%s", path, ErrNotYAML, placeOf(err))
	}
	return nil
}
