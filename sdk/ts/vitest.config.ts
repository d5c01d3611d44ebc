import { defineConfig } from 'vitest/config'

export default defineConfig({
  // Examples import the package as its users do.
  resolve: { alias: { '@lockstep/client-tools': new URL('src/index.ts', import.meta.url).pathname } },
  test: {
    include: ['src/**/*.test.ts', 'examples/**/*.test.ts', 'driver/**/*.test.ts'],
    restoreMocks: true,
    // No test waits for the clock, so this limit only ends tests that hang. It is long enough for a busy machine.
    testTimeout: 60_000,
  },
})
