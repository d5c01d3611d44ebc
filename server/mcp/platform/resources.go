package platform

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/lockstep-dev/lockstep/server/domain/extension"
	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/engine/toolbox"
	"github.com/lockstep-dev/lockstep/server/mcp/arguments"
	"github.com/lockstep-dev/lockstep/server/mcp/mcperror"
)

// maxResources is the maximum number of resources in a list (decision X35).
const maxResources = 1000

// servers returns the agent's extensions that offer resources, in the order of their keys.
func (m *manager) servers() []Connected {
	return slices.DeleteFunc(m.host.Extensions.All(), func(c Connected) bool { return c.Resources == nil })
}

// chosen returns the servers to ask: all, or the one that an argument names, if it offers resources.
func (m *manager) chosen(a *arguments.Arguments) (servers []Connected, notFound error) {
	argument := "extension_name"
	if !a.Has(argument) {
		argument = "extension"
	}
	if !a.Has(argument) {
		return m.servers(), nil
	}
	name := a.Text(argument)
	key := extension.NormalizedKey(name)
	for _, connected := range m.host.Extensions.All() {
		if connected.Key != key {
			continue
		}
		if connected.Resources != nil {
			servers = append(servers, connected)
		}
		return servers, nil
	}
	return nil, mcperror.Reason("Extension not found: " + name)
}

// listResources asks all servers concurrently, and lists their resources in the order of their keys.
func (m *manager) listResources(ctx context.Context, a *arguments.Arguments) message.ToolResult {
	servers, notFound := m.chosen(a)
	if a.Fail(notFound); a.Err != nil {
		return fails(a.Err.Error())
	}
	lists, errs := make([][]toolbox.Resource, len(servers)), make([]error, len(servers))
	var asking sync.WaitGroup
	for i, s := range servers {
		asking.Go(func() { lists[i], errs[i] = s.Resources.Resources(ctx) })
	}
	asking.Wait()
	var lines []string
	left := maxResources
	for i, s := range servers {
		if errs[i] != nil {
			lines = append(lines, s.Key+": "+mcperror.Text(errs[i]))
		}
		for _, r := range lists[i] {
			if left == 0 {
				lines = append(lines, "[There are more.]")
				return message.TextResult(strings.Join(lines, "\n"))
			}
			lines = append(lines, s.Key+" - "+r.Name+", uri: ("+r.URI+")")
			left--
		}
	}
	if len(lines) == 0 {
		return message.TextResult("No resources.")
	}
	return message.TextResult(strings.Join(lines, "\n"))
}

// readResource asks the servers one after another, until one has the resource.
func (m *manager) readResource(ctx context.Context, a *arguments.Arguments) message.ToolResult {
	uri := a.Need("uri")
	servers, notFound := m.chosen(a)
	if a.Fail(notFound); a.Err != nil {
		return fails(a.Err.Error())
	}
	var last error
	for _, s := range servers {
		var contents []message.ToolContent
		if contents, last = s.Resources.Resource(ctx, uri); last == nil {
			return message.Success(texts(uri, contents))
		}
	}
	if (a.Has("extension_name") || a.Has("extension")) && last != nil {
		return fails("Cannot read " + uri + ": " + mcperror.Text(last))
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
