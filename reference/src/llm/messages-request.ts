import type { McpTool } from '../domain/extension/config.ts'
import type { JsonObject } from '../wire/json/shape.ts'
import type { MessageContent } from '../domain/message/content.ts'
import type { Message } from '../domain/message/message.ts'
import type { ModelConfig } from '../domain/session/session.ts'
import type { ImageData } from './image-files.ts'
import type { ModelRequest } from './model.ts'
import { resultImages, resultText } from './tool-result.ts'
import { answerLimits } from './model-protocol.ts'

const defaultMaxTokens = 8192

/** The body of a Messages request (M9). An empty system prompt is omitted. */
export function messagesBody(request: ModelRequest, config: ModelConfig, model: string, stream: boolean): JsonObject {
  const { temperature, max_tokens: maxTokens } = answerLimits(request, config)
  return {
    model,
    max_tokens: maxTokens ?? defaultMaxTokens,
    ...(request.system !== '' && { system: request.system }),
    messages: request.messages.map(({ role, content }) => ({ role, content: blocks(content) })),
    ...(request.tools.length > 0 && { tools: request.tools.map(messagesTool) }),
    ...(temperature !== null && { temperature }),
    ...(stream && { stream: true }),
  }
}

function messagesTool({ name, description = '', inputSchema }: McpTool): JsonObject {
  return { name, description, input_schema: inputSchema }
}

/** The blocks of a message. Tool results and their images come first (M14). */
function blocks(content: Message['content']): JsonObject[] {
  const responses = content.filter((item) => item.type === 'toolResponse')
  const results = responses.map(({ id, toolResult }) => ({
    type: 'tool_result',
    tool_use_id: id,
    content: resultText(toolResult),
    ...(toolResult.status === 'error' && { is_error: true }),
  }))
  return [...results, ...responses.flatMap(resultImages).map(imageBlock), ...content.flatMap(block)]
}

/** The block of an item. Empty for tool results, and for items that models do not see (M15). */
function block(item: MessageContent): JsonObject[] {
  switch (item.type) {
    case 'text':
      return [{ type: 'text', text: item.text }]
    case 'image':
      return [imageBlock(item)]
    case 'toolRequest': {
      if (item.toolCall.status === 'error') return []
      const { name, arguments: input = {} } = item.toolCall.value
      return [{ type: 'tool_use', id: item.id, name, input }]
    }
    case 'thinking':
      return [{ type: 'thinking', thinking: item.thinking, signature: item.signature }]
    case 'redactedThinking':
      return [{ type: 'redacted_thinking', data: item.data }]
    case 'toolResponse':
    case 'toolConfirmationRequest':
    case 'actionRequired':
    case 'frontendToolRequest':
    case 'systemNotification':
      return []
    default:
      return item satisfies never
  }
}

function imageBlock({ data, mimeType }: ImageData): JsonObject {
  return { type: 'image', source: { type: 'base64', media_type: mimeType, data } }
}
