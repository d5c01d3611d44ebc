/**
 * Calls `tick` at every multiple of the interval, counted from now (CT 5.1), until it is stopped. A late tick does not delay
 * later ones. Ticks that were missed while the machine slept are not repeated.
 */
export function startTicker(intervalMs: number, tick: () => void): () => void {
  const start = performance.now()
  let count = 1
  let timer: NodeJS.Timeout

  const schedule = (): void => {
    timer = setTimeout(beat, start + count * intervalMs - performance.now())
  }
  const beat = (): void => {
    // A timer may fire slightly early, so the clock alone must not decide which tick this is.
    count = Math.max(count, Math.floor((performance.now() - start) / intervalMs)) + 1
    schedule()
    tick()
  }

  schedule()
  return () => {
    clearTimeout(timer)
  }
}
