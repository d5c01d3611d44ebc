import { temporaryRoot } from '../testing/temporary-root.ts'
import { execFileSync } from 'node:child_process'
import { truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { JsonDocument } from '../wire/json/document.ts'
import { stringifyJson } from '../wire/json/stringify.ts'
import { visibleToBoth, type Message } from '../domain/message/message.ts'
import type { ModelConfig } from '../domain/session/session.ts'
import { chatBody } from './chat-request.ts'
import { messagesBody } from './messages-request.ts'
import type { ModelRequest } from './model.ts'

const config: ModelConfig = {
  model_name: 'm', context_limit: null, temperature: null, max_tokens: null, toolshim: false, toolshim_model: null, fast_model: null,
}

function message(role: 'user' | 'assistant', ...content: Message['content']): Message {
  return { id: null, role, created: 0, content, metadata: visibleToBoth }
}

const conversation: Message[] = [
  message('user', { type: 'text', text: 'a' }, { type: 'text', text: 'b' }),
  message(
    'assistant',
    { type: 'thinking', thinking: 'hm', signature: 's' },
    { type: 'text', text: 'c' },
    {
      type: 'toolRequest',
      id: 't1',
      toolCall: { status: 'success', value: { name: 'x__y', arguments: { n: new JsonDocument('1.0').value } } },
    },
  ),
  message(
    'user',
    {
      type: 'toolResponse',
      id: 't1',
      toolResult: {
        status: 'success',
        value: [
          { type: 'text', text: 'r' },
          { type: 'text', text: 'for people', annotations: { audience: ['user'] } },
          { type: 'image', data: 'AA==', mimeType: 'image/png' },
          { type: 'resource', resource: { uri: 'u:1', blob: 'AA==' } },
        ],
      },
    },
    { type: 'toolResponse', id: 't2', toolResult: { status: 'error', error: '-1: no' } },
    { type: 'text', text: 'and' },
  ),
]

function request(changes: Partial<ModelRequest> = {}): ModelRequest {
  return { system: 'S', messages: conversation, tools: [], ...changes }
}

describe('a body of chat completions (M7, M8, M11, M12)', () => {
  it('has the conversation, tool results and their images', async () => {
    const body = await chatBody(request(), config, 'm', false)
    expect(JSON.parse(stringifyJson(body))).toEqual({
      model: 'm',
      messages: [
        { role: 'system', content: 'S' },
        { role: 'user', content: 'a\nb' },
        { role: 'assistant', content: 'c', tool_calls: [{ id: 't1', type: 'function', function: { name: 'x__y', arguments: '{"n":1.0}' } }] },
        { role: 'tool', tool_call_id: 't1', content: 'r\n[image]\n[resource u:1]' },
        { role: 'tool', tool_call_id: 't2', content: 'Error: -1: no' },
        { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }, { type: 'text', text: 'and' }] },
      ],
    })
  })

  it('has tools, temperature, tokens and the stream only if there is a value', async () => {
    const tools = [{ name: 't', inputSchema: { type: 'object' } }]
    const body = await chatBody(request({ messages: [], tools }), { ...config, temperature: 0, max_tokens: 5 }, 'gpt-4o', true)
    expect(body).toEqual({
      model: 'gpt-4o',
      messages: [{ role: 'system', content: 'S' }],
      tools: [{ type: 'function', function: { name: 't', description: '', parameters: { type: 'object' } } }],
      temperature: 0,
      max_tokens: 5,
      stream: true,
      stream_options: { include_usage: true },
    })
  })

  it.each([
    ['o3', 'o3', 'medium'],
    ['o4-mini-high', 'o4-mini', 'high'],
    ['gpt-5', 'gpt-5', 'medium'],
    ['gpt-5-codex-low', 'gpt-5-codex', 'low'],
  ])('asks %s as a reasoning model', async (name, model, effort) => {
    const body = await chatBody(request({ messages: [] }), { ...config, temperature: 1, max_tokens: 5 }, name, false)
    expect(body).toEqual({ model, messages: [{ role: 'developer', content: 'S' }], max_completion_tokens: 5, reasoning_effort: effort })
  })

  it('does not read a pipe that a text names (M13)', async () => {
    const pipe = join(temporaryRoot(), 'pipe.png')
    execFileSync('mkfifo', [pipe])
    const body = await chatBody(request({ messages: [message('user', { type: 'text', text: pipe })] }), config, 'm', false)
    expect((body.messages as unknown[])[1]).toEqual({ role: 'user', content: pipe })
  })

  it('sends each image that a text names once, and no other file (M13)', async () => {
    const root = temporaryRoot()
    const [png, text] = [join(root, 'a.PNG'), join(root, 'b.png')]
    writeFileSync(png, Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1]))
    writeFileSync(text, 'no image')
    const said = `look at ${png} and ${text} and ${root}/none.jpg, and ${png}`
    const body = await chatBody(request({ messages: [message('user', { type: 'text', text: said })] }), config, 'm', false)
    expect((body.messages as unknown[])[1]).toEqual({
      role: 'user',
      content: [{ type: 'text', text: said }, { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgoB' } }],
    })
  })
})

describe('the images of a request (M13)', () => {
  const pixel = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  const images = async (...texts: string[]): Promise<number[]> => {
    const body = await chatBody(request({ messages: texts.map((text) => message('user', { type: 'text', text })) }), config, 'm', false)
    const contents = (body.messages as { content: unknown }[]).slice(1).map(({ content }) => content)
    return contents.map((content) => (Array.isArray(content) ? content.length - 1 : 0))
  }

  it('come from the first hundred paths of a message', async () => {
    const root = temporaryRoot()
    writeFileSync(join(root, 'a.png'), pixel)
    const paths = Array.from({ length: 101 }, (_, i) => `${root}${'/.'.repeat(i)}/a.png`)
    expect(await images([...paths.slice(0, 50), ...paths.slice(0, 50), ...paths.slice(50)].join(' '), paths[100] ?? '')).toEqual([100, 1])
    expect(await images([`${root}/none.png`, ...paths.slice(1)].join(' '))).toEqual([99])
  })

  it('have at most 50 MiB together, and the last message is served first', async () => {
    const root = temporaryRoot()
    const file = (name: string, mebibytes: number): string => {
      const path = join(root, `${name}.png`)
      writeFileSync(path, pixel)
      truncateSync(path, mebibytes * 1024 * 1024)
      return path
    }
    const [a, b, c, d, e] = [file('a', 20), file('b', 20), file('c', 11), file('d', 10), file('e', 1)]
    expect(await images(`${a} ${e}`, `${c} ${d}`, `${a} ${b}`)).toEqual([0, 1, 2])
  })
})

describe('a body of Messages (M9, M10, M14)', () => {
  it('has results before other blocks, and keeps thinking', () => {
    expect(JSON.parse(stringifyJson(messagesBody(request(), config, 'm', false)))).toEqual({
      model: 'm',
      max_tokens: 8192,
      system: 'S',
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'a' }, { type: 'text', text: 'b' }] },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: 's' },
            { type: 'text', text: 'c' },
            { type: 'tool_use', id: 't1', name: 'x__y', input: { n: 1 } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 't1', content: 'r\n[image]\n[resource u:1]' },
            { type: 'tool_result', tool_use_id: 't2', content: 'Error: -1: no', is_error: true },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } },
            { type: 'text', text: 'and' },
          ],
        },
      ],
    })
  })

  it('has tools, temperature and the stream only if there is a value', () => {
    const tools = [{ name: 't', description: 'd', inputSchema: { type: 'object' } }]
    expect(messagesBody(request({ messages: [], tools }), { ...config, temperature: 0.5, max_tokens: 7 }, 'm', true)).toEqual({
      model: 'm', max_tokens: 7, system: 'S', messages: [], tools: [{ name: 't', description: 'd', input_schema: { type: 'object' } }],
      temperature: 0.5, stream: true,
    })
  })
})
