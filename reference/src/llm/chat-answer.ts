import { randomUUID } from 'node:crypto'
import { isObject } from '../wire/json/is-object.ts'
import type { MessageContent } from '../domain/message/content.ts'
import type { Piece, Usage, WholeAnswer } from './model.ts'
import { toolRequest } from './tool-call.ts'
import { BadStreamError, elements, member, modelOf, nonEmpty, tokens, usageOf, type StreamReader } from './model-protocol.ts'

/** The answer to a request without streaming: one piece, with the text before the tool calls (M35). */
export function chatAnswer(answer: unknown): WholeAnswer {
  const choice = elements(member(answer, 'choices'))[0]
  const message = member(choice, 'message')
  if (!isObject(message)) throw new Error('the answer has no message')
  const text = typeof message.content === 'string' ? message.content : ''
  const calls = elements(message.tool_calls).map((call) => {
    const { name, arguments: input } = functionOf(call)
    return toolRequest({ id: member(call, 'id'), name, input })
  })
  const texts: MessageContent[] = text !== '' || calls.length === 0 ? [{ type: 'text', text }] : []
  return { id: null, content: [...texts, ...calls], usage: chatUsage(answer), model: modelOf(answer), finishReason: nonEmpty(member(choice, 'finish_reason')) }
}

function functionOf(call: unknown): { name: unknown; arguments: unknown } {
  const called = member(call, 'function')
  return { name: member(called, 'name'), arguments: member(called, 'arguments') }
}

function chatUsage(answer: unknown): Usage | null {
  const usage = member(answer, 'usage')
  if (!isObject(usage)) return null
  return usageOf(tokens(usage.prompt_tokens), tokens(usage.completion_tokens), tokens(usage.total_tokens))
}

/** A tool call that has arrived in part. */
interface PartialCall {
  id: unknown
  name: unknown
  input: string
}

/** One stream of chat completions (M35 to M38). */
export class ChatStream implements StreamReader {
  over = false
  complete = false
  model: string | null = null
  finishReason: string | null = null
  #id: string | null = null
  readonly #calls = new Map<number, PartialCall>()

  read(chunk: unknown): Piece[] {
    const error = member(chunk, 'error')
    if (error !== undefined && error !== null) throw new BadStreamError('the stream reports an error')
    const id = member(chunk, 'id')
    if (this.#id === null && typeof id === 'string' && id !== '') this.#id = id
    this.model ??= modelOf(chunk)
    const choice = elements(member(chunk, 'choices'))[0]
    this.finishReason = nonEmpty(member(choice, 'finish_reason')) ?? this.finishReason
    const delta = member(choice, 'delta')
    elements(member(delta, 'tool_calls')).forEach((part, position) => {
      this.#add(part, position)
    })
    const pieces: Piece[] = []
    const text = member(delta, 'content')
    if (typeof text === 'string') pieces.push(this.#piece([{ type: 'text', text }]))
    if (typeof member(choice, 'finish_reason') === 'string') {
      this.complete = true
      pieces.push(...this.#takeCalls())
    }
    return this.#withUsage(pieces, chunk)
  }

  done(): Piece[] {
    this.over = true
    this.complete = true
    return this.#takeCalls()
  }

  /** Unfinished tool calls are lost. */
  cut(): Piece[] {
    return []
  }

  #add(part: unknown, position: number): void {
    const given = member(part, 'index')
    const index = typeof given === 'number' ? given : position
    const call = this.#calls.get(index) ?? { id: undefined, name: undefined, input: '' }
    const { name, arguments: input } = functionOf(part)
    call.id ??= member(part, 'id')
    call.name ??= name
    if (typeof input === 'string') call.input += input
    this.#calls.set(index, call)
  }

  #takeCalls(): Piece[] {
    const calls = [...this.#calls].sort(([a], [b]) => a - b).map(([, call]) => toolRequest(call))
    this.#calls.clear()
    return calls.length === 0 ? [] : [this.#piece(calls)]
  }

  /** Usage counts only if the chunk also names a model. */
  #withUsage(pieces: Piece[], chunk: unknown): Piece[] {
    const usage = typeof member(chunk, 'model') === 'string' ? chatUsage(chunk) : null
    if (usage === null) return pieces
    const [first = { id: this.#id, content: null, usage: null }, ...rest] = pieces
    return [{ ...first, usage }, ...rest]
  }

  #piece(content: MessageContent[]): Piece {
    this.#id ??= `msg_${randomUUID()}`
    return { id: this.#id, content, usage: null }
  }
}
