import { vi } from 'vitest'

/** Waits until the check passes. It fails only after a time that is long enough for a busy machine. */
export async function eventually(check: () => void | Promise<void>): Promise<void> {
  await vi.waitFor(check, { timeout: 100_000 })
}
