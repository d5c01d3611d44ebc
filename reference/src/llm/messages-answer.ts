import { randomUUID } from 'node:crypto'
import { isObject } from '../wire/json/is-object.ts'
import type { MessageContent } from '../domain/message/content.ts'
import type { Piece, Usage, WholeAnswer } from './model.ts'
import { toolRequest, type RawCall } from './tool-call.ts'
import { BadStreamError, member, modelOf, nonEmpty, tokenSum, tokens, usageOf, type StreamReader } from './model-protocol.ts'

/** The answer to a request without streaming: its blocks in order (M35). */
export function messagesAnswer(answer: unknown): WholeAnswer {
  const blocks = member(answer, 'content')
  if (!Array.isArray(blocks)) throw new Error('the answer has no content')
  const content = blocks.flatMap(wholeBlock)
  const numbers = new TokenNumbers()
  numbers.add(member(answer, 'usage'))
  const given: MessageContent[] = content.length === 0 ? [{ type: 'text', text: '' }] : content
  return { id: null, content: given, usage: numbers.usage(), model: modelOf(answer), finishReason: nonEmpty(member(answer, 'stop_reason')) }
}

function wholeBlock(block: unknown): MessageContent[] {
  switch (member(block, 'type')) {
    case 'text':
      return [{ type: 'text', text: text(member(block, 'text')) }]
    case 'tool_use':
      return [toolRequest({ id: member(block, 'id'), name: member(block, 'name'), input: member(block, 'input') })]
    case 'thinking':
      return [{ type: 'thinking', thinking: text(member(block, 'thinking')), signature: text(member(block, 'signature')) }]
    case 'redacted_thinking':
      return [{ type: 'redactedThinking', data: text(member(block, 'data')) }]
    default:
      return []
  }
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** The latest token numbers of a stream. */
class TokenNumbers {
  readonly #numbers = new Map<string, number>()

  add(usage: unknown): void {
    if (!isObject(usage)) return
    for (const [name, value] of Object.entries(usage)) {
      const count = tokens(value)
      if (count !== null) this.#numbers.set(name, count)
    }
  }

  /** Null if the stream has none. Tokens read from a cache count as input (M37). */
  usage(): Usage | null {
    const inputs = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens'].flatMap((name) => this.#numbers.get(name) ?? [])
    const output = this.#numbers.get('output_tokens') ?? null
    if (inputs.length === 0 && output === null) return null
    return usageOf(inputs.length === 0 ? null : tokenSum(...inputs), output, null)
  }
}

/** A block that has arrived in part. */
type PartialBlock =
  | ({ type: 'tool_use'; parts: string } & RawCall)
  | { type: 'thinking'; thinking: string; signature: string }
  | { type: 'redacted_thinking'; data: string }

/** One stream of Messages (M35 to M38). */
export class MessagesStream implements StreamReader {
  over = false
  complete = false
  model: string | null = null
  finishReason: string | null = null
  #id: string | null = null
  readonly #open = new Map<unknown, PartialBlock>()
  readonly #calls: MessageContent[] = []
  readonly #numbers = new TokenNumbers()

  read(event: unknown): Piece[] {
    switch (member(event, 'type')) {
      case 'error':
        throw new BadStreamError('the stream reports an error')
      case 'message_start':
        this.#begin(member(event, 'message'))
        return []
      case 'content_block_start':
        this.#openBlock(member(event, 'index'), member(event, 'content_block'))
        return []
      case 'content_block_delta':
        return this.#delta(member(event, 'index'), member(event, 'delta'))
      case 'content_block_stop':
        return this.#closeBlock(member(event, 'index'))
      case 'message_delta':
        this.#numbers.add(member(event, 'usage'))
        this.finishReason = nonEmpty(member(member(event, 'delta'), 'stop_reason')) ?? this.finishReason
        return []
      case 'message_stop':
        return this.#stop()
      default:
        return []
    }
  }

  /** This protocol has no `[DONE]` line. */
  done(): Piece[] {
    return []
  }

  cut(): Piece[] {
    const usage = this.#numbers.usage()
    return usage === null ? [] : [{ id: this.#id, content: null, usage }]
  }

  #begin(message: unknown): void {
    const id = member(message, 'id')
    this.model ??= modelOf(message)
    if (this.#id === null && typeof id === 'string' && id !== '') this.#id = id
    this.#numbers.add(member(message, 'usage'))
  }

  #openBlock(index: unknown, block: unknown): void {
    switch (member(block, 'type')) {
      case 'tool_use':
        this.#open.set(index, {
          type: 'tool_use', parts: '', id: member(block, 'id'), name: member(block, 'name'), input: member(block, 'input'),
        })
        break
      case 'thinking':
        this.#open.set(index, { type: 'thinking', thinking: text(member(block, 'thinking')), signature: text(member(block, 'signature')) })
        break
      case 'redacted_thinking':
        this.#open.set(index, { type: 'redacted_thinking', data: text(member(block, 'data')) })
        break
    }
  }

  #delta(index: unknown, delta: unknown): Piece[] {
    const block = this.#open.get(index)
    switch (member(delta, 'type')) {
      case 'text_delta':
        return [this.#piece([{ type: 'text', text: text(member(delta, 'text')) }])]
      case 'input_json_delta':
        if (block?.type === 'tool_use') block.parts += text(member(delta, 'partial_json'))
        return []
      case 'thinking_delta':
        if (block?.type === 'thinking') block.thinking += text(member(delta, 'thinking'))
        return []
      case 'signature_delta':
        if (block?.type === 'thinking') block.signature += text(member(delta, 'signature'))
        return []
      default:
        return []
    }
  }

  #closeBlock(index: unknown): Piece[] {
    const block = this.#open.get(index)
    this.#open.delete(index)
    switch (block?.type) {
      case undefined:
        return []
      case 'tool_use':
        this.#calls.push(toolRequest({ ...block, input: block.parts === '' ? block.input : block.parts }))
        return []
      case 'thinking':
        return [this.#piece([{ type: 'thinking', thinking: block.thinking, signature: block.signature }])]
      case 'redacted_thinking':
        return [this.#piece([{ type: 'redactedThinking', data: block.data }])]
      default:
        return block satisfies never
    }
  }

  #stop(): Piece[] {
    this.over = true
    this.complete = true
    const usage = this.#numbers.usage()
    if (this.#calls.length > 0) return [{ ...this.#piece(this.#calls), usage }]
    return usage === null ? [] : [{ id: this.#id, content: null, usage }]
  }

  #piece(content: MessageContent[]): Piece {
    this.#id ??= `msg_${randomUUID()}`
    return { id: this.#id, content, usage: null }
  }
}
