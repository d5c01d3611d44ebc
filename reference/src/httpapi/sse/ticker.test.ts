import { describe, expect, it, vi } from 'vitest'
import { startTicker } from './ticker.ts'
import { useFakeTimers } from '../../testing/fake-timers.ts'

useFakeTimers()

/** Records the times of its ticks, counted from now. */
function start(interval: number): { ticks: number[]; stop: () => void } {
  const begin = performance.now()
  const ticks: number[] = []
  const stop = startTicker(interval, () => ticks.push(performance.now() - begin))
  return { ticks, stop }
}

describe('startMetronome', () => {
  it('ticks at multiples of the interval and never in between (CT 5.1)', () => {
    const { ticks } = start(30_000)
    vi.advanceTimersByTime(29_999)
    expect(ticks).toEqual([])
    vi.advanceTimersByTime(60_001)
    expect(ticks).toEqual([30_000, 60_000, 90_000])
  })

  it('continues with the next multiple after a late, an early or a missed tick', () => {
    let clock = 0
    vi.spyOn(performance, 'now').mockImplementation(() => clock)
    const setTimer = vi.spyOn(globalThis, 'setTimeout')
    const tick = vi.fn()
    startTicker(1000, tick)
    const beatAt = (time: number): number | undefined => {
      clock = time
      vi.runOnlyPendingTimers()
      return setTimer.mock.lastCall?.[1]
    }
    expect(setTimer).toHaveBeenLastCalledWith(expect.any(Function), 1000)
    expect(beatAt(1400)).toBe(600)
    expect(beatAt(1999.5)).toBe(1000.5)
    expect(beatAt(3000)).toBe(1000)
    expect(beatAt(7300)).toBe(700)
    expect(tick).toHaveBeenCalledTimes(4)
  })

  it('stops', () => {
    const { ticks, stop } = start(1000)
    vi.advanceTimersByTime(1000)
    stop()
    expect(vi.getTimerCount()).toBe(0)
    vi.advanceTimersByTime(5000)
    expect(ticks).toEqual([1000])
  })
})
