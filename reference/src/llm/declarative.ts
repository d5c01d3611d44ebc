import { join } from 'node:path'
import { parseJsonDocument } from '../wire/json/document.ts'
import {
  array, boolean, int64, map, nullable, number, object, oneOf, readShape, string, withDefault, type Int64, type Shape,
} from '../wire/json/shape.ts'
import type { Paths } from '../settings/paths.ts'
import { readRegularFile } from '../settings/regular-file.ts'

/** The part of a provider's definition (GA 4.12) that decides how to connect to its models. */
export interface DeclarativeProvider {
  engine: 'openai' | 'ollama' | 'anthropic'
  /** The name of the secret that contains the key; empty if no key is needed. */
  api_key_env: string
  base_url: string
  headers: Record<string, string> | null
  timeout_seconds: Int64 | null
  supports_streaming: boolean | null
}

const modelInfo = object({
  name: string,
  context_limit: int64,
  input_token_cost: nullable(number),
  output_token_cost: nullable(number),
  currency: nullable(string),
  supports_cache_control: nullable(boolean),
})

/** A whole definition. All its fields are checked (M1). */
const declarativeProvider: Shape<DeclarativeProvider> = object({
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
export function findDeclarative(paths: Paths, id: string): DeclarativeProvider | undefined {
  // The id becomes part of a path, which must stay in the directory.
  if (!/^[\p{L}\p{N}_-][\p{L}\p{N}._ -]*$/u.test(id)) return undefined
  let bytes: Uint8Array
  try {
    bytes = readRegularFile(join(paths.config, 'custom_providers', `${id}.json`))
  } catch {
    return bundled.get(id)
  }
  try {
    const document = parseJsonDocument(bytes)
    return readShape(declarativeProvider, document.value, document)
  } catch {
    return undefined // not a valid definition, so there is no provider
  }
}

/** The definitions that come with the server (GA 24.2). */
const bundled: ReadonlyMap<string, DeclarativeProvider> = new Map([
  ['custom_deepseek', define('DEEPSEEK_API_KEY', 'https://api.deepseek.com')],
  ['groq', define('GROQ_API_KEY', 'https://api.groq.com/openai/v1/chat/completions')],
  ['mistral', define('MISTRAL_API_KEY', 'https://api.mistral.ai/v1/chat/completions')],
])

function define(key: string, url: string): DeclarativeProvider {
  return { engine: 'openai', api_key_env: key, base_url: url, headers: null, timeout_seconds: null, supports_streaming: true }
}
