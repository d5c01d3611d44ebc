import { newMessage } from '../../domain/message/new-message.ts'
import { ModelError, textOf, type Provider } from '../../llm/model.ts'
import type { SamplingAnswer, SamplingRequest } from '../../mcp/client/sampling.ts'

/** Asks a model for an MCP server (X23). Rejects with a ModelError, or with the reason of the signal. */
export async function sample(provider: Provider | null, request: SamplingRequest, signal: AbortSignal): Promise<SamplingAnswer> {
  if (provider === null) throw new ModelError('Provider not set')
  const { systemPrompt, maxTokens, temperature } = request
  const question = {
    system: systemPrompt ?? '',
    messages: request.messages.map(({ role, content }) => newMessage(role, content)),
    tools: [],
    sampling: { maxTokens, temperature },
  }
  const { content, config } = await provider.complete(question, signal)
  return { role: 'assistant', content: { type: 'text', text: textOf(content) }, model: config.model_name, stopReason: 'endTurn' }
}
