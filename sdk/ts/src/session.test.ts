import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import type { ReplyEvent, Session, SessionOptions } from './index.ts'
import type { Received } from './testing/scripted-server.ts'
import { pending, register, useFixture } from './testing/fixture.ts'

const f = useFixture({ secretKey: 'key' })
const [start, reply, confirmation] = ['POST /agent/start', 'POST /reply', 'POST /action-required/tool-confirmation']

/** A session without connected tools. */
async function newSession(options: SessionOptions = {}): Promise<Session> {
  const starting = f.client.startSession({ ...options, tools: false })
  ;(await f.server.next(start)).reply(200, { id: 's1', name: 'New session 1' })
  return starting
}

/** A reply to a prompt: the request of the client, with an open stream. */
async function prompt(session: Session): Promise<{ text: Promise<string>; stream: Received }> {
  const text = session.prompt('hi')
  return { text, stream: (await f.server.next(reply)).open() }
}

function message(id: string | null, text: string, role = 'assistant'): object {
  return { type: 'Message', message: { id, role, created: 1, content: [{ type: 'text', text }], metadata: {} }, token_state: {} }
}

const question = {
  type: 'Message',
  message: {
    id: null, role: 'assistant', created: 1, metadata: {},
    content: [{ type: 'actionRequired', data: { actionType: 'toolConfirmation', id: 'q1', toolName: 'shell', arguments: {}, prompt: null } }],
  },
}
const finish = { type: 'Finish', reason: 'stop', token_state: {} }

describe('startSession', () => {
  it('S63: starts a session for this client, then connects', async () => {
    const starting = f.client.startSession({ workingDir: '/w' })
    const request = await f.server.next(start)
    expect(request.body).toBe('{"working_dir":"/w","clientID":"c1"}')
    expect(request.headers).toMatchObject({ 'x-secret-key': 'key', 'content-type': 'application/json' })
    request.reply(200, { id: 's1', name: 'New session 1' })
    ;(await f.server.next(register)).reply(200)
    const stream = await f.server.next(pending)
    const session = await starting
    expect(session.session).toEqual({ id: 's1', name: 'New session 1' })
    await session.close()
    await stream.closed
  })

  it('does not connect if tools is false', async () => {
    expect((await newSession()).session.id).toBe('s1')
    expect(f.server.waiting).toBe(0)
  })

  it.each([[400, { message: 'Failed to create session: x' }, '400: Failed to create session: x'], [401, '', '401: Unauthorized']])(
    'fails with the status %i and the message of the server', async (status, body, text) => {
      const failed = expect(f.client.startSession()).rejects.toMatchObject({ status, message: text })
      const request = await f.server.next(start)
      if (body === '') request.replyText(status, '')
      else request.reply(status, body)
      await failed
    },
  )

  it('may be cancelled', async () => {
    const controller = new AbortController()
    const failed = expect(f.client.startSession({ signal: controller.signal })).rejects.toThrow('enough')
    const request = await f.server.next(start)
    controller.abort(new Error('enough'))
    await failed
    await request.closed
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
  })
})

it('nothing is sent if the signal is aborted before', async () => {
  const session = await newSession()
  const signal = AbortSignal.abort(new Error('enough'))
  await expect(f.client.startSession({ signal })).rejects.toThrow('enough')
  await expect(session.prompt('hi', { signal })).rejects.toThrow('enough')
  await expect(f.client.tools.connect({ signal })).rejects.toThrow('enough')
  expect(f.server.waiting).toBe(0)
})

it('S63: sets the model of a session, which the server may refuse', async () => {
  const session = await newSession()
  for (const [status, body] of [[200, {}], [400, { message: 'Unknown provider: x' }]] as const) {
    const setting = session.setModel('openai', 'gpt-4o')
    const done = status === 200 ? setting : expect(setting).rejects.toMatchObject({ status, message: '400: Unknown provider: x' })
    const request = await f.server.next('POST /agent/update_provider')
    expect(request.body).toBe('{"provider":"openai","model":"gpt-4o","session_id":"s1"}')
    request.reply(status, body)
    await done
  }
})

describe('prompt', () => {
  it('S63: sends one user message, and returns the text of the assistant', async () => {
    const session = await newSession()
    const before = Math.floor(Date.now() / 1000)
    const text = session.prompt('hi')
    const request = await f.server.next(reply)
    const { messages: [sent], session_id: id } = request.json() as { messages: [{ created: number }]; session_id: string }
    expect(id).toBe('s1')
    expect(sent.created).toBeGreaterThanOrEqual(before)
    expect(request.body).toBe(`{"messages":[{"id":null,"role":"user","created":${sent.created},"content":[{"type":"text","text":"hi"}],`
      + '"metadata":{"userVisible":true,"agentVisible":true}}],"session_id":"s1"}')
    request.open().event('', { type: 'Ping' })
    for (const [id, piece] of [['m1', 'Let '], ['m1', 'me look.'], ['m2', '']] as const) request.event('', message(id, piece))
    request.event('', message('u1', 'a tool result', 'user')).event('', message(null, 'A notice.')).event('', message(null, 'Done.'))
    request.event('', finish).event('', message('m3', 'too late'))
    expect(await text).toBe('Let me look.\nA notice.\nDone.')
    await request.closed
  })

  it('S63: all events are available', async () => {
    const session = await newSession()
    const seen: ReplyEvent[] = []
    const reading = (async () => {
      for await (const event of session.events('hi')) seen.push(event)
    })()
    const events = [{ type: 'ModelChange', model: 'm', mode: 'lead' }, message('m1', 'x'), { type: 'New' }, finish]
    const stream = (await f.server.next(reply)).open()
    for (const event of events) stream.event('', event)
    await reading
    expect(seen).toEqual(events)
  })

  it('S63: an Error event is an error', async () => {
    const { text, stream } = await prompt(await newSession())
    const failed = expect(text).rejects.toThrow('Provider not set')
    stream.event('', { type: 'Error', error: 'Provider not set' }).end()
    await failed
  })

  it.each<[string, (stream: Received) => void, string]>([
    ['ends', (stream) => {
      stream.end()
    }, 'The reply ended without Finish'],
    ['is cut', (stream) => {
      stream.write(': ').cut()
    }, 'terminated'],
    ['has invalid data', (stream) => {
      stream.write('data: {\n\n')
    }, 'Invalid event of a reply'],
  ])('fails if the stream %s', async (_, lose, error) => {
    const { text, stream } = await prompt(await newSession())
    const failed = expect(text).rejects.toThrow(error)
    lose(stream)
    await failed
    await stream.closed
  })

  it('fails with the status of the server', async () => {
    const text = (await newSession()).prompt('hi')
    const failed = expect(text).rejects.toMatchObject({ status: 422, message: '422: Unprocessable Content' })
    ;(await f.server.next(reply)).replyText(422, 'Failed to deserialize\n')
    await failed
  })

  it('may be cancelled', async () => {
    const controller = new AbortController()
    const text = (await newSession()).prompt('hi', { signal: controller.signal })
    const failed = expect(text).rejects.toThrow('enough')
    const stream = (await f.server.next(reply)).open()
    controller.abort(new Error('enough'))
    await failed
    await stream.closed
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
  })
})

describe('a confirmation', () => {
  it('S63: is denied without a function', async () => {
    const { text, stream } = await prompt(await newSession())
    stream.event('', question)
    const request = await f.server.next(confirmation)
    expect(request.body).toBe('{"id":"q1","action":"deny","sessionId":"s1"}')
    request.reply(200)
    stream.event('', finish)
    expect(await text).toBe('')
  })

  it('S63: is answered by the function', async () => {
    const asked: unknown[] = []
    const session = await newSession({
      confirm: (confirmation) => {
        asked.push(confirmation)
        return Promise.resolve('allow_once')
      },
    })
    const { text, stream } = await prompt(session)
    stream.event('', question)
    const request = await f.server.next(confirmation)
    expect(request.json()).toMatchObject({ action: 'allow_once' })
    expect(asked).toEqual([question.message.content[0]?.data])
    request.reply(200)
    stream.event('', finish)
    await text
  })

  it('may be cancelled while the function waits', async () => {
    const controller = new AbortController()
    const session = await newSession({
      confirm: () => {
        controller.abort(new Error('enough'))
        return new Promise(() => undefined)
      },
    })
    const text = session.prompt('hi', { signal: controller.signal })
    const failed = expect(text).rejects.toThrow('enough')
    const stream = (await f.server.next(reply)).open()
    stream.event('', question)
    await failed
    await stream.closed
  })
})
