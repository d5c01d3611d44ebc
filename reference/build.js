// Builds dist, or the folder that is given: the program as one function, its compiled code, and main.js, which runs both; and
// telemetry.cjs. Without the compiled code, a start takes twice the time, because Node compiles two megabytes first.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Script } from 'node:vm'
import { build } from 'esbuild'

const out = process.argv[2] ?? 'dist'
const options = { platform: 'node', target: 'node20', logLevel: 'warning' }
// The libraries of OpenTelemetry are a file of their own, which servers without telemetry do not read.
const telemetryApart = {
  name: 'telemetry apart',
  setup: ({ onResolve }) => {
    onResolve({ filter: /^\.\/sdk\.ts$/ }, ({ kind }) => (kind === 'dynamic-import' ? { path: './telemetry.cjs', external: true } : undefined))
  },
}
rmSync(out, { recursive: true, force: true })
await build({
  ...options,
  entryPoints: ['src/main.ts'],
  outfile: join(out, 'server.cjs'),
  bundle: true,
  format: 'cjs',
  define: { 'import.meta.url': 'programUrl' },
  plugins: [telemetryApart],
  supported: { 'dynamic-import': false }, // a Script can only require
  banner: { js: '(function (require, programUrl) {' },
  footer: { js: '})' },
})
await build({ ...options, entryPoints: ['src/telemetry/sdk.ts'], outfile: join(out, 'telemetry.cjs'), bundle: true, format: 'cjs' })
await build({ ...options, entryPoints: ['src/launch.ts'], outfile: join(out, 'main.js'), format: 'esm' })

// V8 compiles a function when it is first called. A server that has started has called what a start needs.
const program = resolve(join(out, 'server.cjs'))
const script = new Script(readFileSync(program, 'latin1'), { filename: program })
const root = mkdtempSync(join(tmpdir(), 'reference-build-'))
process.on('exit', () => {
  rmSync(root, { recursive: true, force: true })
  writeFileSync(join(out, 'server.cache'), script.createCachedData())
})
process.argv = [process.execPath, resolve(join(out, 'main.js')), 'agent', '--port', '0']
process.env = { GOOSE_PATH_ROOT: root, GOOSE_DISABLE_KEYRING: '1' }
process.stderr.write = () => true
process.stdout.write = () => process.kill(process.pid, 'SIGTERM') // it says that it listens
script.runInThisContext()(createRequire(import.meta.url), pathToFileURL(resolve(join(out, 'main.js'))).href)
