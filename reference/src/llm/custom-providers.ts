import { rmSync } from 'node:fs'
import type { ProviderEngine, UpdateCustomProviderRequest } from '#contract'
import { fileExists } from '../file-exists.ts'
import { replaceLinkedFile } from '../settings/private-files.ts'
import { maxFileBytes } from '../settings/regular-file.ts'
import type { Settings } from '../settings/settings.ts'
import { prettyJson } from '../wire/json/stringify.ts'
import { definitionFile, findDefinition, isDefinitionId, modelNamed, type Definition } from './definitions.ts'

/*
 * Changes of the definitions in files, and of their keys (GA 10.19).
 *
 * Each change is one step (G42). It rejects if something is not accepted, or cannot be read or written.
 */

/** A definition that a client sends. */
export type Asked = UpdateCustomProviderRequest

const limitOfModels = 128_000
const maxNumber = 999

const engines: ReadonlyMap<string, ProviderEngine> = new Map([
  ['openai_compatible', 'openai'], ['anthropic_compatible', 'anthropic'], ['ollama_compatible', 'ollama'],
])

/** Stores a new definition and its key. Returns its id. */
export async function createDefinition(settings: Settings, asked: Asked): Promise<string> {
  return settings.definitionChanges.run(() => create(settings, asked))
}

async function create(settings: Settings, asked: Asked): Promise<string> {
  const id = freeId(settings, `custom_${asked.display_name.toLowerCase().replaceAll(' ', '_')}`)
  const key = keyOf(id)
  const text = render({
    ...requested(id, asked),
    description: `Custom ${asked.display_name} provider`,
    api_key_env: key,
    headers: asked.headers ?? null,
    timeout_seconds: null,
  })
  await settings.setSecret(key, asked.api_key)
  write(settings, id, text)
  return id
}

/** Replaces the parts of a definition that can change, and its key. A bundled definition keeps all but the key. */
export async function updateDefinition(settings: Settings, id: string, asked: Asked): Promise<void> {
  await settings.definitionChanges.run(() => update(settings, id, asked))
}

async function update(settings: Settings, id: string, asked: Asked): Promise<void> {
  const found = findDefinition(settings.paths, id)
  if (found === undefined) throw new Error('unknown provider')
  const { definition, isFile } = found
  const text = isFile ? render({ ...definition, ...requested(id, asked) }) : undefined
  if (asked.api_key !== '' && definition.api_key_env !== '') await settings.setSecret(definition.api_key_env, asked.api_key)
  if (text !== undefined) write(settings, id, text)
}

/** Removes the file of an id, and its key. Nothing happens if there is no file. */
export async function removeDefinition(settings: Settings, id: string): Promise<void> {
  await settings.definitionChanges.run(() => remove(settings, id))
}

async function remove(settings: Settings, id: string): Promise<void> {
  if (!isDefinitionId(id)) throw new Error('invalid id')
  const file = definitionFile(settings.paths, id)
  if (!fileExists(file)) return
  if (await settings.storesSecret(keyOf(id))) await settings.removeSecret(keyOf(id))
  rmSync(file)
}

/** The secret that contains the key of a new provider. */
function keyOf(id: string): string {
  return `${id.toUpperCase()}_API_KEY`
}

function freeId(settings: Settings, first: string): string {
  for (let number = 0; number <= maxNumber; number++) {
    const id = number === 0 ? first : `${first}_${number}`
    if (!isDefinitionId(id)) break
    if (!fileExists(definitionFile(settings.paths, id))) return id
  }
  throw new Error('no id for the provider')
}

type Requested = Pick<Definition, 'name' | 'engine' | 'display_name' | 'base_url' | 'models' | 'supports_streaming'>

function requested(id: string, asked: Asked): Requested {
  const engine = engines.get(asked.engine)
  if (engine === undefined) throw new Error('unknown engine')
  return {
    name: id,
    engine,
    display_name: asked.display_name,
    base_url: asked.api_url,
    models: asked.models.map((model) => modelNamed(model, limitOfModels)),
    supports_streaming: asked.supports_streaming ?? null,
  }
}

/** The text of a file. Throws if it would be too large to be read again. */
function render(definition: Definition): string {
  const text = `${prettyJson(definition)}\n`
  if (Buffer.byteLength(text) > maxFileBytes) throw new RangeError(`the definition would have more than ${maxFileBytes} bytes`)
  return text
}

function write(settings: Settings, id: string, text: string): void {
  replaceLinkedFile(definitionFile(settings.paths, id), text)
}
