// Package extension has the configuration of an extension: everything that is needed to start it or to connect to it
// (GA 4.9). Package connector does that.
package extension

import (
	"encoding/json"
	"strings"
	"unicode"

	"github.com/lockstep-dev/lockstep/server/wire/decode"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
	"github.com/lockstep-dev/lockstep/server/wire/lettercase"
)

// A Config is the configuration of one extension. Its Type decides which fields are used.
type Config struct {
	Type        string // sse, stdio, builtin, platform, streamable_http, frontend or inline_python
	Name        string
	Description string

	URI     string // sse, streamable_http
	Headers jsonwire.Pairs

	Cmd  string // stdio
	Args []string

	Envs    jsonwire.Pairs // sse, stdio, streamable_http
	EnvKeys []string

	DisplayName *string // builtin

	Tools        []Tool // frontend
	Instructions *string

	Code         string   // inline_python
	Dependencies []string // nil is null

	Timeout        *int64 // seconds
	Bundled        *bool
	AvailableTools []string
}

// fields are the fields of each type, in the order in which they are written. All are always written.
var fields = map[string][]string{
	"sse":             {"name", "description", "uri", "envs", "env_keys", "timeout", "bundled", "available_tools"},
	"stdio":           {"name", "description", "cmd", "args", "envs", "env_keys", "timeout", "bundled", "available_tools"},
	"builtin":         {"name", "description", "display_name", "timeout", "bundled", "available_tools"},
	"platform":        {"name", "description", "bundled", "available_tools"},
	"streamable_http": {"name", "description", "uri", "envs", "env_keys", "headers", "timeout", "bundled", "available_tools"},
	"frontend":        {"name", "description", "tools", "instructions", "bundled", "available_tools"},
	"inline_python":   {"name", "description", "code", "timeout", "dependencies", "available_tools"},
}

var types = []string{"sse", "stdio", "builtin", "platform", "streamable_http", "frontend", "inline_python"}

// needsDescription are the types that require a description, which may be null.
var needsDescription = map[string]bool{"platform": true, "streamable_http": true, "frontend": true, "inline_python": true}

// Decode reads a configuration.
func Decode(v decode.Value) (Config, error) { return decodeConfig(v, false) }

// DecodeInRecipe reads a configuration in a recipe, where the description is optional.
func DecodeInRecipe(v decode.Value) (Config, error) { return decodeConfig(v, true) }

func decodeConfig(v decode.Value, inRecipe bool) (Config, error) {
	kind, err := v.Tag("type", types...)
	if err != nil {
		return Config{}, err
	}
	c := Config{Type: kind}
	o := v.Object(fields[kind]...)
	for _, field := range fields[kind] {
		if field == "description" && needsDescription[kind] && !inRecipe {
			o.Need(field)
		}
		c.read(o, field)
	}
	return c, o.Err()
}

// read reads one field.
func (c *Config) read(o *decode.Object, field string) {
	switch field {
	case "name":
		c.Name = o.String(field)
	case "description":
		if description := o.MaybeString(field); description != nil {
			c.Description = *description
		}
	case "uri":
		c.URI = o.String(field)
	case "cmd":
		c.Cmd = o.String(field)
	case "args":
		c.Args = decode.List(o, field, decode.Value.Str)
	case "envs":
		c.Envs = decode.FieldOr(o, field, jsonwire.Pairs{}, decode.Pairs)
	case "env_keys":
		c.EnvKeys = decode.FieldOr(o, field, []string{}, decode.Strings)
	case "headers":
		c.Headers = decode.FieldOr(o, field, jsonwire.Pairs{}, decode.Pairs)
	case "display_name":
		c.DisplayName = o.MaybeString(field)
	case "tools":
		c.Tools = decode.List(o, field, DecodeTool)
	case "instructions":
		c.Instructions = o.MaybeString(field)
	case "code":
		c.Code = o.String(field)
	case "dependencies":
		c.Dependencies = decode.MaybeList(o, field, decode.Value.Str)
	case "timeout":
		c.Timeout = decode.MaybeField(o, field, decode.Natural)
	case "bundled":
		c.Bundled = o.MaybeBool(field)
	case "available_tools":
		c.AvailableTools = decode.FieldOr(o, field, []string{}, decode.Strings)
	}
}

// Write writes the configuration as JSON.
func (c Config) Write(w *jsonwire.Writer) {
	w.Open('{')
	c.WriteFields(w)
	w.Close('}')
}

// WriteFields writes the members of the configuration into an open object.
func (c Config) WriteFields(w *jsonwire.Writer) {
	w.Name("type").String(c.Type)
	for _, field := range fields[c.Type] {
		w.Name(field)
		c.write(w, field)
	}
}

// write writes the value of one field.
func (c Config) write(w *jsonwire.Writer, field string) {
	switch field {
	case "name":
		w.String(c.Name)
	case "description":
		w.String(c.Description)
	case "uri":
		w.String(c.URI)
	case "cmd":
		w.String(c.Cmd)
	case "args":
		w.Strings(c.Args)
	case "envs":
		c.Envs.Write(w)
	case "env_keys":
		w.Strings(c.EnvKeys)
	case "headers":
		c.Headers.Write(w)
	case "display_name":
		w.StringOrNull(c.DisplayName)
	case "tools":
		jsonwire.Array(w, c.Tools, Tool.Write)
	case "instructions":
		w.StringOrNull(c.Instructions)
	case "code":
		w.String(c.Code)
	case "dependencies":
		if c.Dependencies == nil {
			w.Null()
		} else {
			w.Strings(c.Dependencies)
		}
	case "timeout":
		w.IntOrNull(c.Timeout)
	case "bundled":
		w.BoolOrNull(c.Bundled)
	case "available_tools":
		w.Strings(c.AvailableTools)
	}
}

// Key returns the key under which an extension is stored: its name without white space, in lower case.
func Key(name string) string {
	return lettercase.Lower(strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, name))
}

// NormalizedKey returns the form of a name in tool names: its key, with an underscore for every character except
// ASCII letters, digits, underscores and hyphens (GA 6.4, 18.3).
func NormalizedKey(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, Key(name))
}

// A Tool is one tool as in MCP. A nil field is absent.
type Tool struct {
	Name               string
	Title, Description *string
	InputSchema        json.RawMessage // an object
	OutputSchema       json.RawMessage // an object
	Annotations        *Annotations
	Icons              []Icon
	Meta               json.RawMessage // an object
}

// DecodeTool reads a tool.
func DecodeTool(v decode.Value) (Tool, error) {
	o := v.Object("name", "title", "description", "inputSchema", "outputSchema", "annotations", "icons", "_meta")
	return Tool{
		Name:         o.String("name"),
		Title:        o.MaybeString("title"),
		Description:  o.MaybeString("description"),
		InputSchema:  o.AnyObject("inputSchema"),
		OutputSchema: o.MaybeObject("outputSchema"),
		Annotations:  decode.MaybeField(o, "annotations", decodeAnnotations),
		Icons:        DecodeIcons(o),
		Meta:         o.MaybeObject("_meta"),
	}, o.Err()
}

// Write writes the tool as JSON.
func (t Tool) Write(w *jsonwire.Writer) {
	w.Open('{')
	w.Name("name").String(t.Name)
	w.MaybeString("title", t.Title)
	w.MaybeString("description", t.Description)
	w.Name("inputSchema").Raw(t.InputSchema)
	w.MaybeRaw("outputSchema", t.OutputSchema)
	t.Annotations.write(w)
	WriteIcons(w, t.Icons)
	w.MaybeRaw("_meta", t.Meta)
	w.Close('}')
}
