import { isObject } from '../wire/json/is-object.ts'
import type { JsonObject } from '../wire/json/shape.ts'
import { stringifyJson } from '../wire/json/stringify.ts'
import { ChatStream, chatAnswer } from './chat-answer.ts'
import { chatBody, chatConversation, chatModelName, chatTools } from './chat-request.ts'
import { failureInside, jsonIn } from './failures.ts'
import { get, type Endpoint } from './http-call.ts'
import { MessagesStream, messagesAnswer } from './messages-answer.ts'
import { messagesBody } from './messages-request.ts'
import { ModelError, type Failure } from './model.ts'
import { elements, member, type ModelProtocol } from './model-protocol.ts'

/** Chat completions (M7, M8). */
export const chat: ModelProtocol = { body: chatBody, modelName: chatModelName, whole: chatAnswer, stream: () => new ChatStream() }

/** Messages of Anthropic (M9). */
export const messages: ModelProtocol = {
  body: (request, config, model, stream) => Promise.resolve(messagesBody(request, config, model, stream)),
  modelName: (model) => model,
  whole: messagesAnswer,
  stream: () => new MessagesStream(),
}

/** Chat completions of a service that reports failures inside answers with the status 200 (M76). */
export const chatWithErrorsInside: ModelProtocol = {
  ...chat,
  failureIn: (status, bytes) => (status >= 200 && status < 300 ? failureInside(bytes) : undefined),
}

/** Chat completions of OpenRouter (M75). */
export const openRouter: ModelProtocol = {
  ...chatWithErrorsInside,
  body: async (request, config, model, stream) => {
    const body = await chatBody(request, config, model, stream)
    return { ...(model.startsWith('anthropic') ? withCacheMarks(body) : body), transforms: ['middle-out'] }
  },
}

/** Chat completions of a LiteLLM proxy, which knows whether its models cache prompts (M75). */
export function liteLlm(info: Endpoint): ModelProtocol {
  return {
    ...chat,
    body: async (request, config, model, stream, signal) => {
      const body = await chatBody(request, config, model, stream)
      return model.includes('claude') || (await reportsCaching(info, body.model, signal)) ? withCacheMarks(body) : body
    },
  }
}

const askedForSeconds = 5

/** Whether the proxy says that it caches the prompts of this model. Any failure means no; rejects only with the reason of the signal. */
async function reportsCaching(info: Endpoint, model: unknown, signal: AbortSignal): Promise<boolean> {
  try {
    const answer = await get({ ...info, timeoutSeconds: Math.min(info.timeoutSeconds, askedForSeconds) }, signal)
    const bytes = await answer.bytes()
    if (answer.status < 200 || answer.status >= 300) return false
    return elements(member(jsonIn(bytes), 'data')).some(
      (item) => member(item, 'model_name') === model && member(member(item, 'model_info'), 'supports_prompt_caching') === true,
    )
  } catch {
    signal.throwIfAborted()
    return false
  }
}

const mark = { cache_control: { type: 'ephemeral' } }
const markedUserMessages = 2

/** The body with marks that let the service cache its beginning (M75). */
function withCacheMarks(body: JsonObject): JsonObject {
  const conversation = elements(body.messages)
  const users = conversation.filter((message) => member(message, 'role') === 'user').slice(-markedUserMessages)
  const isMarked = (message: unknown): boolean => users.includes(message) || ['system', 'developer'].includes(String(member(message, 'role')))
  const tools = elements(body.tools)
  return {
    ...body,
    messages: conversation.map((message) => (isMarked(message) ? markedMessage(message) : message)),
    ...(tools.length > 0 && { tools: [...tools.slice(0, -1), markedTool(tools.at(-1))] }),
  }
}

/** A content that is already an array stays as it is. */
function markedMessage(message: unknown): unknown {
  const content = member(message, 'content')
  return isObject(message) && typeof content === 'string' ? { ...message, content: [{ type: 'text', text: content, ...mark }] } : message
}

function markedTool(tool: unknown): unknown {
  const called = member(tool, 'function')
  return isObject(tool) && isObject(called) ? { ...tool, function: { ...called, ...mark } } : tool
}

/** The body of Venice, whose contents are plain texts (M77). */
export const venice: ModelProtocol = {
  ...chat,
  body: async (request, _config, model) => ({
    model: veniceModel(model),
    messages: (await chatConversation(request, 'system')).map((message) => ({ ...message, content: plainText(message.content) })),
    stream: false,
    temperature: 0.7,
    max_tokens: 2048,
    ...chatTools(request),
  }),
  modelName: veniceModel,
  failureIn: (status, bytes, model) => (status === 400 ? toolsMissing(jsonIn(bytes), veniceModel(model)) : undefined),
}

/** The name of a model without the flags that the list of models adds. */
function veniceModel(model: string): string {
  return model.split(/\p{White_Space}/u, 1)[0] ?? ''
}

/** The content of a message as a text. An image becomes a mark. */
function plainText(content: unknown): string {
  if (typeof content === 'string') return content
  return elements(content)
    .map((part) => member(part, 'text'))
    .map((text) => (typeof text === 'string' ? text : '[image]'))
    .join('\n')
}

/** The failure of a request with tools for a model that has none; undefined if the body is about something else. */
function toolsMissing(body: unknown, model: string): Failure | undefined {
  const errors = member(member(member(body, 'details'), 'tools'), '_errors')
  const issues = elements(member(member(body, 'context'), 'issues')).map((issue) => member(issue, 'message'))
  const isAboutTools =
    (errors !== undefined && stringifyJson(errors).includes('not supported by this model')) ||
    issues.some((message) => typeof message === 'string' && message.includes('tools is not supported by this model'))
  if (!isAboutTools) return undefined
  const advice = "Please select a model that supports tools, such as 'llama-3.3-70b' or 'mistral-31-24b'."
  return { error: new ModelError(`Request failed: The selected model '${model}' does not support tool calls. ${advice}`), isTransient: false }
}
