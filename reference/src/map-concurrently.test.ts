import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { mapConcurrently } from './map-concurrently.ts'

describe('mapConcurrently', () => {
  it('runs a limited number at the same time, and keeps their order (M67)', async () => {
    const running = new Map<number, () => void>()
    const most: number[] = []
    const all = mapConcurrently(3, [0, 1, 2, 3, 4, 5, 6], async (item) => {
      await new Promise<void>((resolve) => running.set(item, resolve))
      running.delete(item)
      return `item ${item}`
    })
    while (running.size > 0) {
      most.push(running.size)
      ;[...running.values()].at(-1)?.()
      await nextTurn()
    }
    expect(await all).toEqual([0, 1, 2, 3, 4, 5, 6].map((item) => `item ${item}`))
    expect(most).toEqual([3, 3, 3, 3, 3, 2, 1])
    expect(await mapConcurrently(3, [], () => Promise.resolve(1))).toEqual([])
  })

  it('starts no more after a failure', async () => {
    const begun: number[] = []
    const all = mapConcurrently(2, [0, 1, 2, 3], async (item) => {
      begun.push(item)
      await nextTurn()
      throw new Error(`no ${item}`)
    })
    await expect(all).rejects.toThrow('no 0')
    await nextTurn()
    expect(begun).toEqual([0, 1])
  })
})
