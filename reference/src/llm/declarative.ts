import { join } from 'node:path'
import { parseJsonDocument } from '../wire/json/document.ts'
import { array, boolean, int64, map, nullable, number, object, oneOf, readShape, string, withDefault } from '../wire/json/shape.ts'
import type { Int64, Shape } from '../wire/json/shape.ts'
import type { Paths } from '../settings/paths.ts'
import { readRegularFile } from '../settings/regular-file.ts'

/** A provider that a file describes (GA 4.12). */
export interface DeclarativeProviderConfig {
  name: string
  engine: 'openai' | 'ollama' | 'anthropic'
  display_name: string
  description: string | null
  /** The name of the secret that contains the key; empty if no key is needed. */
  api_key_env: string
  base_url: string
  models: ModelInfo[]
  headers: Record<string, string> | null
  timeout_seconds: Int64 | null
  supports_streaming: boolean | null
}

interface ModelInfo {
  name: string
  context_limit: Int64
  input_token_cost: number | null
  output_token_cost: number | null
  currency: string | null
  supports_cache_control: boolean | null
}

const modelInfo: Shape<ModelInfo> = object<ModelInfo>({
  name: string,
  context_limit: int64,
  input_token_cost: nullable(number),
  output_token_cost: nullable(number),
  currency: nullable(string),
  supports_cache_control: nullable(boolean),
})

const declarativeProvider: Shape<DeclarativeProviderConfig> = object<DeclarativeProviderConfig>({
  name: string,
  engine: oneOf('openai', 'ollama', 'anthropic'),
  display_name: string,
  description: nullable(string),
  api_key_env: withDefault(string, ''),
  base_url: string,
  models: array(modelInfo),
  headers: nullable(map(string)),
  timeout_seconds: nullable(int64),
  supports_streaming: nullable(boolean),
})

/** The definition of a provider id: from a file if there is one, else the bundled one (M1). Undefined if there is neither. */
export function findDeclarative(paths: Paths, id: string): DeclarativeProviderConfig | undefined {
  // The id becomes part of a path, which must stay in the directory.
  if (!/^[\p{L}\p{N}_-][\p{L}\p{N}._ -]*$/u.test(id)) return undefined
  let bytes: Uint8Array
  try {
    bytes = readRegularFile(join(paths.config, 'custom_providers', `${id}.json`))
  } catch {
    return bundled.find(({ name }) => name === id)
  }
  try {
    const document = parseJsonDocument(bytes)
    return readShape(declarativeProvider, document.value, document)
  } catch {
    return undefined // not a valid definition, so there is no provider
  }
}

/** The definitions that come with the server (GA 24.2). */
export const bundled: readonly DeclarativeProviderConfig[] = [
  define('custom_deepseek', 'DeepSeek', 'DEEPSEEK_API_KEY', 'https://api.deepseek.com', [
    [128_000, 'deepseek-chat', 'deepseek-reasoner'],
  ]),
  define('groq', 'Groq (d)', 'GROQ_API_KEY', 'https://api.groq.com/openai/v1/chat/completions', [
    [
      131_072, 'openai/gpt-oss-120b', 'llama-3.1-8b-instant', 'llama-3.3-70b-versatile', 'meta-llama/llama-guard-4-12b',
      'openai/gpt-oss-20b',
    ],
  ]),
  define('mistral', 'Mistral AI', 'MISTRAL_API_KEY', 'https://api.mistral.ai/v1/chat/completions', [
    [256_000, 'mistral-medium-latest', 'mistral-small-2506', 'mistral-medium-2508', 'magistral-medium-2509', 'codestral-2508'],
    [128_000, 'pixtral-large-2411', 'ministral-8b-2410', 'mistral-medium-2505', 'ministral-3b-2410'],
  ]),
]

function define(
  name: string,
  displayName: string,
  key: string,
  url: string,
  models: [limit: number, ...names: string[]][],
): DeclarativeProviderConfig {
  const info = (limit: number, model: string): ModelInfo => ({
    name: model,
    context_limit: limit,
    input_token_cost: null,
    output_token_cost: null,
    currency: null,
    supports_cache_control: null,
  })
  return {
    name,
    engine: 'openai',
    display_name: displayName,
    description: null,
    api_key_env: key,
    base_url: url,
    models: models.flatMap(([limit, ...names]) => names.map((model) => info(limit, model))),
    headers: null,
    timeout_seconds: null,
    supports_streaming: true,
  }
}
