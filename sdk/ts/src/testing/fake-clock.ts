import { vi } from 'vitest'

/**
 * Fakes the clock of the library alone: the timers of the platform's `fetch` stay real, and do not count. Returns a
 * function that ends it.
 */
export function fakeClock(): () => void {
  const real = { set: setTimeout, clear: clearTimeout }
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const fake = { set: setTimeout, clear: clearTimeout }
  const platform = new WeakSet<NodeJS.Timeout>()
  const set = (...start: Parameters<typeof setTimeout>): NodeJS.Timeout => {
    const caller = new Error().stack?.split('\n')[2] ?? ''
    if (!/node:|node_modules/.test(caller)) return fake.set(...start)
    const timer = real.set(...start)
    platform.add(timer)
    return timer
  }
  globalThis.setTimeout = Object.assign(set, { __promisify__: real.set.__promisify__ })
  globalThis.clearTimeout = (timer) => {
    if (typeof timer === 'object' && platform.has(timer)) real.clear(timer)
    else fake.clear(timer)
  }
  return () => {
    vi.useRealTimers()
    globalThis.setTimeout = real.set
    globalThis.clearTimeout = real.clear
  }
}
