// Builds dist: the library as modules with their types, and the driver as one file that needs nothing but Node.
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { build } from 'esbuild'

rmSync('dist', { recursive: true, force: true })
execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '--project', 'tsconfig.build.json'], { stdio: 'inherit' })
await build({
  entryPoints: ['driver/driver.ts'],
  outfile: 'dist/driver.js',
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  logLevel: 'warning',
  // The library for sockets is CommonJS.
  banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)" },
})
