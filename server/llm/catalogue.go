package llm

import (
	"net/http"
	"slices"

	"github.com/lockstep-dev/lockstep/gen/api"
)

// A builtin is a provider that is part of this server, with the keys in the order in which they are read (GA 24.1).
type builtin struct {
	name, display string
	preferred     bool
	model         string  // by default
	known         []known // models; nil for the one by default alone
	keys          []key
	description   string
	link          string // to the documentation of its models
	cannot        string // why it cannot run here, or empty (decision M1)
	site          site
	calls         calls
	list          *listing // nil if it has no list of models
}

// A known model has the limit of its pattern if its own is 0 (decision G64).
type known struct {
	name  string
	limit int64
}

func knownModels(limit int64, names ...string) (list []known) {
	for _, name := range names {
		list = append(list, known{name, limit})
	}
	return list
}

// A key is a setting or a secret of a provider.
type key struct {
	api.ConfigKey
	loose  bool   // it may be missing, although clients are told that it is required
	filled bool   // it must not be empty
	unset  string // its value if it is missing and the default is not it
	number bool   // it is the time limit (decision M46)
}

func required(name string) key { return key{ConfigKey: api.ConfigKey{Name: name, Required: true}} }

func optional(name string) key { return key{ConfigKey: api.ConfigKey{Name: name}} }

func secret(name string) key { return required(name).hidden() }

func timeLimit(name string) key {
	k := optional(name).or("600")
	k.number = true
	return k
}

func (k key) hidden() key {
	k.Secret = true
	return k
}

func (k key) or(byDefault string) key {
	k.Default = &byDefault
	return k
}

// fallback returns the value of a key that is missing.
func (k key) fallback() string {
	if k.unset == "" && k.Default != nil {
		return *k.Default
	}
	return k.unset
}

// mustBeSet reports whether the provider cannot run without the key (decision M2).
func (k key) mustBeSet() bool { return k.filled || k.Required && k.Default == nil && !k.loose }

// A site says where the requests to a provider go, and with which header fields (decisions M5, M6, M73, M74).
type site struct {
	host   string                    // the key with the address
	base   func(host string) string  // what the address is, if not the value of the key
	header func(k given) http.Header // without Content-Type
}

// Calls say how a provider is asked for answers.
type calls struct {
	path         func(k given) string
	wire         wire
	streams      bool
	fast         string                                        // the model for small tasks
	errorsInside bool                                          // a success may be a failure (decision M76)
	asksProxy    bool                                          // for models with a cache (decision M75)
	explain      func(said []byte, model string) (text string) // of a 400, or empty
}

// The reasons why providers cannot run (decision M1).
const (
	noAPI        = "its API is not supported"
	noSignatures = "its request signatures are not supported"
	noSignIn     = "its sign-in is not supported"
	noProgram    = "it needs another program"
)

// builtinOf returns the provider with a name, or nil.
func builtinOf(name string) *builtin {
	i := slices.IndexFunc(builtins, func(b builtin) bool { return b.name == name })
	if i < 0 {
		return nil
	}
	return &builtins[i]
}

// builtins are the providers of GA 24.1, sorted by name.
var builtins = []builtin{
	{
		name: "anthropic", display: "Anthropic", preferred: true, model: "claude-sonnet-4-5",
		known: knownModels(200_000, "claude-sonnet-4-5", "claude-sonnet-4-5-20250929", "claude-haiku-4-5", "claude-haiku-4-5-20251001",
			"claude-opus-4-5", "claude-opus-4-5-20251101", "claude-sonnet-4-0", "claude-sonnet-4-20250514", "claude-opus-4-0",
			"claude-opus-4-20250514", "claude-3-7-sonnet-latest", "claude-3-7-sonnet-20250219", "claude-3-opus-latest"),
		keys:        []key{secret("ANTHROPIC_API_KEY"), required("ANTHROPIC_HOST").or("https://api.anthropic.com")},
		description: "Claude models of Anthropic", link: "https://docs.anthropic.com/en/docs/about-claude/models",
		site:  site{host: "ANTHROPIC_HOST", header: func(k given) http.Header { return anthropicHeader(k["ANTHROPIC_API_KEY"]) }},
		calls: calls{path: always("/v1/messages"), wire: messages{}, streams: true},
		list:  &listing{path: always("/v1/models"), at: "data", name: "id", judge: judgeAnthropic},
	},
	{
		name: "aws_bedrock", display: "Amazon Bedrock", model: "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
		keys:        []key{required("AWS_PROFILE").or("default"), required("AWS_REGION")},
		description: "Models of Amazon Bedrock", link: "https://docs.aws.amazon.com/bedrock/latest/userguide/models-supported.html",
		cannot: noSignatures,
	},
	{
		name: "azure_openai", display: "Azure OpenAI", model: "gpt-4o", known: knownModels(0, "gpt-4o", "gpt-4o-mini", "gpt-4"),
		keys: []key{
			required("AZURE_OPENAI_ENDPOINT"), required("AZURE_OPENAI_DEPLOYMENT_NAME"),
			required("AZURE_OPENAI_API_VERSION").or("2024-10-21"),
			{ConfigKey: api.ConfigKey{Name: "AZURE_OPENAI_API_KEY", Required: true, Secret: true, Default: new("")}, filled: true},
		},
		description: "OpenAI models on Azure, with an API key", link: "https://learn.microsoft.com/en-us/azure/ai-services/openai/concepts/models",
		site: site{host: "AZURE_OPENAI_ENDPOINT", header: func(k given) http.Header {
			return http.Header{"Api-Key": {k["AZURE_OPENAI_API_KEY"]}}
		}},
		calls: calls{path: azurePath, wire: chat{}},
	},
	{
		name: "claude-code", display: "Claude Code CLI", preferred: true, model: "claude-sonnet-4-20250514",
		keys:        []key{required("CLAUDE_CODE_COMMAND").or("claude")},
		description: "Claude models through the Claude Code CLI", link: "https://code.claude.com/docs/en/setup", cannot: noProgram,
	},
	{
		name: "cursor-agent", display: "Cursor Agent", model: "auto",
		keys:        []key{required("CURSOR_AGENT_COMMAND").or("cursor-agent")},
		description: "Models through the Cursor Agent CLI", link: "https://docs.cursor.com/en/cli/overview", cannot: noProgram,
	},
	{
		name: "databricks", display: "Databricks", preferred: true, model: "databricks-claude-sonnet-4",
		keys:        []key{required("DATABRICKS_HOST"), optional("DATABRICKS_TOKEN").hidden()},
		description: "Models on Databricks AI Gateway", link: "https://docs.databricks.com/en/generative-ai/external-models/index.html",
		cannot: noAPI,
	},
	{
		name: "gcp_vertex_ai", display: "GCP Vertex AI", model: "gemini-2.5-flash",
		keys: []key{
			required("GCP_PROJECT_ID"), required("GCP_LOCATION").or("us-central1"), optional("GCP_MAX_RETRIES").or("6"),
			optional("GCP_INITIAL_RETRY_INTERVAL_MS").or("5000"), optional("GCP_BACKOFF_MULTIPLIER").or("2"),
			optional("GCP_MAX_RETRY_INTERVAL_MS").or("320000"),
		},
		description: "Models on Google Cloud Vertex AI", link: "https://cloud.google.com/vertex-ai", cannot: noSignIn,
	},
	{
		name: "gemini-cli", display: "Gemini CLI", model: "gemini-2.5-pro",
		keys:        []key{required("GEMINI_CLI_COMMAND").or("gemini")},
		description: "Gemini models through the Gemini CLI", link: "https://ai.google.dev/gemini-api/docs", cannot: noProgram,
	},
	{
		name: "github_copilot", display: "GitHub Copilot", model: "gpt-4.1",
		keys: []key{{ConfigKey: api.ConfigKey{
			Name: "GITHUB_COPILOT_TOKEN", Required: true, Secret: true, OauthFlow: true,
		}}},
		description: "Models of GitHub Copilot", link: "https://docs.github.com/en/copilot/using-github-copilot/ai-models", cannot: noSignIn,
	},
	{
		name: "google", display: "Google Gemini", preferred: true, model: "gemini-2.5-pro",
		keys:        []key{secret("GOOGLE_API_KEY"), optional("GOOGLE_HOST").or("https://generativelanguage.googleapis.com")},
		description: "Gemini models of Google", link: "https://ai.google.dev/gemini-api/docs/models", cannot: noAPI,
		site: site{host: "GOOGLE_HOST", header: func(k given) http.Header {
			h := http.Header{}
			setUnlessEmpty(h, "X-Goog-Api-Key", k["GOOGLE_API_KEY"])
			return h
		}},
		list: &listing{path: always("/v1beta/models"), at: "models", name: "name", show: lastSegment, judge: judgeGoogle},
	},
	{
		name: "litellm", display: "LiteLLM", model: "gpt-4o-mini", known: []known{},
		keys: []key{
			{ConfigKey: secret("LITELLM_API_KEY").ConfigKey, loose: true},
			{ConfigKey: required("LITELLM_HOST").or("http://localhost:4000").ConfigKey, unset: "https://api.litellm.ai"},
			required("LITELLM_BASE_PATH").or("v1/chat/completions"), optional("LITELLM_CUSTOM_HEADERS").hidden(), timeLimit("LITELLM_TIMEOUT"),
		},
		description: "Models behind a LiteLLM proxy", link: "https://docs.litellm.ai/docs/",
		site:  site{host: "LITELLM_HOST", header: liteHeader},
		calls: calls{path: below("LITELLM_BASE_PATH"), wire: chat{marks: isClaude}, asksProxy: true},
		list:  &listing{path: always(proxyPath), at: "data", name: "model_name", keep: isNoPattern, unsorted: true, judge: judgeNothing},
	},
	{
		name: "ollama", display: "Ollama", preferred: true, model: "qwen3", known: knownModels(0, "qwen3-coder:30b", "qwen3-coder:480b-cloud"),
		keys:        []key{required("OLLAMA_HOST").or("localhost"), timeLimit("OLLAMA_TIMEOUT")},
		description: "Open models on an Ollama server", link: "https://ollama.com/library",
		site:  site{host: "OLLAMA_HOST", base: ollamaBase, header: func(given) http.Header { return http.Header{} }},
		calls: calls{path: always("/v1/chat/completions"), wire: chat{}, streams: true},
		list:  &listing{path: always("/api/tags"), at: "models", name: "name", judge: judgeStrictly},
	},
	{
		name: "openai", display: "OpenAI", preferred: true, model: "gpt-4o",
		known: slices.Concat(knownModels(128_000, "gpt-4o", "gpt-4o-mini", "gpt-4.1", "gpt-4.1-mini"), knownModels(200_000, "o1", "o3"),
			knownModels(16_385, "gpt-3.5-turbo"), knownModels(128_000, "gpt-4-turbo", "o4-mini")),
		keys: []key{
			secret("OPENAI_API_KEY"), required("OPENAI_HOST").or("https://api.openai.com"), required("OPENAI_BASE_PATH").or("v1/chat/completions"),
			optional("OPENAI_ORGANIZATION"), optional("OPENAI_PROJECT"), optional("OPENAI_CUSTOM_HEADERS").hidden(), timeLimit("OPENAI_TIMEOUT"),
		},
		description: "OpenAI models, and servers with the same API", link: "https://platform.openai.com/docs/models",
		site:  site{host: "OPENAI_HOST", header: openAIHeader},
		calls: calls{path: below("OPENAI_BASE_PATH"), wire: chat{}, streams: true, fast: "gpt-4o-mini"},
		list:  openAIList,
	},
	{
		name: "openrouter", display: "OpenRouter", preferred: true, model: "anthropic/claude-sonnet-4",
		keys:        []key{secret("OPENROUTER_API_KEY"), optional("OPENROUTER_HOST").or("https://openrouter.ai")},
		description: "Models of many vendors through OpenRouter", link: "https://openrouter.ai/models",
		site:  site{host: "OPENROUTER_HOST", header: func(k given) http.Header { return gooseHeader(k["OPENROUTER_API_KEY"]) }},
		calls: calls{path: always("/api/v1/chat/completions"), wire: chat{marks: isOfAnthropic, transforms: true}, errorsInside: true},
		list:  &listing{path: always("/api/v1/models"), at: "data", name: "id", keep: hasTools, refuses: true, judge: judgeRouter},
	},
	{
		name: "sagemaker_tgi", display: "Amazon SageMaker TGI", model: "sagemaker-tgi-endpoint",
		keys:        []key{optional("SAGEMAKER_ENDPOINT_NAME"), required("AWS_REGION").or("us-east-1"), required("AWS_PROFILE").or("default")},
		description: "Text Generation Inference endpoints on Amazon SageMaker", link: "https://docs.aws.amazon.com/sagemaker/latest/dg/realtime-endpoints.html",
		cannot: noSignatures,
	},
	{
		name: "snowflake", display: "Snowflake", model: "claude-sonnet-4-5",
		keys:        []key{required("SNOWFLAKE_HOST"), secret("SNOWFLAKE_TOKEN")},
		description: "Models of Snowflake Cortex", link: "https://docs.snowflake.com/user-guide/snowflake-cortex/aisql", cannot: noAPI,
	},
	{
		name: "tetrate", display: "Tetrate Agent Router Service", preferred: true, model: "claude-haiku-4-5",
		keys:        []key{secret("TETRATE_API_KEY"), optional("TETRATE_HOST").or("https://api.router.tetrate.ai")},
		description: "Models of many vendors through the Tetrate Agent Router Service", link: "https://router.tetrate.ai",
		site:  site{host: "TETRATE_HOST", header: func(k given) http.Header { return gooseHeader(k["TETRATE_API_KEY"]) }},
		calls: calls{path: always("/v1/chat/completions"), wire: chat{}, streams: true, errorsInside: true},
		list:  &listing{path: always("/v1/models"), at: "data", name: "id", keep: isTrue("supports_computer_use"), refuses: true, judge: judgeRouter},
	},
	{
		name: "venice", display: "Venice.ai", model: "llama-3.3-70b",
		keys: []key{
			secret("VENICE_API_KEY"), required("VENICE_HOST").or("https://api.venice.ai"),
			required("VENICE_BASE_PATH").or("api/v1/chat/completions"), required("VENICE_MODELS_PATH").or("api/v1/models"),
		},
		description: "Models of Venice.ai that can call tools", link: "https://docs.venice.ai",
		site:  site{host: "VENICE_HOST", header: func(k given) http.Header { return bearer(k["VENICE_API_KEY"]) }},
		calls: calls{path: below("VENICE_BASE_PATH"), wire: venice{}, explain: explainVenice},
		list:  &listing{path: below("VENICE_MODELS_PATH"), at: "data", name: "id", keep: callsFunctions, show: veniceName, judge: judgeStrictly},
	},
	{
		name: "xai", display: "xAI", model: "grok-code-fast-1",
		keys:        []key{secret("XAI_API_KEY"), optional("XAI_HOST").or("https://api.x.ai/v1")},
		description: "Grok models of xAI", link: "https://docs.x.ai/docs/overview",
		site:  site{host: "XAI_HOST", header: func(k given) http.Header { return bearer(k["XAI_API_KEY"]) }},
		calls: calls{path: always("/chat/completions"), wire: chat{}},
	},
}
