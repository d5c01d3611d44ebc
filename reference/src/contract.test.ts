import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'

const root = join(import.meta.dirname, '..')
const bin = (name: string): string => join(root, 'node_modules', '.bin', name)

/** Changes of openapi.yaml, each with the file of the server that must stop compiling. */
const changes: { what: string; from: string | RegExp; to: string; breaks: string }[] = [
  { what: 'a path is renamed', from: '  /agent/stop:', to: '  /agent/end:', breaks: 'routes.ts' },
  { what: 'a path parameter is renamed', from: '      name: clientID\n      in: path', to: '      name: client\n      in: path', breaks: 'handlers/client-tools/pending-stream.ts' },
  { what: 'a query parameter is renamed', from: 'name: extension_name', to: 'name: extension', breaks: 'handlers/agents/tool-list.ts' },
  { what: 'a request has one more required field', from: 'required: [provider, session_id]\n      properties:', to: 'required: [provider, session_id, region]\n      properties:\n        region: {type: string}', breaks: 'handlers/agents/provider.ts' },
  { what: 'a response field is renamed', from: /totalSessions/g, to: 'sessionCount', breaks: 'handlers/sessions/handlers.ts' },
  { what: 'an optional field is renamed', from: 'thoughtSignature: {', to: 'signature: {', breaks: 'domain/message/content.ts' },
  { what: 'a field of an event has another value', from: 'enum: [stop]', to: 'enum: [end]', breaks: 'handlers/reply/handlers.ts' },
  { what: 'a status is renamed', from: /(operationId: registerClientTools[^]*?)'200'/, to: "$1'201'", breaks: 'handlers/client-tools/handlers.ts' },
  { what: 'an error field is renamed', from: '    ErrorResponse:\n      type: object\n      required: [message]\n      properties:\n        message:', to: '    ErrorResponse:\n      type: object\n      required: [reason]\n      properties:\n        reason:', breaks: 'httpapi/goose-errors.ts' },
  { what: 'an error status is renamed', from: /(operationId: stopAgent[^]*?)'404'/, to: "$1'410'", breaks: 'handlers/agents/handlers.ts' },
  { what: 'an error gets a body', from: /(operationId: getDiagnostics[^]*?responses\/Failed)/, to: '$1WithMessage', breaks: 'handlers/status/diagnostics.ts' },
  { what: 'an error of all bodies is missing', from: /(operationId: removeExtension[^]*?)'413'/, to: "$1'414'", breaks: 'handlers/agents/extensions.ts' },
]

it('a change of openapi.yaml breaks the build of the server', { timeout: 300_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'contract-'))
  onTestFinished(() => {
    rmSync(folder, { recursive: true })
  })
  let contract = readFileSync(join(root, '../openapi.yaml'), 'utf8')
  for (const { what, from, to } of changes) {
    const changed = contract.replace(from, to)
    expect(changed, `${what}: openapi.yaml does not have it any more, so change the test`).not.toBe(contract)
    contract = changed
  }
  writeFileSync(join(folder, 'openapi.yaml'), contract)
  const env = { ...process.env, GEN_OPENAPI: join(folder, 'openapi.yaml'), GEN_TS: join(folder, 'gen') }
  execFileSync(bin('openapi-ts'), { cwd: root, env, stdio: 'pipe' })
  const config = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: { paths: { '#contract': [join(folder, 'gen/server/types.gen.ts')] }, typeRoots: [join(root, 'node_modules/@types')] },
    files: [join(root, 'src/main.ts')],
    include: [],
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  const { status, stdout } = spawnSync(bin('tsc'), ['--project', folder, '--pretty', 'false'], { cwd: root, encoding: 'utf8' })
  expect(status).not.toBe(0)
  const broken = new Set([...stdout.matchAll(/^src\/(\S+)\(\d+,\d+\): error/gm)].map(([, file]) => file))
  expect(changes.filter(({ breaks }) => !broken.has(breaks)), stdout).toEqual([])
})
