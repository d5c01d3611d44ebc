import type { McpTool } from '../domain/extension/config.ts'
import type { JsonObject } from '../wire/json/shape.ts'
import { stringifyJson } from '../wire/json/stringify.ts'
import type { ContentOf } from '../domain/message/content.ts'
import type { Message } from '../domain/message/message.ts'
import type { ModelConfig } from '../domain/session/session.ts'
import { ImageRoom, imagesNamedIn, type ImageData } from './image-files.ts'
import type { ModelRequest } from './model.ts'
import { resultImages, resultText } from './tool-result.ts'
import { answerLimits } from './model-protocol.ts'

/** The body of a chat completions request (M7, M8). An empty system prompt is omitted. */
export async function chatBody(request: ModelRequest, config: ModelConfig, model: string, stream: boolean): Promise<JsonObject> {
  const { temperature, max_tokens: maxTokens } = answerLimits(request, config)
  const reasoning = reasoningModel(model)
  return {
    model: reasoning?.model ?? model,
    messages: await chatConversation(request, reasoning ? 'developer' : 'system'),
    ...chatTools(request),
    ...(!reasoning && temperature !== null && { temperature }),
    ...(maxTokens !== null && { [reasoning ? 'max_completion_tokens' : 'max_tokens']: maxTokens }),
    ...(reasoning && { reasoning_effort: reasoning.effort }),
    ...(stream && { stream: true, stream_options: { include_usage: true } }),
  }
}

/** All messages of a request. An empty system prompt is omitted. */
export async function chatConversation(request: ModelRequest, systemRole: 'system' | 'developer'): Promise<JsonObject[]> {
  const system = { role: systemRole, content: request.system }
  const room = request.sampling === undefined ? new ImageRoom() : undefined
  const messages: JsonObject[][] = []
  // The images of later messages take precedence within the limit (M13), so they are read first.
  for (const message of request.messages.toReversed()) messages.push(await chatMessages(message, room))
  return [...(request.system === '' ? [] : [system]), ...messages.reverse().flat()]
}

/** The member with the tools; omitted if there are none. */
export function chatTools({ tools }: ModelRequest): { tools?: JsonObject[] } {
  return tools.length > 0 ? { tools: tools.map(chatTool) } : {}
}

/** The name of this model in requests. */
export function chatModelName(model: string): string {
  return reasoningModel(model)?.model ?? model
}

/** The name and the effort of a reasoning model; undefined for other models. */
function reasoningModel(name: string): { model: string; effort: string } | undefined {
  if (!/^(?:o\d|gpt-5)/.test(name)) return undefined
  const [, model, effort] = /^(.*)-(low|medium|high)$/.exec(name) ?? []
  return model === undefined || effort === undefined ? { model: name, effort: 'medium' } : { model, effort }
}

function chatTool({ name, description = '', inputSchema }: McpTool): JsonObject {
  return { type: 'function', function: { name, description, parameters: inputSchema } }
}

/**
 * A message in the format of chat completions, which may take several messages (M11). Without `room`, images that its texts name
 * are not read.
 */
async function chatMessages(message: Message, room: ImageRoom | undefined): Promise<JsonObject[]> {
  const responses = message.content.filter((item) => item.type === 'toolResponse')
  const results = responses.map((response) => ({
    role: 'tool',
    tool_call_id: response.id,
    content: resultText(response.toolResult),
  }))
  if (message.role === 'assistant') return [...results, ...assistantMessage(message)]
  return [...results, ...(await userMessage(message, responses.flatMap(resultImages), room))]
}

function assistantMessage({ content }: Message): JsonObject[] {
  const texts = content.filter((item) => item.type === 'text')
  const calls = content.filter((item) => item.type === 'toolRequest').flatMap(chatCall)
  if (texts.length === 0 && calls.length === 0) return []
  const text = texts.length > 0 && { content: texts.map((item) => item.text).join('\n') }
  return [{ role: 'assistant', ...text, ...(calls.length > 0 && { tool_calls: calls }) }]
}

function chatCall({ id, toolCall: call }: ContentOf<'toolRequest'>): JsonObject[] {
  if (call.status === 'error') return []
  const { name, arguments: args = {} } = call.value
  return [{ id, type: 'function', function: { name, arguments: stringifyJson(args) } }]
}

/** One message with the texts and images, after the images of tool results. Empty if there is neither. */
async function userMessage({ content }: Message, resultImages: ImageData[], room: ImageRoom | undefined): Promise<JsonObject[]> {
  const own = content.filter((item) => item.type === 'text' || item.type === 'image')
  const texts = own.flatMap((item) => (item.type === 'text' ? [item.text] : []))
  const named = room === undefined ? [] : await imagesNamedIn(texts, room)
  const hasImages = resultImages.length > 0 || named.length > 0 || texts.length < own.length
  if (!hasImages) return texts.length === 0 ? [] : [{ role: 'user', content: texts.join('\n') }]
  const parts = own.map((item) => (item.type === 'text' ? { type: 'text', text: item.text } : imagePart(item)))
  return [{ role: 'user', content: [...resultImages.map(imagePart), ...parts, ...named.map(imagePart)] }]
}

function imagePart({ data, mimeType }: ImageData): JsonObject {
  return { type: 'image_url', image_url: { url: `data:${mimeType};base64,${data}` } }
}
