import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { ChatApp, eventLine, line } from '../../testing/chat-app.ts'
import { eventually } from '../../testing/eventually.ts'
import { chatStream, chatWhole, plain, streamed, wantsStream, wantsWhole, type Script } from '../../testing/upstream.ts'

describe('POST /reply (GA 7)', () => {
  it('streams the pieces of a response with one id, and saves them as one message', async () => {
    const app = await ChatApp.open()
    const id = await app.chat()
    app.upstream.answers(chatStream({ texts: ['Hel', 'lo'], usage: [10, 2] }), wantsStream)
    const reply = await app.say(id, 'hi')
    expect(reply.events.response.status).toBe(200)
    expect(Object.fromEntries(reply.events.response.headers)).toMatchObject({ 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
    const events = await reply.rest()
    expect(events.map(eventLine)).toEqual(['assistant: Hel', 'assistant: lo', 'Finish'])
    const zero = { inputTokens: 0, outputTokens: 0, totalTokens: 0, accumulatedInputTokens: 0, accumulatedOutputTokens: 0, accumulatedTotalTokens: 0 }
    expect(events[0]).toMatchObject({ message: { id: 'chatcmpl-1', metadata: { userVisible: true, agentVisible: true } }, token_state: zero })
    expect(events[2]).toEqual({
      type: 'Finish',
      reason: 'stop',
      token_state: { inputTokens: 10, outputTokens: 2, totalTokens: 12, accumulatedInputTokens: 10, accumulatedOutputTokens: 2, accumulatedTotalTokens: 12 },
    })
    expect(await app.conversation(id)).toEqual(['user: hi', 'assistant: Hello'])
    expect((await app.session(id)).conversation.map((message) => message.id)).toEqual([`msg_${id}_0`, `msg_${id}_1`])
  })

  it('counts the tokens of a session up to 2147483647 (M54)', async () => {
    const app = await ChatApp.open({ GOOSE_AUTO_COMPACT_THRESHOLD: '0' })
    const id = await app.chat()
    for (let i = 0; i < 2; i++) app.upstream.answers(chatStream({ texts: ['x'], usage: [2_000_000_000, 5] }), wantsStream)
    await app.hear(id, 'hi')
    expect((await app.hear(id, 'again')).at(-1)).toMatchObject({
      token_state: { totalTokens: 2_000_000_005, accumulatedInputTokens: 2147483647, accumulatedOutputTokens: 10, accumulatedTotalTokens: 2147483647 },
    })
  })

  it('sends the model the system prompt, the tools, the history and the note (M16, M19)', async () => {
    const app = await ChatApp.open()
    const id = await app.chat()
    for (const text of ['one', 'two']) app.upstream.answers(chatStream({ texts: [text] }), wantsStream)
    await app.hear(id, 'first')
    await app.hear(id, 'second')
    const [first, second] = app.upstream.streamed
    expect(first?.messages[0]?.content).toMatch(/^You are goose, an AI agent\..*given\.$/s)
    expect(first?.tools?.map((tool) => tool.function?.name)).toEqual(['dynamic_task__create_task', 'platform__manage_schedule', 'subagent__execute_task'])
    expect(first?.messages[1]?.content).toMatch(/^<context>\nDate and time: \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:Z|[+-]\d\d:\d\d)\nWorking directory: \/w\n<\/context>\nfirst$/)
    expect(second?.messages.slice(1).map(({ role, content }) => `${role}: ${String(content).replace(/<context>.*<\/context>/s, 'NOTE')}`)).toEqual([
      'user: first\nNOTE', 'assistant: one', 'user: second',
    ])
  })

  it('sends a ping at once, and then one every half second', async () => {
    const app = await ChatApp.open()
    const id = await app.chat()
    app.upstream.answers(() => undefined, wantsStream)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    try {
      const reply = await app.say(id, 'hi')
      expect(await reply.events.types(1)).toEqual(['Ping'])
      const next = reply.events.types(3)
      for (let i = 0; i < 3; i++) await vi.advanceTimersByTimeAsync(500)
      expect(await next).toEqual(['Ping', 'Ping', 'Ping'])
      await reply.events.close()
    } finally {
      vi.useRealTimers()
    }
  })

  it('names the session in the background, until the user names it (GA 18.6)', async () => {
    const app = await ChatApp.open()
    const id = await app.chat()
    app.upstream.answers(chatStream({ texts: ['x'] }), wantsStream)
    await app.hear(id, 'hi', 'there')
    await eventually(async () => {
      expect((await app.session(id)).name).toBe('A name')
    })
    const naming = app.upstream.asked.find(wantsWhole)?.body
    expect(naming?.model).toBe('gpt-4o-mini')
    expect(naming?.messages.map(({ content }) => content)).toEqual([
      'Describe the topic of a conversation in four words or fewer. Answer with a short description and nothing else.',
      'The messages of the user:\n\nhi\nthere',
    ])
    expect(naming?.tools).toBeUndefined()
    expect((await app.session(id)).total_tokens).toBeNull()
    await app.call('PUT', `/sessions/${id}/name`, { name: 'Mine' })
    app.upstream.answers(chatStream({ texts: ['x'] }), wantsStream)
    await app.hear(id, 'again')
    expect(app.upstream.asked.filter(wantsWhole)).toHaveLength(1)
  })

  it('asks for no name until the user has sent a text (M21)', async () => {
    const app = await ChatApp.open()
    const id = await app.chat()
    const image = { type: 'image', data: 'aGk=', mimeType: 'image/png' }
    const redactError = [image, { type: 'systemNotification', notificationType: 'inlineMessage', msg: 'm' }, image]
    for (const [item, text] of [...redactError.map((one) => [one, 'a']), ['hello', 'b']] as const) {
      app.upstream.answers(chatStream({ texts: [text as string] }), wantsStream)
      await app.hear(id, item)
    }
    await eventually(async () => {
      expect((await app.session(id)).name).toBe('A name')
    })
    expect(app.upstream.asked.filter(wantsWhole).map(({ body }) => body.messages[1]?.content)).toEqual(['The messages of the user:\n\nhello'])
  })
})

describe('an early error (GA 7.3)', () => {
  it('is one event, without pings or Finish', async () => {
    const app = await ChatApp.open()
    const types = async (body: object): Promise<string | null> => {
      const reply = await app.reply(body)
      const first = await reply.events.next()
      expect(await reply.events.next()).toBeNull()
      return first
    }
    const id = await app.start()
    const message = { role: 'user', created: 5, content: [{ type: 'text', text: 'hi' }], metadata: { userVisible: true, agentVisible: true } }
    expect(await types({ session_id: 'nobody', messages: [] })).toBe('data: {"type":"Error","error":"Failed to read session: Session not found"}\n\n')
    expect(await types({ session_id: id, messages: [] })).toBe('data: {"type":"Error","error":"Reply started with empty messages"}\n\n')
    expect(await app.conversation(id)).toEqual([])
    expect(await types({ session_id: id, messages: [message] })).toBe('data: {"type":"Error","error":"Provider not set"}\n\n')
    expect((await app.session(id)).conversation).toMatchObject([{ role: 'user', created: 5 }])
  })

  it('is not used for an invalid body', async () => {
    const app = await ChatApp.open()
    expect(await app.send('POST', '/reply', '{}')).toMatchObject({ status: 422 })
    expect(await app.send('POST', '/reply', '{}', {})).toMatchObject({ status: 415 })
  })
})

describe('a model that fails', () => {
  it('is reported in a message that is not saved (GA 7.6)', async () => {
    const app = await ChatApp.open()
    const id = await app.chat()
    app.upstream.answers(plain(401, { error: { message: 'bad key' } }), wantsStream)
    const events = await app.hear(id, 'hi')
    expect(events.map(eventLine)).toEqual([
      'assistant: Ran into this error: Authentication error: Authentication failed. Status: 401 Unauthorized. Response: bad key.\n\nPlease try again.',
      'Finish',
    ])
    expect(events[0]).toMatchObject({ message: { id: null } })
    expect(await app.conversation(id)).toEqual(['user: hi'])
  })

  it('in the middle of its response is not reported, and the text before it is kept (Q9)', async () => {
    const app = await ChatApp.open()
    const id = await app.chat()
    app.upstream.answers(streamed({ id: 'c', choices: [{ delta: { content: 'half' } }] }), wantsStream)
    expect((await app.hear(id, 'hi')).map(eventLine)).toEqual(['assistant: half', 'Finish'])
    expect(await app.conversation(id)).toEqual(['user: hi', 'assistant: half'])
  })
})

describe('a client that disconnects (GA 7.5)', () => {
  it('leaves its message and nothing of the response, and the request to the model ends', async () => {
    const app = await ChatApp.open()
    const id = await app.chat()
    const closed = new Promise<void>((resolve) => {
      app.upstream.answers((response) => {
        response.on('close', resolve)
        response.write('data: {"id":"c","choices":[{"delta":{"content":"half"}}]}\n\n')
      }, wantsStream)
    })
    const reply = await app.say(id, 'hi')
    expect(eventLine((await reply.next()) ?? { type: 'Ping' })).toBe('assistant: half')
    await reply.events.close()
    await closed
    expect(await app.conversation(id)).toEqual(['user: hi'])
    expect(app.logs.filter(({ level }) => level === 'error')).toEqual([])
  })
})

describe('a store that fails (G26)', () => {
  it('is reported without the reason, which is in the log', async () => {
    const app = await ChatApp.open()
    const id = await app.chat()
    app.upstream.answers(async (response, asked) => {
      rmSync(join(app.root, 'data/sessions/log', `${id}.jsonl`))
      await chatStream({ texts: ['x'] })(response, asked)
    }, wantsStream)
    expect((await app.hear(id, 'hi')).map(eventLine)).toEqual(['assistant: x', 'Error Session cannot be written', 'Finish'])
    expect(app.logs.filter(({ message }) => message === 'reply failed')).toHaveLength(1)
    expect((await app.hear(id, 'hi')).map(eventLine)).toEqual(['Error Session cannot be written'])
    expect(await app.call('POST', '/agent/update_provider', { provider: 'openai', model: 'm', session_id: id })).toMatchObject({
      status: 500, text: 'Failed to update provider: Session cannot be written',
    })
  })
})

describe('a session that is deleted during its reply (M55)', () => {
  it('ends the stream with Finish and the last numbers, and ends its questions (G29)', async () => {
    const app = await ChatApp.open({ GOOSE_MODE: 'approve' })
    const id = await app.chat()
    const calls = [{ id: 'q', name: 'nobody__has', input: '{}' }]
    app.upstream.answers(chatStream({ calls, usage: [10, 2] }), wantsStream)
    const reply = await app.say(id, 'hi')
    for (let i = 0; i < 2; i++) await reply.next()
    await app.fetch(`/sessions/${id}`, { method: 'DELETE' })
    await app.call('POST', '/action-required/tool-confirmation', { id: 'q', action: 'deny', sessionId: id })
    const events = await reply.rest()
    expect(events.map(eventLine)).toEqual(['Finish'])
    expect(events.at(-1)).toMatchObject({ token_state: { totalTokens: 12, accumulatedTotalTokens: 12 } })
    expect(app.upstream.streamed).toHaveLength(1)
    expect(await app.get(`/sessions/${id}`)).toMatchObject({ status: 404 })
  })

  it('shares nothing with the next session of the same number (G30)', async () => {
    const app = await ChatApp.open()
    const id = await app.chat()
    app.upstream.answers((response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write('data: {"id":"c","choices":[{"delta":{"content":"x"}}]}\n\n')
    }, wantsStream)
    const reply = await app.say(id, 'hi')
    await reply.next()
    await app.fetch(`/sessions/${id}`, { method: 'DELETE' })
    expect(await app.start()).toBe(id)
    expect((await reply.rest()).map(eventLine)).toEqual(['Finish'])
    expect((await app.hear(id, 'hi')).map(eventLine)).toEqual(['Error Provider not set'])
    expect(await app.session(id)).toMatchObject({ message_count: 1, provider_name: null, total_tokens: null })
  })

  it('ends a compaction', async () => {
    const app = await ChatApp.open()
    const id = await app.chat()
    app.upstream.answers(async (response, asked) => {
      await app.fetch(`/sessions/${id}`, { method: 'DELETE' })
      await chatWhole('SUMMARY')(response, asked)
    }, wantsWhole)
    expect((await app.hear(id, '/compact')).map(eventLine)).toEqual([
      'assistant: thinkingMessage goose is compacting the conversation...', 'Finish',
    ])
  })
})

describe('compaction (GA 7.10)', () => {
  it('is automatic when the conversation is too large', async () => {
    const app = await ChatApp.open({ GOOSE_CONTEXT_LIMIT: '5000', GOOSE_AUTO_COMPACT_THRESHOLD: '0.5' })
    const id = await app.chat()
    app.upstream.answers(chatStream({ texts: ['a'], usage: [2400, 101] }), wantsStream)
    await app.hear(id, 'one')
    app.upstream.answers(chatWhole('SUMMARY', [100, 20]), ({ body }) => JSON.stringify(body.messages).includes('Summarize the conversation'))
    app.upstream.answers(chatStream({ texts: ['b'] }), wantsStream)
    const events = await app.hear(id, 'two')
    expect(events.map(eventLine)).toEqual([
      'assistant: inlineMessage Exceeded auto-compact threshold of 50%. Performing auto-compaction...',
      'assistant: thinkingMessage goose is compacting the conversation...',
      'UpdateConversation forgotten user: one; forgotten assistant: a; hidden forgotten user: two; hidden user: SUMMARY; ' +
        'hidden assistant: The conversation so far was replaced by this summary. I go on from there without mentioning it.; user: two',
      'assistant: inlineMessage Compaction complete',
      'assistant: b',
      'Finish',
    ])
    expect(events[3]).toMatchObject({ token_state: { totalTokens: 20, inputTokens: 20, outputTokens: 0, accumulatedTotalTokens: 2621 } })
    const summary = app.upstream.asked.find(({ body }) => JSON.stringify(body.messages).includes('Summarize'))
    expect(summary?.body.messages[1]?.content).toBe('user: one\n\nassistant: a\n\nuser: two')
    expect(app.upstream.streamed.at(-1)?.messages.slice(1).map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
  })

  it.each(['"0.5"', '1.5', '-1', 'true', 'half'])('uses the default threshold instead of %s, which is not a number from 0 to 1 (G33)', async (threshold) => {
    const app = await ChatApp.open({ GOOSE_CONTEXT_LIMIT: '5000', GOOSE_AUTO_COMPACT_THRESHOLD: threshold })
    const id = await app.chat()
    app.upstream.answers(chatStream({ texts: ['a'], usage: [3900, 99] }), wantsStream)
    await app.hear(id, 'one')
    app.upstream.answers(chatStream({ texts: ['b'], usage: [4000, 1] }), wantsStream)
    expect((await app.hear(id, 'two')).map(eventLine)).toEqual(['assistant: b', 'Finish'])
    expect((await app.hear(id, 'three')).map(eventLine)[0]).toContain('Exceeded auto-compact threshold of 80%')
  })

  it('happens on request, and nothing follows', async () => {
    const app = await ChatApp.open()
    const id = await app.chat()
    app.upstream.answers(chatWhole('SUMMARY'), wantsWhole)
    expect((await app.hear(id, ' /compact ')).map(eventLine)).toEqual([
      'assistant: thinkingMessage goose is compacting the conversation...',
      'UpdateConversation forgotten user:  /compact ; hidden user: SUMMARY; ' +
        'hidden assistant: The conversation so far was replaced by this summary. I go on from there without mentioning it.',
      'assistant: inlineMessage Compaction complete',
      'Finish',
    ])
  })

  it('keeps what other requests save in the meantime, and does not restore what they delete', async () => {
    const app = await ChatApp.open()
    const id = await app.chat()
    for (const text of ['a', 'b', 'c']) app.upstream.answers(chatStream({ texts: [text] }), wantsStream)
    await app.hear(id, 'one')
    let summarize = (): void => undefined
    const asked = new Promise<void>((resolve) => {
      app.upstream.answers((response, request) => {
        summarize = () => void chatWhole('SUMMARY')(response, request)
        resolve()
      }, ({ body }) => JSON.stringify(body.messages).includes('Summarize'))
    })
    const compaction = app.hear(id, '/compact')
    await asked
    await app.hear(id, 'two')
    await app.call('POST', `/sessions/${id}/edit_message`, { timestamp: 2, editType: 'edit' }) // the assistant's messages; users speak in second 1
    await app.hear(id, 'three')
    summarize()
    const text = 'forgotten user: one; forgotten user: /compact; hidden user: SUMMARY; ' +
      'hidden assistant: The conversation so far was replaced by this summary. I go on from there without mentioning it.; ' +
      'user: two; user: three; assistant: c'
    expect((await compaction).map(eventLine)[1]).toBe(`UpdateConversation ${text}`)
    expect((await app.conversation(id)).join('; ')).toBe(text)
  })

  it('fails with a message, or with an error if there is no provider', async () => {
    const app = await ChatApp.open()
    const id = await app.start()
    expect((await app.hear(id, '/summarize')).map(eventLine)).toEqual([
      'assistant: thinkingMessage goose is compacting the conversation...', 'Error Provider not set', 'Finish',
    ])
    const chat = await app.chat()
    for (let i = 0; i < 2; i++) app.upstream.answers(plain(404, 'gone'), wantsWhole)
    expect((await app.hear(chat, '/compact')).map(eventLine)).toEqual([
      'assistant: thinkingMessage goose is compacting the conversation...',
      'assistant: Ran into this error trying to compact: Request failed: Resource not found (404): gone.',
      'Finish',
    ])
  })

  it('recovers once from a context that is too long (M27)', async () => {
    const app = await ChatApp.open()
    const id = await app.chat()
    for (let i = 0; i < 2; i++) app.upstream.answers(plain(413, 'too large'), wantsStream)
    app.upstream.answers(chatWhole('SUMMARY'), ({ body }) => JSON.stringify(body.messages).includes('Summarize'))
    const lines = (await app.hear(id, 'hi')).map(eventLine)
    expect([lines[0], lines[1], lines[2]?.slice(0, 18), ...lines.slice(3)]).toEqual([
      'assistant: inlineMessage Context limit reached. Compacting to continue conversation...',
      'assistant: thinkingMessage goose is compacting the conversation...',
      'UpdateConversation',
      'assistant: Ran into this error: Context length exceeded: too large.\n\nPlease try again.',
      'Finish',
    ])
  })
})

describe('a slash command (GA 7.11)', () => {
  it('is replaced by the instructions and the prompt of its recipe', async () => {
    const app = await ChatApp.open()
    const id = await app.chat()
    const path = join(app.root, 'greet.yaml')
    writeFileSync(path, 'title: t\ndescription: d\ninstructions: Be {{ kind }}\nprompt: Greet\n')
    mkdirSync(join(app.root, 'config'), { recursive: true })
    const commands = [
      'greet', { command: 'greet' }, { command: 'greet', recipe_path: 5 }, { command: 'greet', recipe_path: path }, { command: 'ας', recipe_path: path },
    ]
    writeFileSync(join(app.root, 'config/config.yaml'), JSON.stringify({ slash_commands: commands }))
    for (let i = 0; i < 3; i++) app.upstream.answers(chatStream({ texts: ['x'] }), wantsStream)
    await app.hear(id, '/Greet them')
    await app.hear(id, '/ΑΣ') // G34
    await app.hear(id, '/unknown')
    expect(await app.conversation(id)).toEqual([
      'hidden user: Be {{ kind }}\n\nGreet', 'forgotten user: /Greet them', 'assistant: x',
      'hidden user: Be {{ kind }}\n\nGreet', 'forgotten user: /ΑΣ', 'assistant: x', 'user: /unknown', 'assistant: x',
    ])
  })
})

describe('a recipe with a response schema (GA 7.13, M34)', () => {
  const outputOrder = 'You MUST call the `final_output` tool NOW with the final output for the user.'
  const shown = JSON.stringify({ type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }, null, 2)
  const correction = `Expected format:\n${shown}\n\nPlease correct your output to match the expected JSON schema and try again.`

  it('continues until there is an output, and ends with it', async () => {
    const app = await ChatApp.open()
    const schema = JSON.parse(shown) as unknown
    const id = await app.chat({ recipe: { title: 't', description: 'd', instructions: 'Count', response: { json_schema: schema } } })
    await app.call('POST', '/agent/update_from_session', { session_id: id })
    const give = (input: string): ReturnType<typeof chatStream> => chatStream({ calls: [{ id: 'c', name: 'recipe__final_output', input }] })
    for (const script of [chatStream({ texts: ['done'] }), give('{"n":"x"}'), give('{"n":"5"}')]) app.upstream.answers(script, wantsStream)
    const events = await app.hear(id, 'count')
    expect(events.filter((event) => event.type === 'Message').map(({ message }) => line(message)).filter((text) => !text.includes('call c'))).toEqual([
      'assistant: done',
      `user: ${outputOrder}`,
      `user: result c ${JSON.stringify({ status: 'error', error: `-32602: Validation failed:\n- /n: must be integer\n\n${correction}` })}`,
      'user: result c {"status":"success","value":[{"type":"text","text":"Final output successfully collected."}]}',
      'assistant: {"n":5}',
    ])
    expect((await app.conversation(id)).at(-1)).toContain('successfully collected')
    const [first] = app.upstream.streamed
    expect(first?.messages[0]?.content).toContain('\n\nYou follow a recipe. Its instructions are:\n\nCount\n\nWhen the work is done, call')
    expect(first?.messages[0]?.content).toMatch(/ once, with the final output\. It has to match this schema:\n\{\n {2}"type": "object",[^]*\n\}$/)
    expect(JSON.stringify(first?.tools)).toContain(JSON.stringify(`The output has to match this schema:\n${shown}`).slice(1, -1))
    app.upstream.answers(plain(400, { error: { message: 'no' } }), wantsStream)
    expect((await app.hear(id, 'again')).map(eventLine)).toEqual(['assistant: Ran into this error: Request failed: Bad request (400): no.\n\nPlease try again.', 'Finish'])
  })

  it('does not offer the model the tools of its sub-recipes (M45)', async () => {
    const app = await ChatApp.open()
    const id = await app.chat({ recipe: { title: 't', description: 'd', prompt: 'p', sub_recipes: [{ name: 's', path: '/' }] } })
    await app.call('POST', '/agent/update_from_session', { session_id: id })
    expect((await app.get(`/agent/tools?session_id=${id}`)).text).toContain('subrecipe__create_task_s')
    app.upstream.answers(chatStream({ texts: ['x'] }), wantsStream)
    await app.hear(id, 'hi')
    expect(app.upstream.streamed[0]?.tools?.map((tool) => tool.function?.name)).toEqual(['dynamic_task__create_task', 'platform__manage_schedule', 'subagent__execute_task'])
  })

  it('has a tool that no other agent has', async () => {
    const app = await ChatApp.open()
    const id = await app.chat()
    app.upstream.answers(chatStream({ calls: [{ id: 'c', name: 'recipe__final_output', input: '{}' }] }), wantsStream)
      .answers(chatStream({ id: 'c2', texts: ['ok'] }), wantsStream)
    expect((await app.hear(id, 'hi')).map(eventLine)[1]).toBe('user: result c {"status":"error","error":"-32603: Final output tool not defined"}')
  })
})

describe('tools that cannot run (GA 7.8, M32, M45)', () => {
  it('have an error as their result, in the order of the requests; malformed requests have no result', async () => {
    const app = await ChatApp.open()
    const id = await app.chat()
    const calls = [
      { id: 'a', name: 'nobody__has', input: '{}' },
      { id: 'b', name: 'platform__manage_schedule', input: '{"limit":"5","action":"list"}' },
      { id: 'c', name: 'broken', input: '[' },
    ]
    app.upstream.answers(chatStream({ texts: ['let me'], calls }), wantsStream).answers(chatStream({ id: 'chatcmpl-2', texts: ['ok'] }), wantsStream)
    const events = (await app.hear(id, 'hi')).map(eventLine)
    expect(events).toEqual([
      'assistant: let me',
      'assistant: call a {"status":"success","value":{"name":"nobody__has","arguments":{}}} | ' +
        'call b {"status":"success","value":{"name":"platform__manage_schedule","arguments":{"limit":"5","action":"list"}}} | ' +
        'call c {"status":"error","error":"-32602: Invalid arguments of tool call c"}',
      'user: result a {"status":"error","error":"-32603: -32002: nobody__has"}',
      'user: result b {"status":"error","error":"-32603: platform__manage_schedule is not built on this server"}',
      'assistant: ok',
      'Finish',
    ])
    expect(await app.conversation(id)).toEqual([
      'user: hi',
      'assistant: let me',
      'assistant: call a {"status":"success","value":{"name":"nobody__has","arguments":{}}}',
      events[2],
      'assistant: call b {"status":"success","value":{"name":"platform__manage_schedule","arguments":{"limit":5,"action":"list"}}}',
      events[3],
      'assistant: ok',
    ])
    expect(app.upstream.streamed[1]?.messages.slice(2).map(({ role }) => role)).toEqual(['assistant', 'tool', 'user', 'assistant', 'tool'])
  })
})

/** Answers the questions of a reply before the model has called the tools. */
function answeredBefore(app: ChatApp, id: string, actions: string[], script: Script): Script {
  return async (response, asked) => {
    for (const action of actions) await app.call('POST', '/action-required/tool-confirmation', { id: 'q', action, sessionId: id })
    await script(response, asked)
  }
}

describe('approval (GA 8, 18.1)', () => {
  const call = { id: 'q', name: 'nobody__has', input: '{"n":1}' }

  it('asks about one call after the other, and remembers what is always allowed', async () => {
    const app = await ChatApp.open({ GOOSE_MODE: 'approve' })
    const id = await app.chat()
    const confirm = (wanted: string, action: string): Promise<unknown> =>
      app.call('POST', '/action-required/tool-confirmation', { id: wanted, action, sessionId: id, principalType: 'Tool' })
    app.upstream.answers(chatStream({ calls: [call, { ...call, id: 'r', name: 'nobody__knows' }] }), wantsStream)
    app.upstream.answers(chatStream({ id: 'c2', texts: ['ok'] }), wantsStream)
    const reply = await app.say(id, 'hi')
    await reply.next()
    const question = await reply.next()
    expect(question).toMatchObject({
      message: {
        id: null,
        metadata: { userVisible: true, agentVisible: false },
        content: [{ type: 'actionRequired', data: { actionType: 'toolConfirmation', id: 'q', toolName: 'nobody__has', arguments: { n: 1 }, prompt: null } }],
      },
    })
    expect(await confirm('other', 'deny')).toMatchObject({ status: 200, text: '{}' })
    await confirm('q', 'always_allow')
    expect(eventLine((await reply.next()) ?? { type: 'Ping' })).toBe('forgotten assistant: toolConfirmation r')
    await confirm('r', 'whatever')
    expect((await reply.rest()).map(eventLine)).toEqual([
      'user: result q {"status":"error","error":"-32603: -32002: nobody__has"}',
      'user: result r {"status":"success","value":[{"type":"text","text":"The user has declined this tool call. Do not try it again."}]}',
      'assistant: ok',
      'Finish',
    ])
    app.upstream.answers(chatStream({ calls: [call] }), wantsStream).answers(chatStream({ id: 'c2', texts: ['ok'] }), wantsStream)
    expect((await app.hear(id, 'again')).map(eventLine).filter((text) => text.includes('toolConfirmation'))).toEqual([])
  })

  it('continues with the conversation from its start and what the reply itself adds (M53)', async () => {
    const app = await ChatApp.open({ GOOSE_MODE: 'approve' })
    const id = await app.chat()
    app.upstream.answers(chatStream({ calls: [call] }), wantsStream)
    const one = await app.say(id, 'one')
    for (let i = 0; i < 2; i++) await one.next()
    app.upstream.answers(chatStream({ id: 'c2', texts: ['to two'] }), wantsStream)
    await app.hear(id, 'two')
    app.upstream.answers(chatStream({ id: 'c3', texts: ['to one'] }), wantsStream)
    await app.call('POST', '/action-required/tool-confirmation', { id: 'q', action: 'deny', sessionId: id })
    await one.rest()
    const last = app.upstream.streamed.at(-1)?.messages.slice(1) ?? []
    expect(last.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool'])
    expect(JSON.stringify(last)).not.toContain('two')
    expect((await app.conversation(id)).map((text) => text.slice(0, 17))).toEqual([
      'user: one', 'user: two', 'assistant: to two', 'assistant: call q', 'user: result q {"', 'assistant: to one',
    ].map((text) => text.slice(0, 17)))
  })

  it('asks about each call of one response, whatever the earlier decisions were (M68)', async () => {
    const app = await ChatApp.open({ GOOSE_MODE: 'approve' })
    const id = await app.chat()
    app.upstream.answers(answeredBefore(app, id, ['always_allow', 'deny'], chatStream({ calls: [call, call] })), wantsStream).answers(chatStream({ id: 'c2', texts: ['ok'] }), wantsStream)
    const lines = (await app.hear(id, 'hi')).map(eventLine)
    expect(lines.filter((text) => text.includes('toolConfirmation'))).toHaveLength(2)
    expect(lines.filter((text) => text.includes('declined'))).toHaveLength(1)
  })

  it('uses a decision that arrived before its question', async () => {
    const app = await ChatApp.open({ GOOSE_MODE: 'smart_approve' })
    const id = await app.chat()
    app.upstream.answers(answeredBefore(app, id, ['deny'], chatStream({ calls: [call] })), wantsStream).answers(chatStream({ id: 'c2', texts: ['ok'] }), wantsStream)
    expect((await app.hear(id, 'hi')).map(eventLine).filter((text) => text.includes('declined'))).toHaveLength(1)
  })

  it('runs nothing in chat mode, and asks no question', async () => {
    const app = await ChatApp.open({ GOOSE_MODE: 'chat' })
    const id = await app.chat()
    app.upstream.answers(chatStream({ calls: [call] }), wantsStream).answers(chatStream({ id: 'c2', texts: ['ok'] }), wantsStream)
    expect((await app.hear(id, 'hi')).map(eventLine)[1]).toContain('Tools do not run in chat mode. Explain what you would do with this call.')
    expect(app.upstream.streamed[0]?.tools?.map((tool) => tool.function?.name)).toEqual(['platform__manage_schedule'])
  })
})

describe('models of agents (GA 6.2, 6.5)', () => {
  it.each([
    [{ provider: 'nobody', model: 'm' }, {}, 'Failed to create nobody provider: Unknown provider: nobody'],
    [{ provider: 'openai' }, {}, 'No model specified'],
    [{ provider: 'openai', model: 'm' }, { GOOSE_TEMPERATURE: 'hot' }, "Invalid model config: Invalid value for 'GOOSE_TEMPERATURE': 'hot' - must be a valid number"],
  ])('%j with %j is rejected', async (body, environment, text) => {
    const app = await ChatApp.open(environment)
    expect(await app.call('POST', '/agent/update_provider', { ...body, session_id: 'x' })).toMatchObject({ status: 400, text })
  })

  it.each(['[1]', 'a: [', 'a: "\\ud800"'])('cannot be created when the file of secrets is %s, and the log says why (G13, G26)', async (secrets) => {
    const app = await ChatApp.open({ GOOSE_PROVIDER: 'openai', GOOSE_MODEL: 'm' })
    writeFileSync(join(app.root, 'config/secrets.yaml'), secrets)
    const id = await app.start()
    expect(await app.call('POST', '/agent/update_provider', { provider: 'openai', session_id: id })).toMatchObject({
      status: 400, text: 'Failed to create openai provider: Internal error',
    })
    expect(await app.call('POST', '/agent/resume', { session_id: id, load_model_and_extensions: true })).toMatchObject({
      status: 500, text: '{"message":"Could not create provider: Internal error"}',
    })
    expect(app.logs.filter(({ message }) => message === 'provider not built').map(({ fields }) => String(fields.err))).toEqual([
      expect.stringContaining('NotAMappingError'), expect.stringContaining('NotAMappingError'),
    ])
  })

  it('come from the session, or from the settings', async () => {
    const app = await ChatApp.open({ GOOSE_PROVIDER: 'openai', GOOSE_MODEL: 'gpt-4o' })
    const id = await app.start()
    const resume = { session_id: id, load_model_and_extensions: true }
    const first = await app.call('POST', '/agent/resume', resume)
    expect(JSON.parse(first.text)).toMatchObject({ provider_name: null, model_config: null })
    expect(await app.session(id)).toMatchObject({
      provider_name: 'openai', model_config: { model_name: 'gpt-4o', context_limit: 128_000, fast_model: 'gpt-4o-mini' },
    })
    expect(await app.call('POST', '/agent/update_provider', { provider: 'ollama', model: 'm', session_id: id })).toMatchObject({ status: 200, text: '' })
    expect(await app.call('POST', '/agent/update_router_tool_selector', { session_id: id })).toMatchObject({ status: 200 })
    await app.call('POST', '/agent/resume', resume)
    expect(await app.session(id)).toMatchObject({ provider_name: 'ollama', model_config: { model_name: 'm', fast_model: null } })
  })

  it.each([
    [{}, 'Could not configure agent: missing provider'],
    [{ GOOSE_PROVIDER: 'openai' }, 'Could not configure agent: missing model'],
    [{ GOOSE_PROVIDER: 'x', GOOSE_MODEL: 'm' }, 'Could not create provider: Unknown provider: x'],
    [
      { GOOSE_PROVIDER: 'openai', GOOSE_MODEL: 'm', GOOSE_CONTEXT_LIMIT: 'x' },
      "Could not configure agent: invalid model Invalid value for 'GOOSE_CONTEXT_LIMIT': 'x' - must be a positive integer",
    ],
  ])('with %j an agent is not resumed', async (environment, message) => {
    const app = await ChatApp.open(environment)
    const answer = await app.call('POST', '/agent/resume', { session_id: await app.start(), load_model_and_extensions: true })
    expect([answer.status, JSON.parse(answer.text)]).toEqual([500, { message }])
  })
})
