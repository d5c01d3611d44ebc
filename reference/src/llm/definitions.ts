import { join } from 'node:path'
import type * as contract from '#contract'
import { isMissing } from '../error-code.ts'
import { entriesIn } from '../settings/directories.ts'
import type { Paths } from '../settings/paths.ts'
import { readRegularFile } from '../settings/regular-file.ts'
import { compareBytes } from '../text/compare-bytes.ts'
import { parseJsonDocument } from '../wire/json/document.ts'
import {
  array, boolean, int64From, map, nullable, number, object, oneOf, readShape, string, withDefault, type Shape,
} from '../wire/json/shape.ts'

/*
 * Providers that are defined as data: by files in the directory of settings (G58), or by this server (GA 24.2).
 */

/** What a definition says (GA 4.12). */
export type Definition = contract.DeclarativeProviderConfig

/** A definition, and whether it comes from a file. */
export interface FoundDefinition {
  id: string
  definition: Definition
  isFile: boolean
}

const modelInfo = object<contract.ModelInfo>({
  name: string,
  context_limit: int64From(0),
  input_token_cost: nullable(number),
  output_token_cost: nullable(number),
  currency: nullable(string),
  supports_cache_control: nullable(boolean),
})

const definitionShape: Shape<Definition> = object<Definition>({
  name: string,
  engine: oneOf('openai', 'ollama', 'anthropic'),
  display_name: string,
  description: nullable(string),
  api_key_env: withDefault(string, ''),
  base_url: string,
  models: array(modelInfo),
  headers: nullable(map(string)),
  timeout_seconds: nullable(int64From(0)),
  supports_streaming: nullable(boolean),
})

const maxIdBytes = 250

/** Whether a provider can have this id (G58). The id becomes the name of a file, which must stay in its directory. */
export function isDefinitionId(id: string): boolean {
  const bytes = Buffer.byteLength(id)
  return bytes >= 1 && bytes <= maxIdBytes && !id.startsWith('.') && !/[/\\\x00-\x1f\x7f]/.test(id)
}

export function definitionFile(paths: Paths, id: string): string {
  return join(directoryOf(paths), `${id}${suffix}`)
}

const suffix = '.json'

function directoryOf(paths: Paths): string {
  return join(paths.config, 'custom_providers')
}

/**
 * The definition of an id: that of its file if the file exists, else the bundled one. Undefined if there is neither, and if the
 * file is not a definition.
 */
export function findDefinition(paths: Paths, id: string): FoundDefinition | undefined {
  if (!isDefinitionId(id)) return undefined
  let bytes: Uint8Array
  try {
    bytes = readRegularFile(definitionFile(paths, id))
  } catch (error) {
    const definition = isMissing(error) ? bundled.get(id) : undefined
    return definition && { id, definition, isFile: false }
  }
  try {
    const document = parseJsonDocument(bytes)
    return { id, definition: readShape(definitionShape, document.value, document), isFile: true }
  } catch {
    return undefined // not a definition, so there is no provider
  }
}

/** The most files that are listed (G58). */
const maxFiles = 1000

/** All definitions: those of the first files by their ids, and the bundled ones that no file replaces. */
export function listDefinitions(paths: Paths): FoundDefinition[] {
  const ids = entriesIn(directoryOf(paths))
    .flatMap(({ name }) => (name.endsWith(suffix) ? [name.slice(0, -suffix.length)] : []))
    .filter(isDefinitionId)
    .sort(compareBytes)
    .slice(0, maxFiles)
  const find = (id: string): FoundDefinition[] => [findDefinition(paths, id)].filter((found) => found !== undefined)
  return [...ids.flatMap(find).filter(({ isFile }) => isFile), ...[...bundled.keys()].flatMap(find).filter(({ isFile }) => !isFile)]
}

/** Whether a provider needs a key (M48). */
export function needsKey({ engine, api_key_env: name }: Definition): boolean {
  return engine !== 'ollama' && name !== ''
}

/** A model of which only the name and the limit are known. */
export function modelNamed(name: string, limit: number): contract.ModelInfo {
  return { name, context_limit: limit, input_token_cost: null, output_token_cost: null, currency: null, supports_cache_control: null }
}

/** The definitions that come with the server (GA 24.2, G65). */
const bundled: ReadonlyMap<string, Definition> = new Map(
  [
    define('custom_deepseek', 'DeepSeek', 'DeepSeek models', 'DEEPSEEK_API_KEY', 'https://api.deepseek.com', {
      'deepseek-chat': 128_000, 'deepseek-reasoner': 128_000,
    }),
    define('groq', 'Groq (d)', 'Models that run on Groq', 'GROQ_API_KEY', 'https://api.groq.com/openai/v1/chat/completions', {
      'openai/gpt-oss-120b': 131_072, 'llama-3.1-8b-instant': 131_072, 'llama-3.3-70b-versatile': 131_072,
      'meta-llama/llama-guard-4-12b': 131_072, 'openai/gpt-oss-20b': 131_072,
    }),
    define('mistral', 'Mistral AI', 'Models of Mistral AI', 'MISTRAL_API_KEY', 'https://api.mistral.ai/v1/chat/completions', {
      'mistral-medium-latest': 128_000, 'mistral-small-2506': 128_000, 'mistral-medium-2508': 128_000, 'magistral-medium-2509': 128_000,
      'codestral-2508': 256_000, 'pixtral-large-2411': 128_000, 'ministral-8b-2410': 128_000, 'mistral-medium-2505': 128_000,
      'ministral-3b-2410': 128_000,
    }),
  ].map((definition) => [definition.name, definition]),
)

function define(name: string, title: string, description: string, key: string, url: string, models: Record<string, number>): Definition {
  return {
    name,
    engine: 'openai',
    display_name: title,
    description,
    api_key_env: key,
    base_url: url,
    models: Object.entries(models).map(([model, limit]) => modelNamed(model, limit)),
    headers: null,
    timeout_seconds: null,
    supports_streaming: true,
  }
}
