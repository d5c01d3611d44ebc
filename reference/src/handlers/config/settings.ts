import type * as contract from '#contract'
import { renderLarge, withBody, operation, type Operation } from '../../httpapi/operation.ts'
import { modelLimits } from '../../llm/model-config.ts'
import type { Settings } from '../../settings/settings.ts'
import { withMember, withoutMember } from '../../wire/json/ordered.ts'
import { anything, bodyOf, boolean, string } from '../../wire/json/shape.ts'
import { stringifyJson } from '../../wire/json/stringify.ts'

export interface ConfigDeps {
  settings: Settings
}

/** `GET /config` (GA 10.1). */
export function getConfig(
  { settings }: ConfigDeps,
): Operation<contract.GetConfigData, contract.GetConfigResponses, contract.GetConfigErrors> {
  return operation(async ({ errors }) => {
    const config = await attempt(() => settings.stored(), (cause) => errors.bare(422, 'settings not read', { cause, isLogged: true }))
    return renderLarge({ config })
  })
}

/** The result of `run`, or the error that `failed` makes of its error. */
export async function attempt<T>(run: () => T, failed: (cause: unknown) => Error): Promise<Awaited<T>> {
  try {
    return await run()
  } catch (error) {
    throw failed(error)
  }
}

const keyRequest = bodyOf<contract.ConfigKeyQuery>()({ key: string, is_secret: boolean })

/** `POST /config/read` (GA 10.2). A secret is masked. */
export function readConfig(
  { settings }: ConfigDeps,
): Operation<contract.ReadConfigData, contract.ReadConfigResponses, contract.ReadConfigErrors> {
  return withBody(keyRequest, async ({ body: { key, is_secret: isSecret }, errors }) => {
    if (key === 'model-limits') return renderLarge(modelLimits.map(([pattern, limit]) => ({ pattern, context_limit: limit })))
    const value = await attempt(
      () => (isSecret ? settings.secret(key) : settings.read(key)),
      (cause) => errors.bare(500, isSecret ? 'secrets not read' : 'settings not read', { cause, isLogged: true }),
    )
    return renderLarge(isSecret && value !== undefined ? { maskedValue: masked(value) } : (value ?? null))
  })
}

/** The most characters of a secret that are shown. */
const maxShown = 8

/** The beginning of a secret, at most half of it, and a star for each further character. */
function masked(secret: unknown): string {
  const characters = Array.from(typeof secret === 'string' ? secret : stringifyJson(secret))
  const shown = Math.min(maxShown, Math.floor(characters.length / 2))
  return `${characters.slice(0, shown).join('')}${'*'.repeat(characters.length - shown)}`
}

const upsertRequest = bodyOf<contract.UpsertConfigQuery>()({ key: string, value: anything, is_secret: boolean })

/** `POST /config/upsert` (GA 10.3). */
export function upsertConfig(
  { settings }: ConfigDeps,
): Operation<contract.UpsertConfigData, contract.UpsertConfigResponses, contract.UpsertConfigErrors> {
  return withBody(upsertRequest, async ({ body: { key, value, is_secret: isSecret }, errors }) => {
    await attempt(
      async () => {
        if (isSecret) await settings.setSecret(key, value)
        else settings.change((before) => withMember(before, key, value))
      },
      (cause) => errors.bare(500, 'value not stored', { cause, isLogged: true }),
    )
    return { status: 200, body: `Upserted key ${key}` }
  })
}

/** `POST /config/remove` (GA 10.4). An unknown key is not an error. */
export function removeConfig(
  { settings }: ConfigDeps,
): Operation<contract.RemoveConfigData, contract.RemoveConfigResponses, contract.RemoveConfigErrors> {
  return withBody(keyRequest, async ({ body: { key, is_secret: isSecret }, errors }) => {
    await attempt(
      async () => {
        if (isSecret) await settings.removeSecret(key)
        else settings.change((before) => withoutMember(before, key))
      },
      (cause) => errors.bare(404, 'value not removed', { cause, isLogged: true }),
    )
    return { status: 200, body: `Removed key ${key}` }
  })
}
