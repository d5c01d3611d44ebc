import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'story/**/*.test.ts'],
    restoreMocks: true,
    // No test waits for a clock, so this only bounds one that hangs; a busy machine must not look like that.
    testTimeout: 20_000,
  },
})
