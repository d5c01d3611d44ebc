package gen

import (
	"encoding/json"
	"testing"

	"github.com/lockstep-dev/lockstep/gen/api"
)

// TestTheGoTypesWriteWhatTheyRead checks what the goose-server family sends. Its fields are in the order of the
// behaviour document, with nulls for absent values. Numbers and free objects from clients, models and MCP servers
// keep their digits and their order.
func TestTheGoTypesWriteWhatTheyRead(t *testing.T) {
	const free = `{"z":9007199254740993,"a":1.0,"m":[1e400,null,{"b":-0,"a":""}]}`
	for _, tc := range []struct {
		name string
		into any
		text string
	}{
		{"session", new(api.Session), `{"id":"20251210_3","working_dir":"/w","name":"New session 3","user_set_name":false,"session_type":"user",` +
			`"created_at":"2025-12-10T16:59:31Z","updated_at":"2025-12-10T16:59:31.123456789Z","extension_data":` + free + `,` +
			`"total_tokens":null,"input_tokens":null,"output_tokens":null,` +
			`"accumulated_total_tokens":null,"accumulated_input_tokens":12,"accumulated_output_tokens":null,` +
			`"schedule_id":null,"recipe":null,"user_recipe_values":null,"conversation":null,"message_count":0,` +
			`"provider_name":null,"model_config":null}`},
		{"session with everything", new(api.Session), `{"id":"20251210_3","working_dir":"/w","name":"n","user_set_name":true,"session_type":"sub_agent",` +
			`"created_at":"2025-12-10T16:59:31Z","updated_at":"2025-12-10T16:59:31Z","extension_data":{},` +
			`"total_tokens":1,"input_tokens":2,"output_tokens":3,` +
			`"accumulated_total_tokens":4,"accumulated_input_tokens":5,"accumulated_output_tokens":6,` +
			`"schedule_id":"s","recipe":{"version":"1.0.0","title":"t","description":"d"},"user_recipe_values":{"a":"b"},` +
			`"conversation":[{"id":null,"role":"assistant","created":1765386000,"content":[{"type":"text","text":"hi"}],` +
			`"metadata":{"userVisible":true,"agentVisible":false}}],"message_count":1,"provider_name":"openai",` +
			`"model_config":{"model_name":"gpt-4o","context_limit":128000,"temperature":0.7,"max_tokens":null,"toolshim":false,` +
			`"toolshim_model":null,"fast_model":"gpt-4o-mini"}}`},
		{"text", new(api.TextContent), `{"type":"text","text":"hi","annotations":{"audience":["user"],"priority":1.0},"_meta":` + free + `}`},
		{"call", new(api.ToolCall), `{"name":"f","arguments":` + free + `}`},
		{"call without arguments", new(api.ToolCall), `{"name":"f"}`},
		{"tool request", new(api.ToolRequest), `{"type":"toolRequest","id":"c","toolCall":{"status":"success","value":{"name":"f","arguments":` + free + `}}}`},
		{"tool response", new(api.ToolResponse), `{"type":"toolResponse","id":"c","toolResult":{"status":"error","error":"-32603: boom"}}`},
		{"confirmation", new(api.ToolConfirmation), `{"actionType":"toolConfirmation","id":"c","toolName":"f","arguments":` + free + `,"prompt":null}`},
		{"answer", new(api.ElicitationResponse), `{"actionType":"elicitationResponse","id":"e","user_data":` + free + `}`},
		{"answer of null", new(api.ElicitationResponse), `{"actionType":"elicitationResponse","id":"e","user_data":null}`},
		{"resource", new(api.EmbeddedResource), `{"type":"resource","resource":{"uri":"u","blob":"","_meta":` + free + `}}`},
		{"log", new(api.LoggingMessage), `{"level":"info","logger":"l","data":9007199254740993}`},
		{"log of null", new(api.LoggingMessage), `{"level":"info","data":null}`},
		{"progress", new(api.Progress), `{"progressToken":"p","progress":1.0,"total":9007199254740993}`},
		{"extension", new(api.StdioExtension), `{"type":"stdio","name":"n","description":"","cmd":"c","args":[],"envs":{},"env_keys":[],"timeout":null,"bundled":null,"available_tools":[]}`},
		{"frontend extension", new(api.FrontendExtension), `{"type":"frontend","name":"n","description":"","tools":[{"name":"t","inputSchema":` + free + `}],"instructions":null,"bundled":null,"available_tools":[]}`},
		{"recipe", new(api.Recipe), `{"version":"1.0.0","title":"t","description":"d","prompt":"p","response":{"json_schema":` + free + `},` +
			`"sub_recipes":[{"name":"n","path":"p","values":null,"sequential_when_repeated":false}],"retry":{"max_retries":1,"checks":[{"type":"Shell","command":"c"}]}}`},
		{"tool", new(api.ToolInfo), `{"name":"n","description":"d","parameters":[],"permission":null}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if err := json.Unmarshal([]byte(tc.text), tc.into); err != nil {
				t.Fatal(err)
			}
			got, err := json.Marshal(tc.into)
			if err != nil || string(got) != tc.text {
				t.Errorf("%v, it writes\n%s\nand has read\n%s", err, got, tc.text)
			}
		})
	}
}
