import { expect, it, vi } from 'vitest'
import { useFakeTimers } from './testing/fake-timers.ts'
import { Turns } from './turns.ts'

useFakeTimers()

/** A task that ends when the test wants. */
function task(): { run: () => Promise<string>; end: (outcome: string) => void; fail: () => void; hasBegun: () => boolean } {
  let end: (outcome: string) => void = () => undefined
  let fail = (): void => undefined
  const outcome = new Promise<string>((resolve, reject) => {
    end = resolve
    fail = () => { reject(new Error('failed')) }
  })
  const run = vi.fn(() => outcome)
  return { run, end, fail, hasBegun: () => run.mock.calls.length > 0 }
}

it('tasks run one after the other, whether they fail or not', async () => {
  const turns = new Turns()
  const tasks = [task(), task(), task()]
  const outcomes = Promise.allSettled(tasks.map(({ run }) => turns.run(run)))
  const begun = (): boolean[] => tasks.map(({ hasBegun }) => hasBegun())
  expect(begun()).toEqual([true, false, false])
  tasks[0]?.fail()
  await vi.advanceTimersByTimeAsync(0)
  expect(begun()).toEqual([true, true, false])
  tasks[2]?.end('c')
  tasks[1]?.end('b')
  expect(await outcomes).toMatchObject([{ reason: { message: 'failed' } }, { value: 'b' }, { value: 'c' }])
  expect(await turns.run(() => Promise.resolve('d'))).toBe('d')
})

it('at most 100 tasks wait, each of them at most 90 s (G56)', async () => {
  const turns = new Turns()
  const [first, late] = [task(), task()]
  const outcome = turns.run(first.run)
  const waiting = Promise.allSettled(Array.from({ length: 100 }, () => turns.run(late.run)))
  await expect(turns.run(late.run)).rejects.toThrow('100 others wait for their turn')
  await vi.advanceTimersByTimeAsync(90_000)
  expect(await waiting).toMatchObject(Array(100).fill({ reason: { message: 'no turn within 90000 ms' } }))
  first.end('a')
  expect([await outcome, late.hasBegun()]).toEqual(['a', false])
  expect(vi.getTimerCount()).toBe(0)
})

it('those that wait can be failed', async () => {
  const turns = new Turns()
  const [first, second] = [task(), task()]
  const outcomes = Promise.allSettled([turns.run(first.run), turns.run(second.run)])
  turns.failWaiting(new Error('silent'))
  first.end('a')
  expect(await outcomes).toMatchObject([{ value: 'a' }, { reason: { message: 'silent' } }])
  expect(second.hasBegun()).toBe(false)
})
