import type { DetectedProvider } from '#contract'
import type { ModelConfig } from '../domain/session/session.ts'
import type { Logger } from '../log.ts'
import { clientMessage } from '../public-error.ts'
import { modelLogs } from '../settings/paths.ts'
import type { Settings } from '../settings/settings.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import { quoted } from '../text/truncate.ts'
import { builtIns, type BuiltIn } from './catalogue.ts'
import { findDefinition, needsKey, type Definition } from './definitions.ts'
import { ProviderError, chatUrl, joinUrl } from './endpoints.ts'
import type { Endpoint } from './http-call.ts'
import { LeadWorker, leadSettings, workerContextLimit } from './lead-worker.ts'
import { modelConfigOf } from './model-config.ts'
import { askForModels, listRules, type ListRule, type Listed } from './model-lists.ts'
import type { ModelProtocol } from './model-protocol.ts'
import { ModelProvider } from './model-provider.ts'
import type { Provider } from './model.ts'
import { chat, messages } from './protocols.ts'
import { RequestLogs } from './request-log.ts'
import { anthropicHeaders, bearer, declaredListUrl, wirings, type Values, type Wiring } from './wirings.ts'

const defaultTimeoutSeconds = 600

/** How to connect to a provider's model. */
interface Plan {
  wire: ModelProtocol
  endpoint: Endpoint
  streams: boolean
  fastModel: string | null
}

/** Builds providers from the current settings (M1 to M6). */
export class Providers {
  readonly #settings: Settings
  readonly #logs: RequestLogs
  readonly #logger: Logger
  readonly #telemetry: Telemetry | undefined

  constructor(settings: Settings, logger: Logger, telemetry?: Telemetry) {
    this.#settings = settings
    this.#logs = new RequestLogs(modelLogs(settings.paths), logger)
    this.#logger = logger
    this.#telemetry = telemetry
  }

  /**
   * The provider with this name. If the settings configure a lead, it becomes the lead's worker (M57). Throws a ProviderError
   * with the reason, or a ModelConfigError. Sends no request.
   */
  async build(name: string, config: ModelConfig): Promise<Provider> {
    const settings = this.#settings
    const lead = leadSettings(settings)
    if (lead === undefined) return this.#build(name, config)
    const worker = await this.#build(name, { ...config, context_limit: workerContextLimit(settings) ?? config.context_limit })
    return new LeadWorker(await this.#build(lead.provider ?? name, modelConfigOf(lead.model, settings, 'lead')), worker, lead.limits)
  }

  async #build(name: string, config: ModelConfig): Promise<ModelProvider> {
    const { wire, endpoint, streams, fastModel } = await this.#readPlan(name)
    return new ModelProvider({
      name,
      config: { ...config, fast_model: fastModel },
      wire,
      endpoint,
      streams,
      backoff: this.#backoff,
      logs: this.#logs,
      logger: this.#logger,
      telemetry: this.#telemetry,
    })
  }

  get #backoff(): boolean {
    return this.#settings.variable('GOOSE_PROVIDER_SKIP_BACKOFF') !== 'true'
  }

  /** Whether a provider can be built with its default model (G60). Throws like `build`, but an unknown name is the first reason. */
  async check(name: string): Promise<void> {
    const { paths } = this.#settings
    const model = builtIns.get(name)?.defaultModel ?? findDefinition(paths, name)?.definition.models[0]?.name ?? ''
    if (!builtIns.has(name) && findDefinition(paths, name) === undefined) throw unknownProvider(name)
    modelConfigOf(model, this.#settings)
    await this.#readPlan(name)
  }

  /**
   * The models that a built-in provider lists. A provider without a request has none. Throws what `check` throws. Rejects with the
   * reason of the signal.
   */
  async list(provider: BuiltIn, signal: AbortSignal): Promise<Listed> {
    const wiring = wirings[provider.name]
    if (wiring?.list === undefined) return { models: [] }
    modelConfigOf(provider.defaultModel, this.#settings)
    const values = await this.#explained(provider.name, () => this.#values(provider, wiring))
    return askForModels(this.#endpoint(wiring.list.address(values), wiring, values), wiring.list.rule, this.#backoff, signal)
  }

  /** Asks the providers whose keys look alike, at the same time. The first one that lists models wins (G61). */
  async detect(key: string, signal: AbortSignal): Promise<{ name: DetectedProvider; models: string[] } | undefined> {
    const over = new AbortController()
    const ends = AbortSignal.any([signal, over.signal])
    const asked = detected.map((name) => ({ name, listed: this.#listWith(name, key, ends) }))
    for (const { listed } of asked) listed.catch(() => undefined) // those after the winner are not awaited
    try {
      for (const { name, listed } of asked) {
        const list = await listed
        if ('models' in list) return { name, models: list.models }
      }
      return undefined
    } finally {
      over.abort()
    }
  }

  /** The list for another key than the stored one. A provider that cannot be asked has none. */
  async #listWith(name: DetectedProvider, key: string, signal: AbortSignal): Promise<Listed> {
    let request: { endpoint: Endpoint; rule: ListRule } | undefined
    try {
      request = name === 'groq' ? this.#groqList(key) : await this.#builtInList(name, key)
    } catch (err) {
      if (!(err instanceof ProviderError)) this.#logger.warn('provider not asked', { provider: name, err })
    }
    return request === undefined ? { instead: 500, why: 'not asked' } : askForModels(request.endpoint, request.rule, this.#backoff, signal)
  }

  async #builtInList(name: string, key: string): Promise<{ endpoint: Endpoint; rule: ListRule } | undefined> {
    const [provider, wiring] = [builtIns.get(name), wirings[name]]
    if (provider === undefined || wiring?.list === undefined) return undefined
    const values = await this.#values(provider, wiring, key)
    return { endpoint: this.#endpoint(wiring.list.address(values), wiring, values), rule: wiring.list.rule }
  }

  #groqList(key: string): { endpoint: Endpoint; rule: ListRule } | undefined {
    const definition = findDefinition(this.#settings.paths, 'groq')?.definition
    if (definition?.engine !== 'openai') return undefined
    const endpoint = declaredEndpoint(definition, declaredListUrl(definition.base_url), bearer(key))
    return { endpoint, rule: listRules.openai }
  }

  async #readPlan(name: string): Promise<Plan> {
    return this.#explained(name, () => this.#plan(name))
  }

  /** Settings and secrets that cannot be read cause a ProviderError too; the reason goes to the log (G26). */
  async #explained<T>(name: string, run: () => Promise<T>): Promise<T> {
    try {
      return await run()
    } catch (cause) {
      if (cause instanceof ProviderError) throw cause
      this.#logger.error('provider not built', { provider: name, err: cause })
      throw new ProviderError(clientMessage(cause), { cause })
    }
  }

  async #plan(name: string): Promise<Plan> {
    const provider = builtIns.get(name)
    if (provider === undefined) return this.#declared(name)
    const wiring = wirings[name]
    if (wiring?.chat === undefined) throw new ProviderError(`Provider cannot run on this server: ${name} (${provider.cannotRun ?? ''})`)
    const values = await this.#values(provider, wiring)
    const { address, protocol, streams, fastModel = null } = wiring.chat
    return {
      wire: protocol(wiring.list && this.#endpoint(wiring.list.address(values), wiring, values)),
      endpoint: this.#endpoint(address(values), wiring, values),
      streams,
      fastModel,
    }
  }

  #endpoint(url: URL, { headers, timeout }: Wiring, values: Values): Endpoint {
    const seconds = timeout === undefined ? NaN : Number(this.#settings.get(timeout) ?? NaN)
    return { url, headers: headers(values), timeoutSeconds: seconds > 0 ? seconds : defaultTimeoutSeconds }
  }

  /** The values of a provider's keys, in their order (M2). A given key is used instead of the stored one, which is then not read. */
  async #values({ keys }: BuiltIn, { key, keyMay, timeout }: Wiring, given?: string): Promise<Values> {
    const values = new Map<string, string>()
    const readSecret = this.#settings.secretReader()
    for (const { name, required, secret, default: preset } of keys) {
      if (name === timeout) continue // a time limit of any type counts (M46)
      if (name === key && given !== undefined) {
        values.set(name, given)
        continue
      }
      const isKey = name === key
      const value = asText(name, secret ? await readSecret(name) : this.#settings.get(name))
      if (value !== undefined && !(isKey && keyMay === 'not be empty' && value === '')) values.set(name, value)
      else if (preset !== null && !isKey) values.set(name, preset)
      else if (required && !(isKey && keyMay === 'be missing')) throw notFound(name)
    }
    return values
  }

  async #declared(name: string): Promise<Plan> {
    const definition = findDefinition(this.#settings.paths, name)?.definition
    if (definition === undefined) throw unknownProvider(name)
    const { engine, base_url: base, api_key_env: keyName, supports_streaming: streams } = definition
    const key = needsKey(definition) ? asText(keyName, await this.#settings.secret(keyName)) : ''
    if (key === undefined) throw notFound(keyName)
    const isAnthropic = engine === 'anthropic'
    const url = isAnthropic ? joinUrl(base, '/v1/messages') : chatUrl(base)
    return {
      wire: isAnthropic ? messages : chat,
      endpoint: declaredEndpoint(definition, url, isAnthropic ? anthropicHeaders(key) : bearer(key)),
      streams: streams ?? true,
      fastModel: null,
    }
  }
}

/** The providers whose keys are detected, in the order in which they win. */
const detected: readonly DetectedProvider[] = ['anthropic', 'openai', 'google', 'groq']

function declaredEndpoint({ headers, timeout_seconds: timeout }: Definition, url: URL, ofKey: Record<string, string>): Endpoint {
  return { url, headers: { ...ofKey, ...headers }, timeoutSeconds: timeout === null ? defaultTimeoutSeconds : Number(timeout) }
}

function unknownProvider(name: string): ProviderError {
  return new ProviderError(`Unknown provider: ${quoted(name)}`)
}

function notFound(key: string): ProviderError {
  return new ProviderError(`Configuration value not found: ${key}`)
}

/** Null counts as missing. */
function asText(key: string, value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string') throw new ProviderError(`Configuration value is not a string: ${key}`)
  return value
}
