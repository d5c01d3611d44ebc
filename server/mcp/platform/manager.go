package platform

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/server/domain/extension"
	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/engine/toolbox"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/mcp/arguments"
	"github.com/lockstep-dev/lockstep/server/mcp/mcperror"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// enabledData is the member of a session's extension data with the loaded extensions.
const enabledData = "enabled_extensions.v0"

// A manager is the extension with which the model finds, enables and disables extensions (decisions X32 to X35).
type manager struct {
	unconnected
	host *Host
}

// managing are the tools that always exist. The tools in reading need a server with resources.
var managing = []llm.Tool{
	{
		Name:        "search_available_extensions",
		Description: "Lists the extensions that can be enabled and disabled.",
		Schema:      json.RawMessage(`{"type":"object","properties":{}}`),
	},
	{
		Name:        "manage_extensions",
		Description: "Enables or disables an extension in this session.",
		Schema: json.RawMessage(`{"type":"object","properties":{"action":{"type":"string","enum":["enable","disable"]},` +
			`"extension_name":{"type":"string"}},"required":["action","extension_name"]}`),
	},
}

var reading = []llm.Tool{
	{
		Name:        "list_resources",
		Description: "Lists the resources of extensions.",
		Schema: json.RawMessage(`{"type":"object","properties":{"extension_name":{"type":"string",` +
			`"description":"The extension to ask; all if it is left out"}}}`),
	},
	{
		Name:        "read_resource",
		Description: "Reads a resource of an extension.",
		Schema: json.RawMessage(`{"type":"object","properties":{"uri":{"type":"string"},"extension_name":{"type":"string",` +
			`"description":"The extension to ask; all if it is left out"}},"required":["uri"]}`),
	},
}

func (m *manager) Tools(context.Context) ([]llm.Tool, error) {
	if len(m.servers()) == 0 {
		return managing, nil
	}
	return append(managing[:len(managing):len(managing)], reading...), nil
}

func (*manager) Instructions(context.Context) string {
	return "The tools of this extension find, enable and disable other extensions."
}

func (m *manager) Call(ctx context.Context, name string, call toolbox.Call) message.ToolResult {
	a := arguments.Parse(call.Arguments, argumentErrors)
	switch name {
	case "search_available_extensions":
		return message.TextResult(m.search())
	case "manage_extensions":
		return m.manage(ctx, a)
	case "list_resources":
		return m.listResources(ctx, a)
	case "read_resource":
		return m.readResource(ctx, a)
	}
	return mcperror.UnknownTool(call.Name)
}

// known returns the extensions in the settings by normalised key. The first one with a key wins.
func (m *manager) known() map[string]extension.Config {
	known := map[string]extension.Config{}
	raw, err := m.host.Settings.Setting("extensions")
	if err != nil {
		m.host.Log.Warn("extensions of the settings not read", "err", err)
		return known
	}
	for _, entry := range extension.Configured(raw) {
		key := extension.NormalizedKey(entry.Config.Name)
		if _, there := known[key]; !there {
			known[key] = entry.Config
		}
	}
	return known
}

// search lists the extensions that can be enabled, and those that can be disabled.
func (m *manager) search() string {
	known := m.known()
	var disable []string
	for _, connected := range m.host.Extensions.All() {
		delete(known, connected.Key)
		if !connected.Frontend {
			disable = append(disable, "- "+connected.Config.Name+"\n")
		}
	}
	var enable []string
	for _, key := range slices.Sorted(maps.Keys(known)) {
		enable = append(enable, "- "+known[key].Name+" - "+squeezed(known[key].Description)+"\n")
	}
	text := "No extensions available to enable.\n"
	if len(enable) > 0 {
		text = "Extensions available to enable:\n" + strings.Join(enable, "")
	}
	return text + "\n\nExtensions available to disable:\n" + strings.Join(disable, "")
}

// manage enables or disables an extension, and stores the loaded extensions in the session (GA 18.3).
func (m *manager) manage(ctx context.Context, a *arguments.Arguments) message.ToolResult {
	action := a.Need("action")
	if action != "enable" && action != "disable" {
		a.Invalid("action") // a missing action was noted before
	}
	name := a.Need("extension_name")
	if a.Err != nil {
		return fails(a.Err.Error())
	}
	change, done := m.enable, "installed"
	if action == "disable" {
		change, done = m.disable, "disabled"
	}
	if why := change(ctx, name); why != "" {
		return fails("Extension operation failed: " + why)
	}
	if err := m.host.keep(ctx, enabledData, m.loaded); err != nil && !errors.Is(err, noSession) {
		return mcperror.Result(err)
	}
	return message.TextResult("The extension '" + name + "' has been " + done + " successfully")
}

// enable adds an extension from the settings, and reconnects one that is already there. It returns the reason if it
// cannot.
func (m *manager) enable(ctx context.Context, name string) (why string) {
	config, found := m.known()[extension.NormalizedKey(name)]
	if !found {
		return "Extension '" + name + "' not found. Please check the extension name and try again."
	}
	if err := m.host.Extensions.Add(ctx, config); err != nil {
		return err.Error()
	}
	return ""
}

// disable drops an extension, if it is loaded. It returns the reason if it cannot.
func (m *manager) disable(_ context.Context, name string) (why string) {
	if there, dropped := m.host.Extensions.Drop(extension.NormalizedKey(name)); there && !dropped {
		return "Extension cannot be disabled: " + name
	}
	return ""
}

// loaded returns the agent's connected extensions in the form that the session stores.
func (m *manager) loaded() jsonwire.Text {
	w := jsonwire.NewWriter(nil)
	w.Open('{')
	w.Name("extensions").Open('[')
	for _, connected := range m.host.Extensions.All() {
		connected.Config.Write(w)
	}
	w.Close(']')
	w.Close('}')
	return w.Text()
}
