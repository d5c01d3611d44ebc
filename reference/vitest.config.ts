import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'story/**/*.test.ts'],
    globalSetup: 'src/testing/build-programs.ts',
    // Files share the modules that they import: a process for each file would take half of the time. So tests mock no modules.
    isolate: false,
    restoreMocks: true,
    // No test waits for the clock, so this limit only ends tests that hang. It is long enough for a busy machine.
    testTimeout: 120_000,
  },
})
