import type { ConfigKey, ProviderType } from '#contract'

/** A provider that this server knows by name (GA 24.1, G64). */
export interface BuiltIn {
  name: string
  title: string
  type: ProviderType
  description: string
  link: string
  defaultModel: string
  /** Without this, the only known model is the default one. */
  knownModels?: readonly string[]
  /** The limits of known models that differ from those of all models with these names. */
  limits?: Readonly<Record<string, number>>
  /** In the order in which they are read (M2). */
  keys: readonly ConfigKey[]
  /** Why it cannot run on this server (M1); undefined if it can. */
  cannotRun?: string
}

/** A key. The letters say whether it is required, secret, and set by a sign-in (`oauth_flow`). */
function key(name: string, letters: '' | 'r' | 's' | 'rs' | 'rso', preset: string | null = null): ConfigKey {
  const has = (letter: string): boolean => letters.includes(letter)
  return { name, required: has('r'), secret: has('s'), default: preset, oauth_flow: has('o') }
}

const [noApi, noSignatures, noSignIn, noProgram] = [
  'its API is not supported', 'its request signatures are not supported', 'its sign-in is not supported', 'it needs another program',
]

const list: readonly BuiltIn[] = [
  {
    name: 'anthropic', title: 'Anthropic', type: 'Preferred', description: 'Claude models of Anthropic',
    link: 'https://docs.anthropic.com/en/docs/about-claude/models',
    defaultModel: 'claude-sonnet-4-5',
    knownModels: [
      'claude-sonnet-4-5', 'claude-sonnet-4-5-20250929', 'claude-haiku-4-5', 'claude-haiku-4-5-20251001', 'claude-opus-4-5',
      'claude-opus-4-5-20251101', 'claude-sonnet-4-0', 'claude-sonnet-4-20250514', 'claude-opus-4-0', 'claude-opus-4-20250514',
      'claude-3-7-sonnet-latest', 'claude-3-7-sonnet-20250219', 'claude-3-opus-latest',
    ],
    keys: [key('ANTHROPIC_API_KEY', 'rs'), key('ANTHROPIC_HOST', 'r', 'https://api.anthropic.com')],
  },
  {
    name: 'aws_bedrock', title: 'Amazon Bedrock', type: 'Builtin', description: 'Models of Amazon Bedrock', cannotRun: noSignatures,
    link: 'https://docs.aws.amazon.com/bedrock/latest/userguide/models-supported.html',
    defaultModel: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
    keys: [key('AWS_PROFILE', 'r', 'default'), key('AWS_REGION', 'r')],
  },
  {
    name: 'azure_openai', title: 'Azure OpenAI', type: 'Builtin', description: 'OpenAI models on Azure, with an API key',
    link: 'https://learn.microsoft.com/en-us/azure/ai-services/openai/concepts/models',
    defaultModel: 'gpt-4o', knownModels: ['gpt-4o', 'gpt-4o-mini', 'gpt-4'],
    keys: [
      key('AZURE_OPENAI_ENDPOINT', 'r'), key('AZURE_OPENAI_DEPLOYMENT_NAME', 'r'), key('AZURE_OPENAI_API_VERSION', 'r', '2024-10-21'),
      key('AZURE_OPENAI_API_KEY', 'rs', ''),
    ],
  },
  {
    name: 'claude-code', title: 'Claude Code CLI', type: 'Preferred', description: 'Claude models through the Claude Code CLI', cannotRun: noProgram,
    link: 'https://code.claude.com/docs/en/setup', defaultModel: 'claude-sonnet-4-20250514', keys: [key('CLAUDE_CODE_COMMAND', 'r', 'claude')],
  },
  {
    name: 'cursor-agent', title: 'Cursor Agent', type: 'Builtin', description: 'Models through the Cursor Agent CLI', cannotRun: noProgram,
    link: 'https://docs.cursor.com/en/cli/overview', defaultModel: 'auto', keys: [key('CURSOR_AGENT_COMMAND', 'r', 'cursor-agent')],
  },
  {
    name: 'databricks', title: 'Databricks', type: 'Preferred', description: 'Models on Databricks AI Gateway', cannotRun: noApi,
    link: 'https://docs.databricks.com/en/generative-ai/external-models/index.html', defaultModel: 'databricks-claude-sonnet-4',
    keys: [key('DATABRICKS_HOST', 'r'), key('DATABRICKS_TOKEN', 's')],
  },
  {
    name: 'gcp_vertex_ai', title: 'GCP Vertex AI', type: 'Builtin', description: 'Models on Google Cloud Vertex AI', cannotRun: noSignIn,
    link: 'https://cloud.google.com/vertex-ai', defaultModel: 'gemini-2.5-flash',
    keys: [
      key('GCP_PROJECT_ID', 'r'), key('GCP_LOCATION', 'r', 'us-central1'), key('GCP_MAX_RETRIES', '', '6'),
      key('GCP_INITIAL_RETRY_INTERVAL_MS', '', '5000'), key('GCP_BACKOFF_MULTIPLIER', '', '2'), key('GCP_MAX_RETRY_INTERVAL_MS', '', '320000'),
    ],
  },
  {
    name: 'gemini-cli', title: 'Gemini CLI', type: 'Builtin', description: 'Gemini models through the Gemini CLI', cannotRun: noProgram,
    link: 'https://ai.google.dev/gemini-api/docs', defaultModel: 'gemini-2.5-pro', keys: [key('GEMINI_CLI_COMMAND', 'r', 'gemini')],
  },
  {
    name: 'github_copilot', title: 'GitHub Copilot', type: 'Builtin', description: 'Models of GitHub Copilot', cannotRun: noSignIn,
    link: 'https://docs.github.com/en/copilot/using-github-copilot/ai-models', defaultModel: 'gpt-4.1', keys: [key('GITHUB_COPILOT_TOKEN', 'rso')],
  },
  {
    name: 'google', title: 'Google Gemini', type: 'Preferred', description: 'Gemini models of Google', cannotRun: noApi,
    link: 'https://ai.google.dev/gemini-api/docs/models', defaultModel: 'gemini-2.5-pro',
    keys: [key('GOOGLE_API_KEY', 'rs'), key('GOOGLE_HOST', '', 'https://generativelanguage.googleapis.com')],
  },
  {
    name: 'litellm', title: 'LiteLLM', type: 'Builtin', description: 'Models behind a LiteLLM proxy',
    link: 'https://docs.litellm.ai/docs/', defaultModel: 'gpt-4o-mini', knownModels: [],
    keys: [
      key('LITELLM_API_KEY', 'rs'), key('LITELLM_HOST', 'r', 'http://localhost:4000'), key('LITELLM_BASE_PATH', 'r', 'v1/chat/completions'),
      key('LITELLM_CUSTOM_HEADERS', 's'), key('LITELLM_TIMEOUT', '', '600'),
    ],
  },
  {
    name: 'ollama', title: 'Ollama', type: 'Preferred', description: 'Open models on an Ollama server',
    link: 'https://ollama.com/library', defaultModel: 'qwen3', knownModels: ['qwen3-coder:30b', 'qwen3-coder:480b-cloud'],
    keys: [key('OLLAMA_HOST', 'r', 'localhost'), key('OLLAMA_TIMEOUT', '', '600')],
  },
  {
    name: 'openai', title: 'OpenAI', type: 'Preferred', description: 'OpenAI models, and servers with the same API',
    link: 'https://platform.openai.com/docs/models', defaultModel: 'gpt-4o',
    knownModels: ['gpt-4o', 'gpt-4o-mini', 'gpt-4.1', 'gpt-4.1-mini', 'o1', 'o3', 'gpt-3.5-turbo', 'gpt-4-turbo', 'o4-mini'],
    limits: { 'gpt-4.1': 128_000, 'gpt-4.1-mini': 128_000, 'o1': 200_000, 'gpt-3.5-turbo': 16_385, 'o4-mini': 128_000 },
    keys: [
      key('OPENAI_API_KEY', 'rs'), key('OPENAI_HOST', 'r', 'https://api.openai.com'), key('OPENAI_BASE_PATH', 'r', 'v1/chat/completions'),
      key('OPENAI_ORGANIZATION', ''), key('OPENAI_PROJECT', ''), key('OPENAI_CUSTOM_HEADERS', 's'), key('OPENAI_TIMEOUT', '', '600'),
    ],
  },
  {
    name: 'openrouter', title: 'OpenRouter', type: 'Preferred', description: 'Models of many vendors through OpenRouter',
    link: 'https://openrouter.ai/models', defaultModel: 'anthropic/claude-sonnet-4',
    keys: [key('OPENROUTER_API_KEY', 'rs'), key('OPENROUTER_HOST', '', 'https://openrouter.ai')],
  },
  {
    name: 'sagemaker_tgi', title: 'Amazon SageMaker TGI', type: 'Builtin', cannotRun: noSignatures,
    description: 'Text Generation Inference endpoints on Amazon SageMaker',
    link: 'https://docs.aws.amazon.com/sagemaker/latest/dg/realtime-endpoints.html', defaultModel: 'sagemaker-tgi-endpoint',
    keys: [key('SAGEMAKER_ENDPOINT_NAME', ''), key('AWS_REGION', 'r', 'us-east-1'), key('AWS_PROFILE', 'r', 'default')],
  },
  {
    name: 'snowflake', title: 'Snowflake', type: 'Builtin', description: 'Models of Snowflake Cortex', cannotRun: noApi,
    link: 'https://docs.snowflake.com/user-guide/snowflake-cortex/aisql', defaultModel: 'claude-sonnet-4-5',
    keys: [key('SNOWFLAKE_HOST', 'r'), key('SNOWFLAKE_TOKEN', 'rs')],
  },
  {
    name: 'tetrate', title: 'Tetrate Agent Router Service', type: 'Preferred',
    description: 'Models of many vendors through the Tetrate Agent Router Service',
    link: 'https://router.tetrate.ai', defaultModel: 'claude-haiku-4-5',
    keys: [key('TETRATE_API_KEY', 'rs'), key('TETRATE_HOST', '', 'https://api.router.tetrate.ai')],
  },
  {
    name: 'venice', title: 'Venice.ai', type: 'Builtin', description: 'Models of Venice.ai that can call tools',
    link: 'https://docs.venice.ai', defaultModel: 'llama-3.3-70b',
    keys: [
      key('VENICE_API_KEY', 'rs'), key('VENICE_HOST', 'r', 'https://api.venice.ai'), key('VENICE_BASE_PATH', 'r', 'api/v1/chat/completions'),
      key('VENICE_MODELS_PATH', 'r', 'api/v1/models'),
    ],
  },
  {
    name: 'xai', title: 'xAI', type: 'Builtin', description: 'Grok models of xAI',
    link: 'https://docs.x.ai/docs/overview', defaultModel: 'grok-code-fast-1',
    keys: [key('XAI_API_KEY', 'rs'), key('XAI_HOST', '', 'https://api.x.ai/v1')],
  },
]

/** The built-in providers by their names. */
export const builtIns: ReadonlyMap<string, BuiltIn> = new Map(list.map((provider) => [provider.name, provider]))
