import type { Logger } from '../log.ts'
import type { ModelConfig } from '../domain/session/session.ts'
import { modelLogs } from '../settings/paths.ts'
import type { Settings } from '../settings/settings.ts'
import { quoted } from '../text/truncate.ts'
import { trimmed } from '../text/white-space.ts'
import { clientMessage } from '../public-error.ts'
import { ChatStream, chatAnswer } from './chat-answer.ts'
import { chatBody, chatModelName } from './chat-request.ts'
import { findDeclarative, type DeclarativeProvider } from './declarative.ts'
import { ProviderError, chatUrl, joinUrl, ollamaUrl } from './endpoints.ts'
import type { Endpoint } from './http-call.ts'
import { LeadWorker, leadSettings, workerContextLimit } from './lead-worker.ts'
import { MessagesStream, messagesAnswer } from './messages-answer.ts'
import { messagesBody } from './messages-request.ts'
import { modelConfigOf } from './model-config.ts'
import type { Provider } from './model.ts'
import { ModelProvider } from './model-provider.ts'
import { RequestLogs } from './request-log.ts'
import type { ModelProtocol } from './model-protocol.ts'

const defaultTimeoutSeconds = 600

const chat: ModelProtocol = { body: chatBody, modelName: chatModelName, whole: chatAnswer, stream: () => new ChatStream() }

const messages: ModelProtocol = {
  body: (...args) => Promise.resolve(messagesBody(...args)),
  modelName: (model) => model,
  whole: messagesAnswer,
  stream: () => new MessagesStream(),
}

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

  constructor(settings: Settings, logger: Logger) {
    this.#settings = settings
    this.#logs = new RequestLogs(modelLogs(settings.paths), logger)
    this.#logger = logger
  }

  /**
   * The provider with this name. If the settings configure a lead, it becomes the lead's worker (M57). Rejects with a ProviderError
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
      backoff: this.#settings.variable('GOOSE_PROVIDER_SKIP_BACKOFF') !== 'true',
      logs: this.#logs,
      logger: this.#logger,
    })
  }

  /** The plan. Settings and secrets that cannot be read cause a ProviderError too; the reason goes to the log (G26). */
  async #readPlan(name: string): Promise<Plan> {
    try {
      return await this.#plan(name)
    } catch (cause) {
      if (cause instanceof ProviderError) throw cause
      this.#logger.error('provider not built', { provider: name, err: cause })
      throw new ProviderError(clientMessage(cause), { cause })
    }
  }

  async #plan(name: string): Promise<Plan> {
    switch (name) {
      case 'openai':
        return this.#openai()
      case 'anthropic':
        return this.#anthropic()
      case 'ollama':
        return this.#ollama()
      default:
        return this.#declarative(name)
    }
  }

  async #openai(): Promise<Plan> {
    const key = await this.#requiredSecret('OPENAI_API_KEY')
    const url = joinUrl(
      this.#text('OPENAI_HOST') ?? 'https://api.openai.com',
      this.#text('OPENAI_BASE_PATH') ?? 'v1/chat/completions',
    )
    const organization = this.#text('OPENAI_ORGANIZATION')
    const project = this.#text('OPENAI_PROJECT')
    const headers = {
      ...bearer(key),
      ...(organization !== undefined && { 'OpenAI-Organization': organization }),
      ...(project !== undefined && { 'OpenAI-Project': project }),
      ...customHeaders((await this.#secret('OPENAI_CUSTOM_HEADERS')) ?? ''),
    }
    return { wire: chat, endpoint: this.#endpoint(url, headers, 'OPENAI_TIMEOUT'), streams: true, fastModel: 'gpt-4o-mini' }
  }

  async #anthropic(): Promise<Plan> {
    const key = await this.#requiredSecret('ANTHROPIC_API_KEY')
    const url = joinUrl(this.#text('ANTHROPIC_HOST') ?? 'https://api.anthropic.com', '/v1/messages')
    return { wire: messages, endpoint: this.#endpoint(url, anthropicHeaders(key)), streams: true, fastModel: null }
  }

  #ollama(): Plan {
    const url = ollamaUrl(this.#text('OLLAMA_HOST') ?? 'localhost')
    return { wire: chat, endpoint: this.#endpoint(url, {}, 'OLLAMA_TIMEOUT'), streams: true, fastModel: null }
  }

  async #declarative(name: string): Promise<Plan> {
    if (cannotRun.includes(name)) throw new ProviderError(`Provider cannot run on this server: ${name}`)
    const definition = findDeclarative(this.#settings.paths, name)
    if (definition === undefined) throw new ProviderError(`Unknown provider: ${quoted(name)}`)
    const { engine, headers, timeout_seconds: timeout, supports_streaming: streaming } = definition
    const endpoint = this.#endpoint(...(await this.#declaredTarget(definition)))
    return {
      wire: engine === 'anthropic' ? messages : chat,
      endpoint: {
        ...endpoint,
        headers: { ...endpoint.headers, ...headers },
        timeoutSeconds: timeout === null ? defaultTimeoutSeconds : Number(timeout),
      },
      streams: streaming ?? true,
      fastModel: null,
    }
  }

  async #declaredTarget({ engine, api_key_env: keyName, base_url: base }: DeclarativeProvider): Promise<[URL, Record<string, string>]> {
    const key = engine === 'ollama' || keyName === '' ? '' : await this.#requiredSecret(keyName)
    switch (engine) {
      case 'anthropic':
        return [joinUrl(base, '/v1/messages'), anthropicHeaders(key)]
      case 'openai':
      case 'ollama':
        return [chatUrl(base), bearer(key)]
      default:
        return engine satisfies never
    }
  }

  #endpoint(url: URL, headers: Record<string, string>, timeoutKey?: string): Endpoint {
    const seconds = timeoutKey === undefined ? undefined : Number(this.#settings.get(timeoutKey) ?? NaN)
    return {
      url,
      headers: { 'Content-Type': 'application/json', ...headers },
      timeoutSeconds: seconds !== undefined && seconds > 0 ? seconds : defaultTimeoutSeconds,
    }
  }

  #text(key: string): string | undefined {
    return asText(key, this.#settings.get(key))
  }

  async #secret(key: string): Promise<string | undefined> {
    return asText(key, await this.#settings.secret(key))
  }

  async #requiredSecret(key: string): Promise<string> {
    const value = await this.#secret(key)
    if (value === undefined) throw new ProviderError(`Configuration value not found: ${key}`)
    return value
  }
}

/** Null counts as missing. */
function asText(key: string, value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string') throw new ProviderError(`Configuration value is not a string: ${key}`)
  return value
}

function bearer(key: string): Record<string, string> {
  return key === '' ? {} : { Authorization: `Bearer ${key}` }
}

function anthropicHeaders(key: string): Record<string, string> {
  return { ...(key !== '' && { 'x-api-key': key }), 'anthropic-version': '2023-06-01' }
}

/** Parses header fields such as `A=b,C=d` (M6). */
export function customHeaders(text: string): Record<string, string> {
  const fields = text.split(',').flatMap((part): [string, string][] => {
    const at = part.indexOf('=')
    const name = trimmed(part.slice(0, Math.max(at, 0)))
    return name === '' ? [] : [[name, trimmed(part.slice(at + 1))]]
  })
  return Object.fromEntries(fields)
}

/** Known providers (GA 24.1) that require more than this server supports (M1). */
const cannotRun: readonly string[] = [
  'azure_openai', 'aws_bedrock', 'claude-code', 'cursor-agent', 'databricks', 'gcp_vertex_ai', 'gemini-cli', 'github_copilot',
  'google', 'litellm', 'openrouter', 'sagemaker_tgi', 'snowflake', 'tetrate', 'venice', 'xai',
]
