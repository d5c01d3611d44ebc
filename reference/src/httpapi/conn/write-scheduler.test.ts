import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { WriteScheduler } from './write-scheduler.ts'

const mebi = 1024 * 1024

describe('WriteTurns', () => {
  it('writes a few megabytes in a turn, and the rest waits in order', async () => {
    const turns = new WriteScheduler()
    const written: number[] = []
    const write = async (name: number): Promise<void> => {
      await turns.take(mebi)
      written.push(name)
    }
    const writers = Array.from({ length: 10 }, (_, name) => write(name))
    await Promise.resolve()
    expect(written).toEqual([0, 1, 2, 3])
    await nextTurn()
    expect(written).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
    await Promise.all(writers)
    expect(written).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  })

  it('never delays a small response', () => {
    const turns = new WriteScheduler()
    const waits = Array.from({ length: 10 }, () => turns.take(mebi))
    expect(waits.filter((one) => one !== undefined)).toHaveLength(6)
    expect(turns.take(100)).toBeUndefined()
  })

  it('counts many small writes like a large one', () => {
    const turns = new WriteScheduler()
    const waits = Array.from({ length: 1000 }, () => turns.take(5000))
    expect(waits.filter((one) => one === undefined).length).toBeLessThan(250)
  })
})
