import type * as contract from '#contract'
import { operation, renderLarge, withBody, type Operation } from '../../httpapi/operation.ts'
import { createDefinition, removeDefinition, updateDefinition } from '../../llm/custom-providers.ts'
import { findDefinition } from '../../llm/definitions.ts'
import { array, bodyOf, boolean, map, nullable, string } from '../../wire/json/shape.ts'
import { attempt, type ConfigDeps } from './settings.ts'

const customRequest = bodyOf<contract.UpdateCustomProviderRequest>()({
  engine: string,
  display_name: string,
  api_url: string,
  api_key: string,
  models: array(string),
  supports_streaming: nullable(boolean),
  headers: nullable(map(string)),
})

/** How a failure is reported: the cause goes to the log. */
const failed = (cause: unknown): [string, { cause: unknown; isLogged: true }] => ['custom provider not changed', { cause, isLogged: true }]

/** `POST /config/custom-providers` (GA 10.19). */
export function createCustomProvider(
  { settings }: ConfigDeps,
): Operation<contract.CreateCustomProviderData, contract.CreateCustomProviderResponses, contract.CreateCustomProviderErrors> {
  return withBody(customRequest, async ({ body, errors }) => {
    const id = await attempt(() => createDefinition(settings, body), (cause) => errors.bare(500, ...failed(cause)))
    return { status: 200, body: `Custom provider added - ID: ${id}` }
  })
}

/** `GET /config/custom-providers/{id}` (GA 10.19). */
export function getCustomProvider(
  { settings }: ConfigDeps,
): Operation<contract.GetCustomProviderData, contract.GetCustomProviderResponses, contract.GetCustomProviderErrors> {
  return operation(({ path: { id }, errors }) => {
    const found = findDefinition(settings.paths, id)
    if (found === undefined) throw errors.bare(404, 'unknown provider')
    return renderLarge({ config: found.definition, is_editable: found.isFile })
  })
}

/** `PUT /config/custom-providers/{id}` (GA 10.19). */
export function updateCustomProvider(
  { settings }: ConfigDeps,
): Operation<contract.UpdateCustomProviderData, contract.UpdateCustomProviderResponses, contract.UpdateCustomProviderErrors> {
  return withBody(customRequest, async ({ path: { id }, body, errors }) => {
    await attempt(() => updateDefinition(settings, id, body), (cause) => errors.bare(500, ...failed(cause)))
    return { status: 200, body: `Updated custom provider: ${id}` }
  })
}

/** `DELETE /config/custom-providers/{id}` (GA 10.19). An unknown id is not an error. */
export function removeCustomProvider(
  { settings }: ConfigDeps,
): Operation<contract.RemoveCustomProviderData, contract.RemoveCustomProviderResponses, contract.RemoveCustomProviderErrors> {
  return operation(async ({ path: { id }, errors }) => {
    await attempt(() => removeDefinition(settings, id), (cause) => errors.bare(500, ...failed(cause)))
    return { status: 200, body: `Removed custom provider: ${id}` }
  })
}
