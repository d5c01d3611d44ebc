import { trimmed } from '../text/white-space.ts'
import { chatUrl, joinUrl, listPath, ollamaUrl, percentEncoded } from './endpoints.ts'
import type { Endpoint } from './http-call.ts'
import { listRules, type ListRule } from './model-lists.ts'
import type { ModelProtocol } from './model-protocol.ts'
import { chat, chatWithErrorsInside, liteLlm, messages, openRouter, venice } from './protocols.ts'

/** The texts of a provider's settings and secrets. A key that is not set, and has no default, is missing. */
export type Values = ReadonlyMap<string, string>

type Headers = Record<string, string>

/** How to ask a built-in provider (M5, M6, M73 to M77). What is missing, it cannot do. */
export interface Wiring {
  /** The secret that is the key of the provider. */
  key?: string
  /** The key is required unless this says otherwise (M74). */
  keyMay?: 'be missing' | 'not be empty'
  /** The setting with the time limit. */
  timeout?: string
  headers: (values: Values) => Headers
  chat?: {
    address: (values: Values) => URL
    /** `list` is the endpoint of the list of models, if the provider has one. */
    protocol: (list: Endpoint | undefined) => ModelProtocol
    streams: boolean
    fastModel?: string
  }
  list?: { address: (values: Values) => URL; rule: ListRule }
}

const at = (values: Values, key: string): string => values.get(key) ?? ''

/** The address of a fixed path on the host in a setting. */
const onHost = (host: string, path: string) => (values: Values): URL => joinUrl(at(values, host), path)

const withBearer = (key: string) => (values: Values): Headers => bearer(at(values, key))

export function bearer(key: string): Headers {
  return key === '' ? {} : { Authorization: `Bearer ${key}` }
}

export function anthropicHeaders(key: string): Headers {
  return { ...(key !== '' && { 'x-api-key': key }), 'anthropic-version': '2023-06-01' }
}

const ofProgram = { 'HTTP-Referer': 'https://block.github.io/goose', 'X-Title': 'goose' }

/** The providers that this server asks for answers, or for a list of models. */
export const wirings: Readonly<Record<string, Wiring>> = {
  openai: {
    key: 'OPENAI_API_KEY',
    timeout: 'OPENAI_TIMEOUT',
    headers: openAiHeaders,
    chat: { address: openAiUrl((path) => path), protocol: () => chat, streams: true, fastModel: 'gpt-4o-mini' },
    list: { address: openAiUrl(listPath), rule: listRules.openai },
  },
  anthropic: {
    key: 'ANTHROPIC_API_KEY',
    headers: (values) => anthropicHeaders(at(values, 'ANTHROPIC_API_KEY')),
    chat: { address: onHost('ANTHROPIC_HOST', '/v1/messages'), protocol: () => messages, streams: true },
    list: { address: onHost('ANTHROPIC_HOST', '/v1/models'), rule: listRules.anthropic },
  },
  google: {
    key: 'GOOGLE_API_KEY',
    headers: (values) => ({ 'x-goog-api-key': at(values, 'GOOGLE_API_KEY') }),
    list: { address: onHost('GOOGLE_HOST', '/v1beta/models'), rule: listRules.google },
  },
  ollama: {
    timeout: 'OLLAMA_TIMEOUT',
    headers: () => ({}),
    chat: { address: (values) => ollamaUrl(at(values, 'OLLAMA_HOST'), '/v1/chat/completions'), protocol: () => chat, streams: true },
    list: { address: (values) => ollamaUrl(at(values, 'OLLAMA_HOST'), '/api/tags'), rule: listRules.ollama },
  },
  azure_openai: {
    key: 'AZURE_OPENAI_API_KEY',
    keyMay: 'not be empty',
    headers: (values) => ({ 'api-key': at(values, 'AZURE_OPENAI_API_KEY') }),
    chat: { address: azureUrl, protocol: () => chat, streams: false },
  },
  litellm: {
    key: 'LITELLM_API_KEY',
    keyMay: 'be missing',
    timeout: 'LITELLM_TIMEOUT',
    headers: (values) => ({
      ...(at(values, 'LITELLM_API_KEY') === '' ? { 'X-No-Auth': 'true' } : bearer(at(values, 'LITELLM_API_KEY'))),
      ...headerFields(at(values, 'LITELLM_CUSTOM_HEADERS'), '\n', ':'),
    }),
    chat: {
      address: (values) => joinUrl(at(values, 'LITELLM_HOST'), at(values, 'LITELLM_BASE_PATH')),
      protocol: (list) => (list === undefined ? chat : liteLlm(list)),
      streams: false,
    },
    list: { address: onHost('LITELLM_HOST', '/model/info'), rule: listRules.litellm },
  },
  openrouter: {
    key: 'OPENROUTER_API_KEY',
    headers: (values) => ({ ...bearer(at(values, 'OPENROUTER_API_KEY')), ...ofProgram }),
    chat: { address: onHost('OPENROUTER_HOST', '/api/v1/chat/completions'), protocol: () => openRouter, streams: false },
    list: { address: onHost('OPENROUTER_HOST', '/api/v1/models'), rule: listRules.openrouter },
  },
  tetrate: {
    key: 'TETRATE_API_KEY',
    headers: (values) => ({ ...bearer(at(values, 'TETRATE_API_KEY')), ...ofProgram }),
    chat: { address: onHost('TETRATE_HOST', '/v1/chat/completions'), protocol: () => chatWithErrorsInside, streams: true },
    list: { address: onHost('TETRATE_HOST', '/v1/models'), rule: listRules.tetrate },
  },
  venice: {
    key: 'VENICE_API_KEY',
    headers: withBearer('VENICE_API_KEY'),
    chat: {
      address: (values) => joinUrl(at(values, 'VENICE_HOST'), at(values, 'VENICE_BASE_PATH')),
      protocol: () => venice,
      streams: false,
    },
    list: { address: (values) => joinUrl(at(values, 'VENICE_HOST'), at(values, 'VENICE_MODELS_PATH')), rule: listRules.venice },
  },
  xai: {
    key: 'XAI_API_KEY',
    headers: withBearer('XAI_API_KEY'),
    chat: { address: onHost('XAI_HOST', '/chat/completions'), protocol: () => chat, streams: false },
  },
}

function openAiHeaders(values: Values): Headers {
  const organization = values.get('OPENAI_ORGANIZATION')
  const project = values.get('OPENAI_PROJECT')
  return {
    ...bearer(at(values, 'OPENAI_API_KEY')),
    ...(organization !== undefined && { 'OpenAI-Organization': organization }),
    ...(project !== undefined && { 'OpenAI-Project': project }),
    ...customHeaders(at(values, 'OPENAI_CUSTOM_HEADERS')),
  }
}

function openAiUrl(pathOf: (basePath: string) => string) {
  return (values: Values): URL => joinUrl(at(values, 'OPENAI_HOST'), pathOf(at(values, 'OPENAI_BASE_PATH')))
}

function azureUrl(values: Values): URL {
  const deployment = percentEncoded(at(values, 'AZURE_OPENAI_DEPLOYMENT_NAME'))
  const version = percentEncoded(at(values, 'AZURE_OPENAI_API_VERSION'))
  return joinUrl(at(values, 'AZURE_OPENAI_ENDPOINT'), `/openai/deployments/${deployment}/chat/completions?api-version=${version}`)
}

/** The address of the list of models for a definition of the engine openai (G61). */
export function declaredListUrl(base: string): URL {
  const url = chatUrl(base)
  url.pathname = listPath(url.pathname)
  return url
}

/** Parses header fields such as `A=b,C=d` (M6). */
export function customHeaders(text: string): Headers {
  return headerFields(text, ',', '=')
}

function headerFields(text: string, between: string, after: string): Headers {
  const fields = text.split(between).flatMap((part): [string, string][] => {
    const index = part.indexOf(after)
    const name = trimmed(part.slice(0, Math.max(index, 0)))
    return name === '' ? [] : [[name, trimmed(part.slice(index + 1))]]
  })
  return Object.fromEntries(fields)
}
