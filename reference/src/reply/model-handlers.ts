import type { Handler } from 'hono'
import { MessageError, TextError } from '../http/goose-errors.ts'
import { readJsonBody } from '../http/json-body.ts'
import { empty } from '../http/respond.ts'
import { nullable, object, string } from '../json/shape.ts'
import { ProviderError } from '../llm/endpoints.ts'
import { ModelConfigError, modelConfigOf } from '../llm/model-config.ts'
import type { Provider } from '../llm/model.ts'
import type { Session } from '../sessions/session.ts'
import { quoted } from '../text/cut.ts'
import { told } from '../told-error.ts'
import type { EngineAgent, ReplyParts } from './parts.ts'

const updateRequest = object<{ provider: string; model: string | null; session_id: string }>({
  provider: string,
  model: nullable(string),
  session_id: string,
})

/** `POST /agent/update_provider` (GA 6.5). The settings are not changed. */
export function updateProvider(parts: ReplyParts): Handler {
  return async (c) => {
    const { provider: name, model: asked, session_id: id } = await readJsonBody(c.req.raw, updateRequest)
    const model = asked ?? parts.settings.text('GOOSE_MODEL')
    if (model === undefined) throw new TextError(400, 'No model specified')
    let provider: Provider
    try {
      provider = parts.providers.build(name, modelConfigOf(model, parts.settings))
    } catch (cause) {
      if (cause instanceof ModelConfigError) throw new TextError(400, `Invalid model config: ${cause.message}`, { cause })
      if (cause instanceof ProviderError) throw new TextError(400, `Failed to create ${quoted(name)} provider: ${cause.message}`, { cause })
      throw cause
    }
    try {
      useProvider(parts.agents.get(id), provider)
    } catch (cause) {
      throw new TextError(500, `Failed to update provider: ${told(cause)}`, { cause })
    }
    return empty(200)
  }
}

/** Gives a resumed agent the model of its session, or else that of the settings (GA 6.2). Rejects with a MessageError. */
// eslint-disable-next-line @typescript-eslint/require-await -- it runs beside what is not synchronous
export async function resumeProvider(parts: ReplyParts, agent: EngineAgent, session: Session): Promise<void> {
  const name = session.provider_name ?? parts.settings.text('GOOSE_PROVIDER')
  if (name === undefined) throw new MessageError(500, 'Could not configure agent: missing provider')
  const model = session.model_config ?? parts.settings.text('GOOSE_MODEL')
  if (model === undefined) throw new MessageError(500, 'Could not configure agent: missing model')
  let provider: Provider
  try {
    provider = parts.providers.build(name, typeof model === 'string' ? modelConfigOf(model, parts.settings) : model)
  } catch (cause) {
    if (cause instanceof ModelConfigError) {
      throw new MessageError(500, `Could not configure agent: invalid model ${cause.message}`, { cause })
    }
    if (cause instanceof ProviderError) throw new MessageError(500, `Could not create provider: ${cause.message}`, { cause })
    throw cause
  }
  useProvider(agent, provider)
}

function useProvider(agent: EngineAgent, provider: Provider): void {
  agent.parts.model.provider = provider
  agent.provider = provider
  agent.parts.session.update({ provider_name: provider.name, model_config: provider.config })
}
