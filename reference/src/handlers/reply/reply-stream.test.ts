import { describe, expect, it, vi } from 'vitest'
import type { MessageEvent } from '#contract'
import { Confirmations } from '../../engine/pending/confirmations.ts'
import { Elicitations } from '../../engine/pending/elicitations.ts'
import { useFakeTimers } from '../../testing/fake-timers.ts'
import { someSession } from '../../testing/some-session.ts'
import { shortName } from '../../engine/turn/session-naming.ts'
import { ClientDisconnectedError, ReplyStream } from './reply-stream.ts'
import { objectOf } from '../../wire/json/ordered.ts'
import { stringifyJson } from '../../wire/json/stringify.ts'
import { coerced } from '../../engine/turn/coerce-arguments.ts'

useFakeTimers()

const event: MessageEvent = { type: 'Error', error: 'x' }
const never = new AbortController().signal

describe('ReplyStream', () => {
  it('blocks the sender when a hundred events are queued, and then leaves out pings', async () => {
    const stream = new ReplyStream()
    const reader = stream.body.getReader()
    for (let i = 0; i < 100; i++) await stream.send(event)
    let sent = false
    const late = stream.send(event).then(() => {
      sent = true
    })
    stream.startPings()
    await vi.advanceTimersByTimeAsync(5000)
    expect(sent).toBe(false)
    await reader.read()
    await late
    stream.end()
    let rest = 0
    for (let part = await reader.read(); !part.done; part = await reader.read()) rest++
    expect(rest).toBe(100)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('blocks the sender when 8 MiB are queued', async () => {
    const stream = new ReplyStream()
    await stream.send({ type: 'Error', error: 'x'.repeat(8 * 1024 * 1024) })
    let sent = false
    const late = stream.send(event).then(() => (sent = true))
    await vi.advanceTimersByTimeAsync(0)
    expect(sent).toBe(false)
    await stream.body.cancel()
    await expect(late).rejects.toThrow(ClientDisconnectedError)
  })

  it('tells waiting and later senders that the client has disconnected', async () => {
    const stream = new ReplyStream()
    stream.startPings()
    for (let i = 0; i < 99; i++) await stream.send(event)
    const waiting = stream.send(event)
    await stream.body.cancel()
    await expect(waiting).rejects.toThrow(ClientDisconnectedError)
    await expect(stream.send(event)).rejects.toThrow(ClientDisconnectedError)
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('AskedConfirmations', () => {
  it('keeps 32 early decisions, and forgets cancelled questions', async () => {
    const { session } = await someSession()
    const all = new Confirmations()
    const confirmations = all.begin(session)
    for (let i = 0; i < 33; i++) all.answer(session, String(i), 'deny')
    expect(await confirmations.wait('1', never)).toBe('deny')
    const leaving = new AbortController()
    const left = confirmations.wait('0', leaving.signal)
    leaving.abort(new Error('gone'))
    await expect(left).rejects.toThrow('gone')
    all.answer(session, '0', 'allow_once')
    expect(await confirmations.wait('0', never)).toBe('allow_once')
  })
})

describe('Elicitations', () => {
  it('wait for 300 s', async () => {
    const elicitations = new Elicitations()
    const { session } = await someSession()
    const answered = elicitations.wait(session, 'a', never)
    const failed = expect(elicitations.wait(session, 'b', never)).rejects.toThrow('no answer within 300 s')
    elicitations.answer((await someSession()).session, 'a', { x: 0 })
    elicitations.answer(session, 'a', { x: 1 })
    expect(await answered).toEqual({ x: 1 })
    await vi.advanceTimersByTimeAsync(299_999)
    expect([elicitations.has(session, 'a'), elicitations.has(session, 'b')]).toEqual([false, true])
    await vi.advanceTimersByTimeAsync(1)
    await failed
    expect(elicitations.has(session, 'b')).toBe(false)
  })
})

describe('shortName (M22)', () => {
  it('is one line of at most 100 characters', () => {
    expect(shortName('  a\n\t b ')).toBe('a b')
    expect(shortName('😀'.repeat(100))).toBe('😀'.repeat(100))
    expect(shortName('😀'.repeat(101))).toBe(`${'😀'.repeat(97)}...`)
  })
})

describe('coerced (GA 7.8)', () => {
  it("converts only texts that have the form of the schema's type", () => {
    const properties = { i: { type: 'integer' }, n: { type: 'number' }, b: { type: 'boolean' }, s: { type: 'string' }, u: { type: ['integer', 'string'] } }
    const schema = { type: 'object', properties }
    expect(coerced({ i: '5', n: '1.5', b: 'true', s: '5', u: '5', other: '5' }, schema)).toEqual({ i: 5, n: 1.5, b: true, s: '5', u: '5', other: '5' })
    const mixed = objectOf([['s', '1'], ['7', '5'], ['0', { b: 1 }]])
    expect(stringifyJson(coerced(mixed, { properties: { 7: { type: 'integer' } } }))).toBe('{"s":"1","7":5,"0":{"b":1}}')
    expect(coerced({ i: '1.5', n: 'NaN', b: 'yes' }, schema)).toEqual({ i: '1.5', n: 'NaN', b: 'yes' })
  })
})
