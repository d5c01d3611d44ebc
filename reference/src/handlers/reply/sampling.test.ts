import { describe, expect, it, onTestFinished } from 'vitest'
import { chatBody } from '../../llm/chat-request.ts'
import { messagesBody } from '../../llm/messages-request.ts'
import type { ModelConfig } from '../../domain/session/session.ts'
import { ChatApp, eventLine } from '../../testing/chat-app.ts'
import { mcpServer } from '../../testing/programs.ts'
import { chatStream, chatWhole, plain, wantsStream, wantsWhole, type Script } from '../../testing/upstream.ts'
import { textMessage } from '../../domain/message/new-message.ts'

const hi = [{ role: 'user', content: { type: 'text', text: 'Hi' } }]

/** A chat with an MCP server that sends requests to the model. */
async function chat(environment: Record<string, string> = {}): Promise<{ app: ChatApp; id: string }> {
  const app = await ChatApp.open({ PATH: process.env.PATH ?? '', ...environment }, { directory: '/' })
  onTestFinished(() => app.app.stop())
  const id = await app.chat()
  await app.call('PUT', `/sessions/${id}/name`, { name: 'Named' })
  const config = { type: 'stdio', name: 'x', ...mcpServer }
  expect(await app.call('POST', '/agent/add_extension', { session_id: id, config })).toMatchObject({ status: 200 })
  return { app, id }
}

/** The response that the MCP server gets. */
async function sampled(app: ChatApp, id: string, request: object, answer?: Script): Promise<unknown> {
  app.upstream.answers(chatStream({ calls: [{ id: 'c', name: 'x__sample', input: JSON.stringify(request) }] }), wantsStream)
  if (answer !== undefined) app.upstream.answers(answer, wantsWhole)
  app.upstream.answers(chatStream({ texts: ['ok'] }), wantsStream)
  const events = await app.hear(id, 'go')
  const item = events.flatMap((event) => (event.type === 'Message' ? event.message.content : [])).find(({ type }) => type === 'toolResponse')
  const result = item?.type === 'toolResponse' ? item.toolResult : undefined
  const part = result?.status === 'success' ? result.value[0] : undefined
  if (part?.type !== 'text') throw new Error(events.map(eventLine).join('; '))
  return JSON.parse(part.text)
}

describe('an MCP server that asks the model (X23 to X25)', () => {
  it('gets the response of the model, and its tokens are not counted', async () => {
    const { app, id } = await chat({ GOOSE_TEMPERATURE: '0.5' })
    const request = { systemPrompt: 'Be short.', messages: [...hi, ...hi], maxTokens: 7, temperature: 0.25, stopSequences: ['x'] }
    expect(await sampled(app, id, request, chatWhole('It is so.', [100, 100]))).toEqual({
      role: 'assistant', content: { type: 'text', text: 'It is so.' }, model: 'gpt-4o', stopReason: 'endTurn',
    })
    const asked = app.upstream.asked.filter(wantsWhole).map(({ body }) => body)
    expect(asked).toEqual([
      {
        model: 'gpt-4o',
        messages: [{ role: 'system', content: 'Be short.' }, { role: 'user', content: 'Hi' }, { role: 'user', content: 'Hi' }],
        temperature: 0.25,
        max_tokens: 7,
      },
    ])
    expect(await app.session(id)).toMatchObject({ accumulated_total_tokens: null })
  })

  it('gets the reason why the model does not answer, or why its request cannot be read', async () => {
    const { app, id } = await chat()
    expect(await sampled(app, id, { messages: hi, maxTokens: 1, systemPrompt: null, temperature: null }, plain(401, { error: { message: 'no' } }))).toEqual({
      error: 'McpError: MCP error -32603: Authentication error: Authentication failed. Status: 401 Unauthorized. Response: no',
    })
    const refused = { error: 'McpError: MCP error -32602: The sampling request cannot be read' }
    const audio = [{ role: 'user', content: { type: 'audio', data: 'aGk=', mimeType: 'audio/wav' } }]
    for (const request of [
      { messages: [], maxTokens: 1 }, { messages: hi }, { messages: hi, maxTokens: 0 }, { messages: hi, maxTokens: 1.5 },
      { messages: hi, maxTokens: 2147483648 }, { messages: audio, maxTokens: 1 }, { messages: [{ ...hi[0], role: 'system' }], maxTokens: 1 },
      { messages: hi, maxTokens: 1, temperature: '1' }, { messages: hi, maxTokens: 1, systemPrompt: 1 },
    ]) {
      expect(await sampled(app, id, request)).toEqual(refused)
    }
  })

  it('is not waited for after the client has disconnected, and neither is the model', async () => {
    const { app, id } = await chat()
    let asked = (): void => undefined
    const modelAsked = new Promise<void>((resolve) => {
      asked = resolve
    })
    const closed = new Promise<void>((resolve) => {
      app.upstream
        .answers(chatStream({ calls: [{ id: 'c', name: 'x__sample', input: JSON.stringify({ messages: hi, maxTokens: 1 }) }] }), wantsStream)
        .answers((response) => {
          response.on('close', resolve)
          asked()
        }, wantsWhole)
    })
    const reply = await app.say(id, 'go')
    await reply.next()
    await modelAsked
    await reply.events.close()
    await closed
  })
})

describe('the body of a request for an MCP server', () => {
  const config: ModelConfig = {
    model_name: 'gpt-4o', context_limit: null, temperature: 0.5, max_tokens: 10, toolshim: false, toolshim_model: null, fast_model: null,
  }
  const request = { system: '', messages: [textMessage('user', 'see /x.png'), textMessage('assistant', 'I ')], tools: [] }

  it('has at most the tokens of the config, its temperature by default, and no empty system prompt', async () => {
    const few = { ...request, sampling: { maxTokens: 7, temperature: null } }
    expect(await chatBody(few, config, 'gpt-4o', false)).toEqual({
      model: 'gpt-4o',
      messages: [{ role: 'user', content: 'see /x.png' }, { role: 'assistant', content: 'I ' }],
      temperature: 0.5,
      max_tokens: 7,
    })
    const many = { ...request, sampling: { maxTokens: 11, temperature: 0 } }
    expect(messagesBody(many, config, 'claude', false)).toEqual({
      model: 'claude',
      max_tokens: 10,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'see /x.png' }] }, { role: 'assistant', content: [{ type: 'text', text: 'I ' }] }],
      temperature: 0,
    })
    expect(await chatBody(many, config, 'o9-low', false)).toMatchObject({ model: 'o9', max_completion_tokens: 10, reasoning_effort: 'low' })
  })
})
