import type { ModelConfig } from '../domain/session/session.ts'
import type { Settings } from '../settings/settings.ts'
import { isBlank } from '../text/white-space.ts'

/** A variable has a value that a model config cannot have (M3). */
export class ModelConfigError extends Error {
  override readonly name = 'ModelConfigError'
}

/**
 * The config of a model (GA 4.8), from its name and from variables that only the environment can set. A lead may have its own
 * context limit (M57). Throws a ModelConfigError.
 */
export function modelConfigOf(model: string, settings: Settings, role?: 'lead'): ModelConfig {
  const ofLead = role === 'lead' && settings.variable(leadContextLimit.name) !== undefined
  // The order matters, because the error names the first invalid variable.
  const limit = read(settings, ofLead ? leadContextLimit : contextLimit)
  const temperature = read(settings, temperatureVariable)
  const toolshim = read(settings, toolshimFlag)
  const toolshimModel = read(settings, toolshimModelName)
  return {
    model_name: model,
    context_limit: limit ?? knownLimit(model),
    temperature: temperature ?? null,
    max_tokens: null,
    toolshim: toolshim ?? false,
    toolshim_model: toolshimModel ?? null,
    fast_model: null,
  }
}

/** The limit that is assumed if none is known. */
export const assumedLimit = 128_000

/** How many tokens a conversation with this model may have. */
export function contextLimitOf({ context_limit: limit }: ModelConfig): number {
  return limit === null ? assumedLimit : Number(limit)
}

/** A variable, and how to parse its text. `parse` throws a ModelConfigError. */
interface Variable<T> {
  name: string
  parse: (text: string, name: string) => T
}

function read<T>(settings: Settings, { name, parse }: Variable<T>): T | undefined {
  const text = settings.variable(name)
  return text === undefined ? undefined : parse(text, name)
}

function invalid(name: string, text: string, rule: string): ModelConfigError {
  return new ModelConfigError(`Invalid value for '${name}': '${text}' - ${rule}`)
}

function outOfRange(name: string, rule: string): ModelConfigError {
  return new ModelConfigError(`Value for '${name}' is out of valid range: ${rule}`)
}

const contextLimit: Variable<number> = {
  name: 'GOOSE_CONTEXT_LIMIT',
  parse: (text, name) => {
    const value = /^\+?\d+$/.test(text) ? Number(text) : NaN
    if (!Number.isSafeInteger(value)) throw invalid(name, text, 'must be a positive integer')
    if (value < 4096) throw outOfRange(name, 'must be greater than 4K')
    return value
  },
}

const leadContextLimit: Variable<number> = { ...contextLimit, name: 'GOOSE_LEAD_CONTEXT_LIMIT' }

const temperatureVariable: Variable<number> = {
  name: 'GOOSE_TEMPERATURE',
  parse: (text, name) => {
    const value = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : NaN
    if (!Number.isFinite(value)) throw invalid(name, text, 'must be a valid number')
    if (value < 0) throw outOfRange(name, text)
    return value
  },
}

const toolshimFlag: Variable<boolean> = {
  name: 'GOOSE_TOOLSHIM',
  parse: (text, name) => {
    const word = text.toLowerCase()
    if (['1', 'true', 'yes', 'on'].includes(word)) return true
    if (['0', 'false', 'no', 'off'].includes(word)) return false
    throw invalid(name, text, 'must be one of: 1, true, yes, on, 0, false, no, off')
  },
}

const toolshimModelName: Variable<string> = {
  name: 'GOOSE_TOOLSHIM_OLLAMA_MODEL',
  parse: (text, name) => {
    if (isBlank(text)) throw invalid(name, text, 'cannot be empty if set')
    return text
  },
}

/** The limit of a model by its name; null if none is known. */
export function knownLimit(model: string): number | null {
  return modelLimits.find(([pattern]) => model.includes(pattern))?.[1] ?? null
}

/** The limits of models, by a part of their names. The first match counts (GA 24.3). */
export const modelLimits: readonly (readonly [pattern: string, limit: number])[] = [
  ['gpt-5', 272_000], ['gpt-4-turbo', 128_000], ['gpt-4.1', 1_000_000], ['gpt-4-1', 1_000_000], ['gpt-4o', 128_000],
  ['o4-mini', 200_000], ['o3-mini', 200_000], ['o3', 200_000], ['claude', 200_000],
  ['gemini-1.5-flash', 1_000_000], ['gemini-1', 128_000], ['gemini-2', 1_000_000],
  ['gemma-3-27b', 128_000], ['gemma-3-12b', 128_000], ['gemma-3-4b', 128_000], ['gemma-3-1b', 32_000],
  ['gemma3-27b', 128_000], ['gemma3-12b', 128_000], ['gemma3-4b', 128_000], ['gemma3-1b', 32_000],
  ['gemma-2-27b', 8192], ['gemma-2-9b', 8192], ['gemma-2-2b', 8192], ['gemma2-', 8192],
  ['gemma-7b', 8192], ['gemma-2b', 8192], ['gemma1', 8192], ['gemma', 8192],
  ['llama-2-1b', 32_000], ['llama', 128_000],
  ['qwen3-coder', 262_144], ['qwen2-7b', 128_000], ['qwen2-14b', 128_000], ['qwen2-32b', 131_072], ['qwen2-70b', 262_144],
  ['qwen2', 128_000], ['qwen3-32b', 131_072],
  ['grok-4', 256_000], ['grok-code-fast-1', 256_000], ['grok', 131_072], ['kimi-k2', 131_072],
]
