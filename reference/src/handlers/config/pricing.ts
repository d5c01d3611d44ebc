import type * as contract from '#contract'
import { Rendered, renderLarge, withBody, type Operation } from '../../httpapi/operation.ts'
import { jsonPieces } from '../../httpapi/response.ts'
import { allProviders } from '../../llm/provider-details.ts'
import type { Logger } from '../../log.ts'
import { keyOf } from '../../pricing/openrouter.ts'
import type { Price, PriceList } from '../../pricing/price-list.ts'
import type { Prices } from '../../pricing/prices.ts'
import { bodyOf, boolean, nullable } from '../../wire/json/shape.ts'
import { jsonBytes } from '../../wire/json/stringify.ts'
import type { ConfigDeps } from './settings.ts'

const pricingRequest = bodyOf<contract.PricingQuery>()({ configured_only: nullable(boolean) })

/** `POST /config/pricing` (GA 16.2). Prices that cannot be read or fetched are not an error. */
export function getPricing(
  { settings, prices, logger }: ConfigDeps & { prices: Prices; logger: Logger },
): Operation<contract.GetPricingData, contract.GetPricingResponses, contract.GetPricingErrors> {
  const rendered = new WeakMap<PriceList, Promise<Uint8Array[]>>()
  return withBody(pricingRequest, async ({ body: { configured_only: isForConfigured } }) => {
    if (isForConfigured !== false) return renderLarge(responseWith(ofConfigured(await allProviders(settings, logger), await prices.known())))
    const list = await prices.all()
    // A list may have 16 MiB, and the response more: all requests share its bytes.
    const pieces = rendered.get(list) ?? jsonBytes(responseWith(everything(list)))
    rendered.set(list, pieces)
    return new Rendered<contract.PricingResponse>(jsonPieces(200, await pieces))
  })
}

function responseWith(pricing: contract.PricingData[]): contract.PricingResponse {
  return { pricing, source: 'openrouter' }
}

function everything(list: PriceList): contract.PricingData[] {
  return [...list].flatMap(([provider, models]) => [...models].map(([model, price]) => entry(provider, model, price)))
}

/** The prices of the known models of configured providers, in the order of the providers and of their models (G71). */
function ofConfigured(providers: readonly contract.ProviderDetails[], list: PriceList): contract.PricingData[] {
  return providers.filter((provider) => provider.is_configured).flatMap(({ name, metadata: { known_models: models } }) =>
    models.flatMap(({ name: model }) => {
      const price = priceOf(name, model, list)
      return price === undefined ? [] : [entry(name, model, price)]
    }),
  )
}

/** The names of openrouter's models say whose they are. */
function priceOf(provider: string, model: string, list: PriceList): Price | undefined {
  const key = provider === 'openrouter' ? keyOf(model) : { provider: provider.toLowerCase(), model }
  return key && list.get(key.provider)?.get(key.model)
}

function entry(provider: string, model: string, { input_cost: input, output_cost: output, context_length: length }: Price): contract.PricingData {
  return { provider, model, input_token_cost: input, output_token_cost: output, currency: '$', context_length: length }
}
