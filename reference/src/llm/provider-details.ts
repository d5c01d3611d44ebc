import type { ConfigKey, ModelInfo, ProviderDetails } from '#contract'
import type { Logger } from '../log.ts'
import type { Settings } from '../settings/settings.ts'
import { compareBytes } from '../text/compare-bytes.ts'
import { builtIns, type BuiltIn } from './catalogue.ts'
import { listDefinitions, modelNamed, needsKey, type FoundDefinition } from './definitions.ts'
import { assumedLimit, knownLimit } from './model-config.ts'

/** Reads a setting or a secret. */
type Read = (key: string, isSecret: boolean) => Promise<unknown>

/** All providers, sorted by their names (G57). Settings and secrets that cannot be read count as not set; a secret's reason is logged. */
export async function allProviders(settings: Settings, logger: Logger): Promise<ProviderDetails[]> {
  const readStored = reader(settings)
  let isLogged = false
  const read: Read = async (key, isSecret) => {
    try {
      return await readStored(key, isSecret)
    } catch (err) {
      if (!isLogged) logger.warn('secrets not read, so no provider that needs one is configured', { err })
      isLogged = true
      return undefined
    }
  }
  const definitions = listDefinitions(settings.paths).filter(({ id }) => !builtIns.has(id))
  const all = [
    ...[...builtIns.values()].map((provider) => builtInDetails(provider, read)),
    ...definitions.map((found) => definedDetails(found, read)),
  ]
  return (await Promise.all(all)).sort((a, b) => compareBytes(a.name, b.name))
}

/** Whether the keys that a provider needs are set (GA 10.14). Rejects if one is a secret, and the secrets cannot be read. */
export async function isConfigured({ keys }: BuiltIn, settings: Settings): Promise<boolean> {
  return areSet(keys, reader(settings))
}

/** Settings and secrets are read once for all keys (G38). */
function reader(settings: Settings): Read {
  const [setting, secret] = [settings.reader(), settings.secretReader()]
  return async (key, isSecret) => (isSecret ? await secret(key) : setting(key))
}

/** The keys without a default decide. If there are none, one of the other required keys is enough. */
async function areSet(keys: readonly ConfigKey[], read: Read): Promise<boolean> {
  const required = keys.filter((key) => key.required)
  const needed = required.filter((key) => key.default === null)
  // Each answer decides whether the next key is read.
  const isAllNeeded = needed.length > 0
  for (const { name, secret } of isAllNeeded ? needed : required) {
    const isSet = ((await read(name, secret)) ?? null) !== null
    if (isSet !== isAllNeeded) return isSet
  }
  return isAllNeeded
}

async function builtInDetails(provider: BuiltIn, read: Read): Promise<ProviderDetails> {
  const { name, title, type, description, cannotRun, defaultModel, knownModels = [defaultModel], limits = {}, link, keys } = provider
  return {
    name,
    metadata: {
      name,
      display_name: title,
      description: cannotRun === undefined ? description : `${description}. Cannot run on this server: ${cannotRun}`,
      default_model: defaultModel,
      known_models: knownModels.map((model) => modelNamed(model, limits[model] ?? knownLimit(model) ?? assumedLimit)),
      model_doc_link: link,
      config_keys: [...keys],
    },
    is_configured: await areSet(keys, read),
    provider_type: type,
  }
}

async function definedDetails({ id, definition, isFile }: FoundDefinition, read: Read): Promise<ProviderDetails> {
  const { engine, display_name: title, description, models } = definition
  return {
    name: id,
    metadata: {
      name: id,
      display_name: title,
      description: description || `Custom ${title} provider`,
      default_model: models[0]?.name ?? '',
      known_models: models.map((model): ModelInfo => ({ ...model, supports_cache_control: model.supports_cache_control ?? false })),
      model_doc_link: builtIns.get(engine)?.link ?? '',
      config_keys: definedKeys(definition, builtIns.get(engine)?.keys ?? []),
    },
    is_configured: !needsKey(definition) || !['', null, undefined].includes((await read(definition.api_key_env, true)) as string), // any value can be compared
    provider_type: isFile ? 'Custom' : 'Declarative',
  }
}

/** The keys of the engine, in which the key of the definition replaces that of the engine's own provider. */
function definedKeys({ api_key_env: name }: FoundDefinition['definition'], keys: readonly ConfigKey[]): ConfigKey[] {
  const replaced = keys.find(({ required, secret }) => required && secret)
  const own: ConfigKey = { name, required: true, secret: true, default: null, oauth_flow: false }
  return keys.flatMap((key) => (key === replaced ? (name === '' ? [] : [own]) : [key]))
}
