package sequences

// odd has texts that programs tend to read differently: combining marks, letters that change length with case, line
// ends, invisible characters, lone surrogates, names of JavaScript object members, and template and path syntax.
var odd = []string{
	"", " ", "e\u0301", "\u00e9", "İx", "straße", "ΑΣ", "ΑΣ\u0301", "ſ", "\u212a", "ﬁ", "ǅ", "a\u2028b", "\u0085", "\ufeffx", "\x00", "a\x00b",
	"😀", "👩\u200d👧", "\u05e2\u202eabc", "\u200b", "\u0301", "ＡＢ", "\t\n", "a\r\nb", "\x1b[31m", "\uffff", "\U0010ffff", "half \xed\xa0\xbd",
	"../..", "a/b", "a%2Fb", "%", "a__b", "__proto__", "constructor", "toString", "null", "-0", "0", "true", "$ref", "a.b", "'\"`\\", "<b>&amp;",
	"{{ a }}", "{{ a", "{% if %}", "{# #}", "${{ long }}",
}

// plain has texts that every program reads alike.
var plain = []string{"one", "two", "Three words here", "four"}

// members has values for the members of requests, by member name, with the schema's name before it where that
// matters. A value that begins with @ is a kind of thing: see values.thing. The others are JSON.
var members = map[string][]string{
	"session_id": {"@session"}, "sessionId": {"@session"}, "sessionID": {"@session"}, "permissionID": {"@tool"}, "clientID": {"@client"}, "toolIDs": {"@tool"}, "requestID": {`"r1"`, `""`, "@odd"},
	"RegisterRequest.sessionID": {`"s"`}, "ClientToolDefinition.id": {"@tool"},
	"working_dir": {`"/w"`, `"/tmp"`, `"/"`, "@odd"}, "recipe_id": {"null", `"none"`, "@odd"}, "recipe_deeplink": {"null", `"e30="`, `"e30"`, "@odd"},
	"provider": {`"openai"`, `"openai"`, `"anthropic"`, `"nowhere"`, `"OpenAI"`, "@odd"}, "model": {`"gpt-4o"`, `"claude-sonnet-4"`, "null", "@odd"},
	"RemoveExtensionRequest.name": {"@extension"}, "extension_name": {"@extension"},
	"StdioExtensionInput.name": {"@extension"}, "FrontendExtensionInput.name": {"@extension"}, "SseExtensionInput.name": {"@extension"},
	"StreamableHttpExtensionInput.name": {"@extension"}, "BuiltinExtensionInput.name": {`"developer"`, `"memory"`, `"Developer"`, "@odd"},
	"PlatformExtensionInput.name": {`"todo"`, `"skills"`, `"chatrecall"`, `"extensionmanager"`, `"Extension Manager"`, `"TODO"`, "@odd"},
	"cmd":                         {`"${{ lockstep }}"`}, "StdioExtensionInput.args": {`["stub","mcp"]`}, "envs": {`{}`, `{"A":"1"}`, `{"É":"\u0301"}`},
	"env_keys": {`[]`, `["NOPE"]`, `["OPENAI_API_KEY"]`, `["GOOSE_SERVER__SECRET_KEY"]`}, "timeout": {"30", "300", "null"}, "headers": {`{}`, `{"X-A":"b"}`},
	"uri": {`"nonsense"`, `""`, `"file:///x"`, "@odd"}, "ExtensionConfigInput.available_tools": {`[]`, `["echo"]`, `["nope"]`}, "available_tools": {`[]`, `["echo"]`, `[""]`},
	"Tool.name": {`"show"`, `"echo"`, "@odd"}, "inputSchema": {`{}`, `{"type":"object","properties":{"b":{},"a":{}}}`, `{"properties":{"__proto__":{"type":"string"}}}`, "@free"},
	"instructions": {`"Do {{ a }}"`, `"{{ b }} and {{ a }}"`, `"Plain"`, "null", "@odd"}, "prompt": {`"Say {{ a }}"`, `"{% if a %}x{% endif %}"`, "null", "@odd"},
	"RecipeParameter.key": {`"a"`, `"b"`, "@odd"}, "userRecipeValues": {"@values"}, "json_schema": {`{"type":"object"}`, `{}`, "@free"},
	"path": {`"none.yaml"`, `"/none"`, "@odd"}, "name": {"@odd", `"Named"`}, "session_type": {`"user"`, `"user"`, `"hidden"`, `"scheduled"`}, "max_retries": {"1", "0", "3"},
	"created": {"100", "200", "1765386000", "0", "-1"}, "timestamp": {"100", "200", "1765386000", "1765386001", "0", "9223372036854775807"},
	"lastModified": {`"2025-12-10T16:59:31Z"`, `"2025-12-10T16:59:31.120+01:00"`}, "priority": {"0", "0.5", "1"},
	"ImageContent.data": {`"iVBORw0KGgo="`, "@odd"}, "mimeType": {`"image/png"`, "@odd"}, "action": {`"allow_once"`, `"always_allow"`, `"deny"`, "@odd"}, "ConfirmToolActionRequest.id": {`"call_1"`, "@odd"},
	"ImportSessionRequest.json": {`"{}"`, `"null"`, `"{\"id\":"`, "@exported", "@exported", "@odd"}, "created_at": {`"2025-12-10T16:59:31Z"`}, "updated_at": {`"2025-12-10T16:59:31Z"`},
	"Session.recipe": {"null", `{"version":"1","title":"T","description":"D","prompt":"{{ a }}"}`}, "model_config": {"null"}, "extension_data": {`{}`, `{"todo.v0":{"content":"x"}}`, "@free"},
	"ToolCall.arguments": {`{}`, "@free"}, "arguments": {`{}`, "@free"}, "ClientToolDefinition.parameters": {`{}`, `{"type":"object"}`, "@free"},
	"metadata": {"@metadata"},
	// Whole numbers are not among the keys, because the position of such keys is not specified. Nor are settings that make a reply wait.
	"key":                     {`"k"`, `"K"`, `"straße"`, `"__proto__"`, `"a.b"`, `"no"`, `""`, `"{{ a }}"`, `"home"`, `"model-limits"`, `"extensions"`, `"slash_commands"`},
	"UpsertConfigQuery.value": {`"x"`, "null", "7", "1.5", "true", `{"b":1,"a":[2]}`, `["no","1_000"]`, `[{"command":"tea","recipe_path":"none.yaml"}]`, "@odd"},
	"tool_name":               {`"nowhere__x"`, `"no"`, `"É"`, `""`}, "ExtensionQuery.name": {"@extension"}, "removeExtensionConfig.name": {"@extension"},
	"getProviderModels.name": {"@listed"}, "getCustomProvider.id": {"@custom"}, "updateCustomProvider.id": {"@custom"}, "removeCustomProvider.id": {"@custom"},
	"CheckProviderRequest.provider": {`"openai"`, `"google"`, `"xai"`, "@custom", "@odd"}, "SetProviderRequest.provider": {`"openai"`, `"nowhere"`, "@odd"},
	"SetProviderRequest.model": {`"gpt-4o"`}, "UpdateCustomProviderRequest.engine": {`"openai_compatible"`, `"anthropic_compatible"`, `"ollama_compatible"`, `"other"`},
	"UpdateCustomProviderRequest.display_name": {`"One"`, `"É"`, `"Straße 7"`, `"{{ a }}"`}, "UpdateCustomProviderRequest.api_url": {`"http://127.0.0.1:9"`, `"nonsense"`, `""`},
	"DetectProviderRequest.api_key":       {`""`, `" "`, `"\u00e9"`}, // with other keys, vendors would be asked
	"PricingQuery.configured_only":        {"true", "null"},          // with false, the list of prices would be fetched
	"UpdateCustomProviderRequest.api_key": {`""`, `"sk-x"`, `"12345"`}, "UpdateCustomProviderRequest.models": {`[]`, `["m"]`, `["m","m","é"]`},
}

// alternatives has the tags to choose from, for schemas with more alternatives than work here.
var alternatives = map[string][]string{
	"ExtensionConfigInput": {"stdio", "stdio", "builtin", "platform", "platform", "frontend", "frontend", "sse", "streamable_http"},
	"MessageContent":       {"text", "text", "text", "image", "toolRequest", "toolResponse", "thinking", "systemNotification", "frontendToolRequest", "actionRequired"},
}

// weights says how often an operation is chosen, in addition to the actions that create, use and end state. The
// operations with weight 0 are used by story.go alone.
var weights = map[string]int{
	"executeClientTool": 0, "reply": 0, "streamPendingRequests": 0, "streamEvents": 0, "streamGlobalEvents": 0, "deleteSession": 0, "getStatus": 0, "getDiagnostics": 1,
	"addExtension": 4, "removeExtension": 3, "getTools": 4, "updateAgentProvider": 2, "updateFromSession": 3, "resumeAgent": 3, "getSession": 5, "editMessage": 3,
	"updateSessionUserRecipeValues": 4, "importSession": 2, "startAgent": 2, "updateSessionName": 2, "exportSession": 2, "registerClientTools": 4, "unregisterClientTools": 3,
	"listClientTools": 4, "listAllClientTools": 3, "confirmToolAction": 1, "listSessions": 2, "getSessionInsights": 2, "stopAgent": 2, "updateRouterToolSelector": 2,
	"submitClientToolResult": 2, "reportClientToolProgress": 5, "listServerTools": 3, "callServerTool": 3, "answerPermission": 2, "openClientSocket": 3,
	"getConfig": 2, "readConfig": 2, "upsertConfig": 4, "removeConfig": 2, "initConfig": 2, "validateConfig": 2, "backupConfig": 2, "recoverConfig": 2,
	"getExtensions": 2, "addExtensionConfig": 4, "removeExtensionConfig": 2, "upsertPermissions": 2, "getSlashCommands": 2,
	"getProviders": 2, "getProviderModels": 2, "checkProvider": 2, "setProvider": 2, "detectProvider": 2, "createCustomProvider": 3, "getCustomProvider": 2, "updateCustomProvider": 2, "removeCustomProvider": 2, "getPricing": 2,
}

// These names are equal after normalisation, or almost.
var (
	extensions = []string{"tester", "tester", "Tester", "Tester", "İx", "i\u0307x", "straße", "ΑΣ", "ας", "a b", "a\u00a0b", "a_b", "__proto__", "constructor", "e\u0301", "é", "platform", "todo"}
	clients    = []string{"c", "C", "__proto__", "constructor", "e\u0301", "é", "a_b", "a b", "ſ", "x/y", "%41", "😀", "a\x00b", "client_c", "12"}
	customs    = []string{"custom_one", "custom_one", "custom_one_1", "custom_é", "groq", "none"}
	// Listing the models of these causes no request outside of the machine.
	listed = []string{"openai", "anthropic", "custom_one", "groq", "xai", "nowhere"}
	tools  = []string{"add", "Add", "__proto__", "constructor", "toString", "10", "2", "é", "e\u0301", "", "client_c_add", "a_b", "\u2028", "half \xed\xa0\xbd"}
)

// answers says how the model answers each word of the user. CALL, INPUT and ODD stand for random values.
var answers = map[string]string{
	"Hello":    `{text: [Good, " day"], usage: {input: 7, output: 2}}`,
	"Use it":   `{text: I look., tools: [{tool: CALL, id: call_1, input: INPUT}]}`,
	"Use both": `{tools: [{tool: CALL, id: call_1, input: {}}, {tool: nowhere__tool, id: call_2, input: INPUT}]}`,
	"Torn":     `{tools: [{tool: CALL, id: call_3, arguments: ['{"a', '":']}]}`,
	"Odd":      `{text: [ODD, ODD]}`,
	"Fail":     `{status: 400, error: ODD}`,
	"Cut":      `{text: [half, an answer], end: cut}`,
	"Hang":     `{end: hang}`,
}

// calls has tools that the model may call, with their input. ODD and MORE stand for random texts.
var calls = [][2]string{
	{"tester__echo", `{"text":ODD,"n":7}`}, {"tester__echo", `{ODD:MORE}`}, {"tester__fail", `{"text":ODD}`}, {"tester__explode", `{"code":-32000,"message":ODD}`},
	{"tester__big", `{"characters":300000}`}, {"tester__image", `{}`}, {"tester__resource", `{}`}, {"tester__ask_nothing", `{}`}, {"nowhere__x", `{}`},
	{"todo__todo_write", `{"content":ODD}`}, {"chatrecall__chatrecall", `{"query":ODD,"limit":2}`}, {"chatrecall__chatrecall", `{"query":"e"}`}, {"chatrecall__chatrecall", `{"session_id":ODD}`},
	{"extensionmanager__search_available_extensions", `{}`}, {"extensionmanager__manage_extensions", `{"action":"disable","extension_name":"Tester"}`},
	{"extensionmanager__manage_extensions", `{"action":"enable","extension_name":ODD}`}, {"extensionmanager__list_resources", `{}`}, {"extensionmanager__read_resource", `{"uri":"lockstep://greeting"}`},
	{"platform__manage_schedule", `{"action":ODD}`}, {"recipe__final_output", `{"add":ODD}`}, {"recipe__final_output", `{}`}, {"skills__loadSkill", `{"name":ODD}`},
	{"developer__shell", `{"command":"printf 'a\\u0301\\377\\n\\033[31m'; exit 3"}`}, {"developer__text_editor", `{"command":"write","path":"${{ directory }}/f","file_text":ODD}`},
	{"developer__text_editor", `{"command":"view","path":"${{ directory }}/f"}`}, {"developer__text_editor", `{"command":"str_replace","path":"${{ directory }}/f","old_str":"o","new_str":ODD}`},
	{"developer__text_editor", `{"command":"insert","path":"${{ directory }}/f","insert_line":1,"new_str":ODD}`}, {"developer__text_editor", `{"command":"undo_edit","path":"${{ directory }}/f"}`},
	{"no tool", `{}`}, {"é__x", `{}`}, {"__proto__", `{}`}, {"constructor", `{}`},
}

// configs has extensions that work here. NAME stands for a random name.
var configs = []string{
	`{"type":"stdio","name":"tester","description":null,"cmd":"${{ lockstep }}","args":["stub","mcp"]}`,
	`{"type":"stdio","name":"Tester","description":ODD,"cmd":"${{ lockstep }}","args":["stub","mcp"],"available_tools":["echo","fail"]}`,
	`{"type":"stdio","name":NAME,"cmd":"${{ lockstep }}","args":["stub","mcp"]}`,
	`{"type":"builtin","name":"developer"}`, `{"type":"platform","name":"todo","description":null}`, `{"type":"platform","name":"chatrecall","description":""}`,
	`{"type":"platform","name":"extensionmanager","description":ODD}`, `{"type":"platform","name":"skills","description":""}`,
	`{"type":"frontend","name":NAME,"description":null,"tools":[{"name":ODD,"inputSchema":{"type":"object"}}],"instructions":ODD}`,
}

// templates has pieces of recipes. ODD stands for a text, F for a filter.
var templates = []string{
	"{{ bFF }}", "{{ aF ~ bF }}", "{% for x in b|split(\"\") %}[{{ xF }}]{% endfor %}", "{% for x in b|split(ODD) %}[{{ xF }}]{% endfor %}", "{{ b|split(\" \")|join(ODD)F }}",
	"{% if a < b %}<{% elif a == b %}={% else %}>{% endif %}", "{{ a in bF }}", "{% set c = b ~ ODD %}{{ cF }}", "{{ b|replace(ODD, \"_\")F }}", "{{ b|length }}", "{{ b and a or ODD }}", "{{ not b }}",
	"{{ ODDFF }}", "{{ a is defined }}", "{{ (bF)|default(ODD) }}",
}

var filters = []string{"", "|upper", "|lower", "|title", "|capitalize", "|trim", "|length"}
