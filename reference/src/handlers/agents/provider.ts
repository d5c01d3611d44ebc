import type * as contract from '#contract'
import type { ErrorsOf } from '../../httpapi/goose-errors.ts'
import { withBody, type Operation } from '../../httpapi/operation.ts'
import { bodyOf, nullable, string } from '../../wire/json/shape.ts'
import { ProviderError } from '../../llm/endpoints.ts'
import { ModelConfigError, modelConfigOf } from '../../llm/model-config.ts'
import type { Provider } from '../../llm/model.ts'
import type { Session } from '../../domain/session/session.ts'
import { quoted } from '../../text/truncate.ts'
import { clientMessage } from '../../public-error.ts'
import type { Agent } from '../../engine/agent/agent.ts'
import type { ReplyServices } from '../../engine/turn/reply-services.ts'

const updateRequest = bodyOf<contract.UpdateProviderRequest>()({
  provider: string,
  model: nullable(string),
  session_id: string,
})

/** `POST /agent/update_provider` (GA 6.5). The settings do not change. */
export function updateProvider(
  deps: ReplyServices,
): Operation<contract.UpdateAgentProviderData, contract.UpdateAgentProviderResponses, contract.UpdateAgentProviderErrors> {
  return withBody(updateRequest, async ({ body: { provider: name, model: asked, session_id: id }, errors }) => {
    const model = asked ?? deps.settings.text('GOOSE_MODEL')
    if (model === undefined) throw errors.text(400, 'No model specified')
    let provider: Provider
    try {
      provider = await deps.providers.build(name, modelConfigOf(model, deps.settings))
    } catch (cause) {
      if (cause instanceof ModelConfigError) throw errors.text(400, `Invalid model config: ${cause.message}`, { cause })
      if (cause instanceof ProviderError) throw errors.text(400, `Failed to create ${quoted(name)} provider: ${cause.message}`, { cause })
      throw cause
    }
    try {
      useProvider(deps.agents.get(id), provider)
    } catch (cause) {
      throw errors.text(500, `Failed to update provider: ${clientMessage(cause)}`, { cause, isLogged: true })
    }
    return { status: 200 }
  })
}

export type ResumeErrors = ErrorsOf<contract.ResumeAgentErrors>

/** Gives a resumed agent its session's model, or else the one in the settings (GA 6.2). Rejects with one of `errors`. */
export async function resumeProvider(deps: ReplyServices, agent: Agent, session: Session, errors: ResumeErrors): Promise<void> {
  const name = session.provider_name ?? deps.settings.text('GOOSE_PROVIDER')
  if (name === undefined) throw errors.message(500, 'Could not configure agent: missing provider')
  const model = session.model_config ?? deps.settings.text('GOOSE_MODEL')
  if (model === undefined) throw errors.message(500, 'Could not configure agent: missing model')
  let provider: Provider
  try {
    provider = await deps.providers.build(name, typeof model === 'string' ? modelConfigOf(model, deps.settings) : model)
  } catch (cause) {
    if (cause instanceof ModelConfigError) {
      throw errors.message(500, `Could not configure agent: invalid model ${cause.message}`, { cause })
    }
    if (cause instanceof ProviderError) throw errors.message(500, `Could not create provider: ${cause.message}`, { cause })
    throw cause
  }
  useProvider(agent, provider)
}

function useProvider(agent: Agent, provider: Provider): void {
  agent.provider = provider
  agent.session.update({ provider_name: provider.name, model_config: provider.config })
}
