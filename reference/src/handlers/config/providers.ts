import type * as contract from '#contract'
import { operation, renderLarge, withBody, type Operation } from '../../httpapi/operation.ts'
import { builtIns } from '../../llm/catalogue.ts'
import { findDefinition } from '../../llm/definitions.ts'
import { ProviderError } from '../../llm/endpoints.ts'
import { ModelConfigError } from '../../llm/model-config.ts'
import type { Listed } from '../../llm/model-lists.ts'
import { allProviders, isConfigured } from '../../llm/provider-details.ts'
import type { Logger } from '../../log.ts'
import type { Providers } from '../../llm/providers.ts'
import { trimmed } from '../../text/white-space.ts'
import { withMember } from '../../wire/json/ordered.ts'
import { bodyOf, string } from '../../wire/json/shape.ts'
import type { ConfigDeps } from './settings.ts'

type ProviderDeps = ConfigDeps & { providers: Providers }

/** `GET /config/providers` (GA 10.14). */
export function listProviders(
  { settings, logger }: ConfigDeps & { logger: Logger },
): Operation<contract.GetProvidersData, contract.GetProvidersResponses, contract.GetProvidersErrors> {
  return operation(async () => renderLarge(await allProviders(settings, logger)))
}

/** `GET /config/providers/{name}/models` (GA 10.15). */
export function listProviderModels(
  { settings, providers, logger }: ProviderDeps & { logger: Logger },
): Operation<contract.GetProviderModelsData, contract.GetProviderModelsResponses, contract.GetProviderModelsErrors> {
  return operation(async ({ path: { name }, request, errors }) => {
    const provider = builtIns.get(name)
    if (provider === undefined) {
      const found = findDefinition(settings.paths, name)
      if (found === undefined) throw errors.bare(400, 'unknown provider')
      return renderLarge(found.definition.models.map((model) => model.name))
    }
    let listed: Listed
    try {
      if (!(await isConfigured(provider, settings))) throw errors.bare(400, 'provider not configured')
      listed = await providers.list(provider, request.signal)
    } catch (cause) {
      if (cause instanceof ProviderError || cause instanceof ModelConfigError) throw errors.bare(500, 'provider not built', { cause, isLogged: true })
      throw cause
    }
    if ('models' in listed) return renderLarge(listed.models)
    logger.warn('models not listed', { provider: name, why: listed.why })
    if (listed.instead === 200) return renderLarge([])
    throw errors.bare(listed.instead, 'models not listed')
  })
}

/** What is wrong with a provider, for clients; undefined if it can be built. */
async function complaintAbout(providers: Providers, name: string): Promise<string | undefined> {
  try {
    await providers.check(name)
    return undefined
  } catch (cause) {
    if (cause instanceof ModelConfigError) return `Invalid model config: ${cause.message}`
    if (cause instanceof ProviderError) return cause.message
    throw cause
  }
}

const checkRequest = bodyOf<contract.CheckProviderRequest>()({ provider: string })

/** `POST /config/check_provider` (GA 10.16). Sends no request. */
export function checkProvider(
  { providers }: ProviderDeps,
): Operation<contract.CheckProviderData, contract.CheckProviderResponses, contract.CheckProviderErrors> {
  return withBody(checkRequest, async ({ body: { provider }, errors }) => {
    const complaint = await complaintAbout(providers, provider)
    if (complaint !== undefined) throw errors.text(400, complaint)
    return { status: 200 }
  })
}

const setRequest = bodyOf<contract.SetProviderRequest>()({ provider: string, model: string })

/** `POST /config/set_provider` (GA 10.17). The model is not checked, and agents do not change. */
export function setProvider(
  { settings, providers }: ProviderDeps,
): Operation<contract.SetProviderData, contract.SetProviderResponses, contract.SetProviderErrors> {
  return withBody(setRequest, async ({ body: { provider, model }, errors }) => {
    const complaint = await complaintAbout(providers, provider)
    if (complaint !== undefined) throw errors.text(400, complaint)
    try {
      settings.change((before) => withMember(withMember(before, 'GOOSE_PROVIDER', provider), 'GOOSE_MODEL', model))
    } catch (cause) {
      throw errors.text(400, 'Internal error', { cause, isLogged: true })
    }
    return { status: 200 }
  })
}

const detectRequest = bodyOf<contract.DetectProviderRequest>()({ api_key: string })

/** `POST /config/detect-provider` (GA 10.18). The key is not stored. */
export function detectProvider(
  { providers }: ProviderDeps,
): Operation<contract.DetectProviderData, contract.DetectProviderResponses, contract.DetectProviderErrors> {
  return withBody(detectRequest, async ({ body, request, errors }) => {
    const key = trimmed(body.api_key)
    if (!/^[ -~]+$/.test(key)) throw errors.bare(404, 'the key cannot be sent')
    const found = await providers.detect(key, request.signal)
    if (found === undefined) throw errors.bare(404, 'no provider lists models for the key')
    return renderLarge({ provider_name: found.name, models: found.models })
  })
}
