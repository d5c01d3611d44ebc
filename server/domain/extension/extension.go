// Package extension defines the configuration of an extension: everything that is needed to start it or to connect to it
// (GA 4.9). Package connector does that.
package extension

import (
	"strings"
	"unicode"

	"github.com/lockstep-dev/lockstep/gen/api"
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

// fields are the fields of each type, in the order in which they are read.
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

// Checked checks a configuration and returns its JSON, which Decode reads.
func Checked(v decode.Value) (api.ExtensionConfigInput, error) {
	_, err := Decode(v)
	return v.Any(), err
}

// DecodeInRecipe reads a configuration in a recipe, where the description is optional.
func DecodeInRecipe(v decode.Value) (Config, error) { return decodeConfig(v, true) }

func decodeConfig(v decode.Value, inRecipe bool) (Config, error) {
	kind, err := decode.Tag(v, "type", types...)
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
		c.Description = decode.FieldOrZero(o, field, decode.Value.Str)
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

// Write writes the configuration as JSON, with all fields of its type.
func (c Config) Write(w *jsonwire.Writer) { w.Value(c.api()) }

// api converts the configuration to its type in the contract.
func (c Config) api() any {
	envs, headers := c.Envs.OrEmpty(), c.Headers.OrEmpty()
	switch c.Type {
	case "sse":
		return api.SseExtension{
			Type: api.SseExtensionTypeSse, Name: c.Name, Description: c.Description, URI: c.URI, Envs: envs, EnvKeys: c.EnvKeys,
			Timeout: c.Timeout, Bundled: c.Bundled, AvailableTools: c.AvailableTools,
		}
	case "stdio":
		return api.StdioExtension{
			Type: api.StdioExtensionTypeStdio, Name: c.Name, Description: c.Description, Cmd: c.Cmd, Args: c.Args, Envs: envs,
			EnvKeys: c.EnvKeys, Timeout: c.Timeout, Bundled: c.Bundled, AvailableTools: c.AvailableTools,
		}
	case "builtin":
		return api.BuiltinExtension{
			Type: api.BuiltinExtensionTypeBuiltin, Name: c.Name, Description: c.Description, DisplayName: c.DisplayName,
			Timeout: c.Timeout, Bundled: c.Bundled, AvailableTools: c.AvailableTools,
		}
	case "platform":
		return api.PlatformExtension{
			Type: api.PlatformExtensionTypePlatform, Name: c.Name, Description: c.Description,
			Bundled: c.Bundled, AvailableTools: c.AvailableTools,
		}
	case "streamable_http":
		return api.StreamableHTTPExtension{
			Type: api.StreamableHTTPExtensionTypeStreamableHTTP, Name: c.Name, Description: c.Description, URI: c.URI, Envs: envs,
			EnvKeys: c.EnvKeys, Headers: headers, Timeout: c.Timeout, Bundled: c.Bundled, AvailableTools: c.AvailableTools,
		}
	case "frontend":
		return api.FrontendExtension{
			Type: api.FrontendExtensionTypeFrontend, Name: c.Name, Description: c.Description, Tools: c.Tools,
			Instructions: c.Instructions, Bundled: c.Bundled, AvailableTools: c.AvailableTools,
		}
	default:
		var dependencies *[]string
		if c.Dependencies != nil {
			dependencies = &c.Dependencies
		}
		return api.InlinePythonExtension{
			Type: api.InlinePythonExtensionTypeInlinePython, Name: c.Name, Description: c.Description, Code: c.Code,
			Timeout: c.Timeout, Dependencies: dependencies, AvailableTools: c.AvailableTools,
		}
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

// A tool and its parts, as in MCP. A nil field is absent.
type (
	Tool        = api.Tool
	Annotations = api.ToolAnnotations
	Icon        = api.Icon // a picture of a tool or a resource, in one or more sizes (GA 4.5, 4.9)
)

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

func decodeAnnotations(v decode.Value) (Annotations, error) {
	o := v.Object("title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
	return Annotations{
		Title:           o.MaybeString("title"),
		ReadOnlyHint:    o.MaybeBool("readOnlyHint"),
		DestructiveHint: o.MaybeBool("destructiveHint"),
		IdempotentHint:  o.MaybeBool("idempotentHint"),
		OpenWorldHint:   o.MaybeBool("openWorldHint"),
	}, o.Err()
}

// DecodeIcons reads the member icons of an object, and returns nil if it is missing or null.
func DecodeIcons(o *decode.Object) []Icon { return decode.MaybeList(o, "icons", decodeIcon) }

func decodeIcon(v decode.Value) (Icon, error) {
	o := v.Object("src", "mimeType", "sizes")
	return Icon{
		Src: o.String("src"), MIMEType: o.MaybeString("mimeType"), Sizes: decode.MaybeList(o, "sizes", decode.Value.Str),
	}, o.Err()
}
