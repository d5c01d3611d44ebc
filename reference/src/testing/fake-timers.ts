import { afterEach, beforeEach, vi } from 'vitest'

/** Fakes the timers and the clock in every test of a file. The clock starts at `now`. */
export function useFakeTimers(now?: number): void {
  beforeEach(() => {
    vi.useFakeTimers({ ...(now !== undefined && { now }) })
  })

  afterEach(() => {
    vi.restoreAllMocks()
    vi.useRealTimers()
  })
}
