import { describe, expect, it } from 'vitest'
import { ChatStream, chatAnswer } from './chat-answer.ts'
import { MessagesStream, messagesAnswer } from './messages-answer.ts'
import type { Piece } from './model.ts'
import { piecesOf } from './stream-lines.ts'
import type { StreamReader } from './model-protocol.ts'

/** The pieces of a stream that arrives byte by byte, and the message of the error that ends it. */
async function read(reader: StreamReader, text: string): Promise<{ pieces: Piece[]; error: string | null }> {
  const pieces: Piece[] = []
  const bytes = [...Buffer.from(text)].map((byte) => Buffer.from([byte]))
  try {
     
    for await (const piece of piecesOf(bytes as unknown as AsyncIterable<Buffer>, reader)) pieces.push(piece)
    return { pieces, error: null }
  } catch (error) {
    return { pieces, error: error instanceof Error ? error.message : String(error) }
  }
}

function lines(...values: unknown[]): string {
  return values.map((value) => `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`).join('')
}

function call(id: string, name: string, args: object): unknown {
  return { type: 'toolRequest', id, toolCall: { status: 'success', value: { name, arguments: args } } }
}

const delta = (value: object, more: object = {}): object => ({ id: 'c1', model: 'm', choices: [{ delta: value }], ...more })

describe('a stream of chat completions (M35 to M38)', () => {
  it('is one piece for each text, even an empty one, with one id, and usage before the text of its chunk', async () => {
    const text = lines(
      delta({ role: 'assistant', content: '' }),
      { model: 'm', id: 'other', choices: [{ delta: { content: 'ż' }, finish_reason: 'stop' }], usage: { prompt_tokens: 2, completion_tokens: 3 } },
      '[DONE]',
      'never read',
    )
    expect(await read(new ChatStream(), text)).toEqual({
      pieces: [
        { id: 'c1', content: [{ type: 'text', text: '' }], usage: null },
        { id: 'c1', content: [{ type: 'text', text: 'ż' }], usage: { input: 2, output: 3, total: 5 } },
      ],
      error: null,
    })
  })

  it('has all tool calls in one piece, joined by index, at the finish reason', async () => {
    const text = lines(
      delta({ tool_calls: [{ index: 1, id: 't2', function: { name: 'b', arguments: '' } }] }),
      delta({ tool_calls: [{ index: 0, id: 't1', function: { name: 'a', arguments: '{"n"' } }] }),
      delta({ tool_calls: [{ index: 0, function: { arguments: ':1}' } }] }),
      { id: 'c1', model: 'm', choices: [{ delta: {}, finish_reason: 'tool_calls' }] },
      { id: 'c1', model: 'm', choices: [], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 9 } },
    )
    expect(await read(new ChatStream(), text)).toEqual({
      pieces: [
        { id: 'c1', content: [call('t1', 'a', { n: 1 }), call('t2', 'b', {})], usage: null },
        { id: 'c1', content: null, usage: { input: 1, output: 1, total: 9 } },
      ],
      error: null,
    })
  })

  it('has the tool calls at the end mark if there was no finish reason', async () => {
    const text = lines(delta({ tool_calls: [{ id: 't', function: { name: 'a', arguments: '{}' } }] }), '[DONE]')
    expect((await read(new ChatStream(), text)).pieces).toEqual([{ id: 'c1', content: [call('t', 'a', {})], usage: null }])
  })

  it.each([
    ['1e3', '2.0', { input: 1000, output: 2, total: 1002 }],
    ['2147483647', '1', { input: 2147483647, output: 1, total: 2147483647 }],
    ['2147483648', '0', { input: null, output: 0, total: null }],
    ['-1', '1.5', { input: null, output: null, total: null }],
    ['"5"', 'null', { input: null, output: null, total: null }],
  ])('counts %s and %s if they are integers within 32 bits (M54)', async (input, output, usage) => {
    const { pieces } = await read(new ChatStream(), lines(`{"model":"m","usage":{"prompt_tokens":${input},"completion_tokens":${output}}}`, '[DONE]'))
    expect(pieces[0]?.usage).toEqual(usage)
  })

  it('does not count usage without a model', async () => {
    const text = lines({ choices: [], usage: { prompt_tokens: 1 } }, '[DONE]')
    expect(await read(new ChatStream(), text)).toEqual({ pieces: [], error: null })
  })

  it('generates one id if there is no id', async () => {
    const { pieces } = await read(new ChatStream(), lines({ choices: [{ delta: { content: 'a' } }] }, { choices: [{ delta: { content: 'b' } }] }, '[DONE]'))
    expect(pieces[0]?.id).toMatch(/^msg_[0-9a-f-]{36}$/)
    expect(pieces[1]?.id).toBe(pieces[0]?.id)
  })

  it.each<[string, string, string]>([
    ['ends before the answer', '', 'the stream ended before the answer'],
    ['has a line that is no JSON', 'data: {"id"\n', 'a line of the stream is no JSON object'],
    ...['null', '5', '[]', '"x"', 'true'].map((line): [string, string, string] => [
      `has a line ${line}`, `data: ${line}\n`, 'a line of the stream is no JSON object',
    ]),
    ['reports an error', lines({ error: { message: 'x' } }), 'the stream reports an error'],
    ['has a line that is too long', `data: "${'x'.repeat(4 * 1024 * 1024)}`, 'a line of the stream is too long'],
  ])('keeps what has arrived, and loses incomplete calls, when it %s', async (_, bad, error) => {
    const start = lines(delta({ content: 'a' }), delta({ tool_calls: [{ index: 0, id: 't', function: { name: 'a', arguments: '{}' } }] }))
    const whole = Buffer.from(start + bad)
    const pieces: Piece[] = []
    const reading = (async () => {
       
      for await (const piece of piecesOf([whole] as unknown as AsyncIterable<Buffer>, new ChatStream())) pieces.push(piece)
    })()
    await expect(reading).rejects.toThrow(error)
    expect(pieces).toEqual([{ id: 'c1', content: [{ type: 'text', text: 'a' }], usage: null }])
  })

  it.each([
    [{ id: 't', function: { name: 'a b', arguments: '{}' } }, '-32600: Invalid tool name: a b'],
    [{ id: 't', function: { arguments: '{}' } }, '-32600: Invalid tool name: '],
    [{ id: 't', function: { name: 'a', arguments: '[1]' } }, '-32602: Invalid arguments of tool call t'],
    [{ id: 't', function: { name: 'a', arguments: '{"a":' } }, '-32602: Invalid arguments of tool call t'],
  ])('reports what is wrong with the call %j (M32)', async (bad, error) => {
    const { pieces } = await read(new ChatStream(), lines(delta({ tool_calls: [bad] }), '[DONE]'))
    expect(pieces[0]?.content).toEqual([{ type: 'toolRequest', id: 't', toolCall: { status: 'error', error } }])
  })
})

describe('a response of chat completions in one piece', () => {
  const answer = (message: object): unknown => ({ choices: [{ message, finish_reason: 'tool_calls' }], usage: { prompt_tokens: 4, completion_tokens: 5 } })

  it('has its text, then its calls', () => {
    const calls = [{ id: 't', function: { name: 'a', arguments: '' } }]
    expect(chatAnswer(answer({ content: 'x', tool_calls: calls }))).toEqual({
      id: null, content: [{ type: 'text', text: 'x' }, call('t', 'a', {})], usage: { input: 4, output: 5, total: 9 }, model: null, finishReason: 'tool_calls',
    })
    expect(chatAnswer(answer({ content: '', tool_calls: calls })).content).toEqual([call('t', 'a', {})])
    expect(chatAnswer(answer({ content: null })).content).toEqual([{ type: 'text', text: '' }])
    expect(() => chatAnswer({ choices: [] })).toThrow('the answer has no message')
  })
})

describe('Messages (M35 to M38)', () => {
  const start = { type: 'message_start', message: { id: 'm1', usage: { input_tokens: 3, cache_read_input_tokens: 4, output_tokens: 1 } } }

  it('stream texts as they come, thinking when it ends, calls and usage at the stop', async () => {
    const text = lines(
      start,
      { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'hm' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 's' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'a' } },
      { type: 'content_block_stop', index: 1 },
      { type: 'content_block_start', index: 2, content_block: { type: 'tool_use', id: 't', name: 'n', input: {} } },
      { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '{"n":' } },
      { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '1}' } },
      { type: 'content_block_stop', index: 2 },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 6 } },
      { type: 'message_stop' },
    )
    expect(await read(new MessagesStream(), text)).toEqual({
      pieces: [
        { id: 'm1', content: [{ type: 'thinking', thinking: 'hm', signature: 's' }], usage: null },
        { id: 'm1', content: [{ type: 'text', text: 'a' }], usage: null },
        { id: 'm1', content: [call('t', 'n', { n: 1 })], usage: { input: 7, output: 6, total: 13 } },
      ],
      error: null,
    })
  })

  it('count sums up to 2147483647, and skip invalid numbers (M54)', async () => {
    const begin = { type: 'message_start', message: { usage: { input_tokens: 2147483647, cache_read_input_tokens: 1, output_tokens: 7 } } }
    const text = lines(begin, '{"type":"message_delta","usage":{"output_tokens":2147483648}}', { type: 'message_stop' })
    expect((await read(new MessagesStream(), text)).pieces[0]?.usage).toEqual({ input: 2147483647, output: 7, total: 2147483647 })
  })

  it('count the usage of a stream that was cut off, and lose its calls', async () => {
    const text = lines(start, { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 't', name: 'n', input: {} } })
    expect(await read(new MessagesStream(), text)).toEqual({
      pieces: [{ id: 'm1', content: null, usage: { input: 7, output: 1, total: 8 } }],
      error: 'the stream ended before the answer',
    })
  })

  it('in one piece have their blocks in order', () => {
    const content = [
      { type: 'redacted_thinking', data: 'd' },
      { type: 'tool_use', id: 't', name: 'n', input: { a: 1 } },
      { type: 'text', text: 'x' },
    ]
    expect(messagesAnswer({ model: 'claude', stop_reason: 'end_turn', content, usage: { input_tokens: 1, output_tokens: 2 } })).toEqual({
      id: null,
      content: [{ type: 'redactedThinking', data: 'd' }, call('t', 'n', { a: 1 }), { type: 'text', text: 'x' }],
      usage: { input: 1, output: 2, total: 3 },
      model: 'claude',
      finishReason: 'end_turn',
    })
    expect(messagesAnswer({ content: [], model: '' }).model).toBeNull()
    expect(messagesAnswer({ content: [] }).content).toEqual([{ type: 'text', text: '' }])
    expect(() => messagesAnswer({})).toThrow('the answer has no content')
  })
})
