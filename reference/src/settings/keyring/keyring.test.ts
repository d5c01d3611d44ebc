import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { FakeBus, message, nothing, type Reply } from '../../testing/fake-bus.ts'
import { temporaryRoot } from '../../testing/temporary-root.ts'
import { rootPaths } from '../paths.ts'
import { Settings } from '../settings.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})

afterEach(() => {
  vi.useRealTimers()
})

const found: Reply = { signature: 'aoao', values: [['/i'], []] }
const locked: Reply = { signature: 'aoao', values: [[], ['/i']] }
const open: Record<string, Reply> = {
  OpenSession: { signature: 'vo', values: [['s', ''], '/s'] },
  SearchItems: found,
  GetSecret: { signature: '(oayays)', values: [['/s', Buffer.alloc(0), Buffer.from('{"A":"a"}'), 'text/plain']] },
  Unlock: { signature: 'aoo', values: [[], '/p'] },
  Prompt: nothing,
  Dismiss: nothing,
}
const isDismissed = (value: boolean): Buffer =>
  message(4, [[1, 'o', '/p'], [2, 's', 'org.freedesktop.Secret.Prompt'], [3, 's', 'Completed']], 'bv', [value, ['ao', []]])

/** A keyring whose methods have these answers. The file has the secret `F`. */
async function keyring(replies: Record<string, Reply> = {}): Promise<{ bus: FakeBus; secret: (key: string) => Promise<unknown> }> {
  const root = temporaryRoot()
  mkdirSync(join(root, 'config'))
  writeFileSync(join(root, 'config/secrets.yaml'), 'F: f\n')
  const bus = await FakeBus.start({ ...open, ...replies })
  const settings = new Settings(rootPaths(root), { DBUS_SESSION_BUS_ADDRESS: bus.address })
  onTestFinished(() => {
    settings.close()
  })
  return { bus, secret: (key) => settings.secret(key) }
}

/** Waits for a call, and then until so much time has passed. */
async function silent(bus: FakeBus, member: string, ms: number): Promise<void> {
  await bus.next(member)
  await vi.advanceTimersByTimeAsync(ms)
}

describe('a bus that does not answer in 5 s (G53)', () => {
  it.each(['Hello', 'OpenSession'])('%s is no keyring', async (member) => {
    const { bus, secret } = await keyring({ [member]: undefined })
    const read = secret('F')
    await silent(bus, member, 5000)
    expect(await read).toBe('f')
    expect([await secret('A'), bus.connections]).toEqual([undefined, 1])
  })
})

describe('the connection to the keyring (G56)', () => {
  it('ends if a call takes more than 5 s, and the next access connects again', async () => {
    const { bus, secret } = await keyring({ SearchItems: undefined })
    const reads = Promise.allSettled([secret('A'), secret('B')]) // the second one waits for its turn, and fails with the first
    await silent(bus, 'SearchItems', 4999)
    bus.replies.SearchItems = found
    await vi.advanceTimersByTimeAsync(1)
    expect(await reads).toMatchObject(Array(2).fill({ reason: { message: 'no answer to SearchItems within 5000 ms' } }))
    expect([await secret('A'), bus.connections]).toEqual(['a', 2])
  })

  it.each<[string, Reply]>([
    ['has other types', { signature: 'ao', values: [['/i']] }],
    ['is no message', { bytes: Buffer.from('HTTP/1.1 400 Bad Request') }],
    ['has more than 16 MiB', { bytes: Buffer.from('6c0200010000000101000000080000000501750002000000', 'hex') }],
  ])('ends if an answer %s', async (_, reply) => {
    const { bus, secret } = await keyring({ SearchItems: reply })
    await expect(secret('A')).rejects.toThrow()
    bus.replies.SearchItems = found
    expect([await secret('A'), bus.connections]).toEqual(['a', 2])
  })

  it('begins again if the service has been restarted, without a failure', async () => {
    const { bus, secret } = await keyring({ GetSecret: { error: 'org.freedesktop.Secret.Error.NoSession' } })
    const read = secret('A')
    await bus.next('GetSecret')
    bus.replies.GetSecret = open.GetSecret
    expect([await read, bus.connections]).toEqual(['a', 2])
    bus.replies.GetSecret = { error: 'org.freedesktop.Secret.Error.NoSession' }
    await expect(secret('A')).rejects.toThrow('NoSession')
    expect([bus.connections, bus.called.filter((member) => member === 'GetSecret').length]).toEqual([3, 4])
  })

  it('stays if the answer is another error', async () => {
    const { bus, secret } = await keyring({ SearchItems: { error: 'org.freedesktop.DBus.Error.Failed' } })
    await expect(secret('A')).rejects.toThrow('SearchItems: org.freedesktop.DBus.Error.Failed')
    bus.replies.SearchItems = found
    expect([await secret('A'), bus.connections]).toEqual(['a', 1])
  })
})

describe('a prompt of the keyring (G56)', () => {
  it('is shared by all accesses, and its signal may come before the answer', async () => {
    const { bus, secret } = await keyring({ SearchItems: locked, Prompt: undefined })
    const reads = Promise.all([secret('A'), secret('A')])
    await bus.next('Prompt')
    bus.replies.SearchItems = found
    bus.send(isDismissed(false))
    bus.send(message(2, [[5, 'u', 6]])) // Prompt is the sixth call
    expect(await reads).toEqual(['a', 'a'])
    expect(bus.called.filter((member) => member === 'Prompt')).toHaveLength(1)
  })

  it('is dismissed after 60 s, and not opened again for 60 s', async () => {
    const { bus, secret } = await keyring({ SearchItems: locked })
    const read = expect(secret('A')).rejects.toThrow('not answered')
    await bus.next('Prompt')
    while (vi.getTimerCount() > 1) await new Promise(setImmediate) // until the answer has ended the limit of that call
    const dismissed = bus.next('Dismiss')
    await vi.advanceTimersByTimeAsync(60_000)
    await Promise.all([read, dismissed])
    await vi.advanceTimersByTimeAsync(59_999)
    await expect(secret('A')).rejects.toThrow('refused')
    await vi.advanceTimersByTimeAsync(1)
    const again = secret('A')
    await bus.next('Prompt')
    bus.send(isDismissed(false))
    expect(await again).toBe('a')
  })

  it('counts as not answered if its connection breaks', async () => {
    const { bus, secret } = await keyring({ SearchItems: locked })
    const read = expect(secret('A')).rejects.toThrow('not answered')
    await bus.next('Prompt')
    bus.hangUp()
    await read
    await expect(secret('A')).rejects.toThrow('refused')
    expect([bus.connections, bus.called.filter((member) => member === 'Prompt')]).toEqual([2, ['Prompt']])
  })
})
