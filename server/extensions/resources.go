package extensions

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lockstep-dev/lockstep/server/decode"
	"github.com/lockstep-dev/lockstep/server/extension"
	"github.com/lockstep-dev/lockstep/server/message"
)

// maxResources is how many resources are listed (decision X35).
const maxResources = 1000

// A library is a provider that has resources, if it has announced them.
type library interface {
	hasResources() bool
	resources(ctx context.Context) ([]resource, error)
	resource(ctx context.Context, uri string) ([]message.ToolContent, error)
}

// A resource is one of a list.
type resource struct{ uri, name string }

// A resourceServer is a member of the set that has announced resources.
type resourceServer struct {
	key string
	library
}

// servers returns those of the set, in the order of their keys.
func (m *manager) servers() (all []resourceServer) {
	keys, members := m.set.all()
	for i, member := range members {
		if s, ok := serverOf(keys[i], member); ok {
			all = append(all, s)
		}
	}
	return all
}

func serverOf(key string, m member) (resourceServer, bool) {
	l, ok := m.provider.(library)
	return resourceServer{key, l}, ok && l.hasResources()
}

// chosen returns the servers that are to be asked: all, or the one that an argument names, if it has announced resources.
func (m *manager) chosen(a *arguments) (all []resourceServer, notFound string) {
	argument := "extension_name"
	if !a.has(argument) {
		argument = "extension"
	}
	if !a.has(argument) {
		return m.servers(), ""
	}
	name := a.text(argument)
	key := extension.NormalizedKey(name)
	member, there := m.set.get(key)
	if !there {
		return nil, "Extension not found: " + name
	}
	if s, ok := serverOf(key, member); ok {
		return []resourceServer{s}, ""
	}
	return nil, ""
}

// listResources asks all servers at once, and tells what they have in the order of their keys.
func (m *manager) listResources(ctx context.Context, a *arguments) message.Result[[]message.ToolContent] {
	servers, notFound := m.chosen(a)
	if a.note(notFound); a.wrong != "" {
		return fails(a.wrong)
	}
	lists, errs := make([][]resource, len(servers)), make([]error, len(servers))
	var asking sync.WaitGroup
	for i, s := range servers {
		asking.Go(func() { lists[i], errs[i] = s.resources(ctx) })
	}
	asking.Wait()
	var lines []string
	left := maxResources
	for i, s := range servers {
		if errs[i] != nil {
			lines = append(lines, s.key+": "+errorText(errs[i]))
		}
		for _, r := range lists[i] {
			if left == 0 {
				lines = append(lines, "[There are more.]")
				return says(strings.Join(lines, "\n"))
			}
			lines = append(lines, s.key+" - "+r.name+", uri: ("+r.uri+")")
			left--
		}
	}
	if len(lines) == 0 {
		return says("No resources.")
	}
	return says(strings.Join(lines, "\n"))
}

// readResource asks one server after the other, until one has the resource.
func (m *manager) readResource(ctx context.Context, a *arguments) message.Result[[]message.ToolContent] {
	uri := a.need("uri")
	servers, notFound := m.chosen(a)
	if a.note(notFound); a.wrong != "" {
		return fails(a.wrong)
	}
	var last error
	for _, s := range servers {
		var contents []message.ToolContent
		if contents, last = s.resource(ctx, uri); last == nil {
			return message.Success(texts(uri, contents))
		}
	}
	if (a.has("extension_name") || a.has("extension")) && last != nil {
		return fails("Cannot read " + uri + ": " + errorText(last))
	}
	return fails("Resource not found: " + uri)
}

// texts returns the contents of a resource as texts.
func texts(uri string, contents []message.ToolContent) []message.ToolContent {
	all := []message.ToolContent{}
	for _, content := range contents {
		text := "[binary]"
		if c, ok := content.(message.ToolResource); ok && c.Text != nil {
			text = *c.Text
		}
		all = append(all, message.ToolText{Text: uri + "\n\n" + text})
	}
	return all
}

func (x *client) hasResources() bool {
	return x.session.InitializeResult().Capabilities.Resources != nil
}

// resources asks for all pages of the list.
func (x *client) resources(ctx context.Context) ([]resource, error) {
	var all []resource
	cursor, left := "", x.maxList
	for range maxPages {
		result, err := x.answered(ctx, func(ctx context.Context) error {
			_, err := x.session.ListResources(ctx, &mcp.ListResourcesParams{Cursor: cursor})
			return err
		})
		if err != nil {
			return nil, err
		}
		if left -= result.Size(); left < 0 {
			return nil, unreadableAnswer
		}
		o := result.Object("resources", "nextCursor")
		all = append(all, decode.List(o, "resources", decodeListed)...)
		next := o.MaybeString("nextCursor")
		if o.Err() != nil {
			return nil, unreadableAnswer
		}
		if next == nil || *next == "" {
			return all, nil
		}
		cursor = *next
	}
	return nil, unreadableAnswer
}

func decodeListed(v decode.Value) (resource, error) {
	o := v.Object("uri", "name")
	return resource{uri: o.String("uri"), name: o.String("name")}, o.Err()
}

// resource asks for a resource, whose contents are items of a tool's result.
func (x *client) resource(ctx context.Context, uri string) ([]message.ToolContent, error) {
	result, err := x.answered(ctx, func(ctx context.Context) error {
		_, err := x.session.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
		return err
	})
	if err != nil {
		return nil, err
	}
	o := result.Object("contents")
	contents := decode.List(o, "contents", decodeContents)
	if o.Err() != nil {
		return nil, unreadableAnswer
	}
	return append([]message.ToolContent{}, contents...), nil
}

// decodeContents reads what a server has of a resource as the item that a tool would embed.
func decodeContents(v decode.Value) (message.ToolContent, error) {
	item, err := decode.Parse(append(append(json.RawMessage(`{"type":"resource","resource":`), v.Any()...), '}'))
	if err != nil {
		return nil, err
	}
	return message.DecodeToolContent(item)
}

// answered makes one request in time. What cannot be read is an error that says so.
func (x *client) answered(ctx context.Context, request func(ctx context.Context) error) (decode.Value, error) {
	ctx, cancel := x.limited(ctx)
	defer cancel()
	result, err := x.ask(ctx, request)
	if _, malformed := errors.AsType[*decode.SyntaxError](err); malformed {
		return result, unreadableAnswer
	}
	return result, err
}

func sortedKeys[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }
