import type { StdioExtension } from '#contract'
import { createServer } from 'node:http'
import { describe, expect, it } from 'vitest'
import { rootPaths } from '../../settings/paths.ts'
import { Settings } from '../../settings/settings.ts'
import { temporaryRoot } from '../../testing/temporary-root.ts'
import { checkPackage } from './package-check.ts'
import { onLoopback } from '../../testing/on-loopback.ts'

const { signal } = new AbortController()

/** Checks a command against a scripted database, which repeats its last answer. Returns the queries and the outcome. */
async function check(cmd: string, args: string[], answers: string[] = ['{}']): Promise<{ asked: unknown[]; outcome: string }> {
  const asked: unknown[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      asked.push(JSON.parse(Buffer.concat(chunks).toString()))
      response.end(answers[asked.length - 1] ?? answers.at(-1))
    })
  })
  const endpoint = `${await onLoopback(server)}/v1/query`
  const settings = new Settings(rootPaths(temporaryRoot()), { OSV_ENDPOINT: endpoint })
  const config: StdioExtension = {
    type: 'stdio', name: 'x', description: '', cmd, args, envs: {}, env_keys: [], timeout: null, bundled: null, available_tools: [],
  }
  const outcome = await checkPackage(config, settings, signal).then(() => 'allowed', String)
  return { asked, outcome }
}

const bad = '{"vulns":[{"id":"MAL-1"}]}'

describe('the packages of commands (GA 29.3)', () => {
  it.each<[cmd: string, args: string[], asked: object]>([
    ['npx', ['-y', 'a'], { package: { name: 'a', ecosystem: 'npm' } }],
    ['npx', ['a@1.2.3', 'b'], { version: '1.2.3', package: { name: 'a', ecosystem: 'npm' } }],
    ['/x/npx', ['@s/a@latest'], { package: { name: '@s/a', ecosystem: 'npm' } }],
    ['npx', ['@s/a@2'], { version: '2', package: { name: '@s/a', ecosystem: 'npm' } }],
    ['npx', ['@s/a'], { package: { name: '@s/a', ecosystem: 'npm' } }],
    ['uvx', ['a[x]==1'], { version: '1', package: { name: 'a[x]', ecosystem: 'PyPI' } }],
    ['uvx', ['a@1'], { package: { name: 'a@1', ecosystem: 'PyPI' } }],
  ])('of %s %j are looked up', async (cmd, args, asked) => {
    expect(await check(cmd, args)).toEqual({ asked: [asked], outcome: 'allowed' })
  })

  it('are not looked up when there is no package', async () => {
    expect(await check('npm', ['a'], [bad])).toEqual({ asked: [], outcome: 'allowed' })
    expect(await check('uvx', ['--a'], [bad])).toEqual({ asked: [], outcome: 'allowed' })
  })

  it('are rejected for an advisory on any page, and allowed when there are too many pages or bytes (X10)', async () => {
    const { asked, outcome } = await check('npx', ['a'], ['{"next_page_token":"2"}', bad])
    expect(asked[1]).toEqual({ package: { name: 'a', ecosystem: 'npm' }, page_token: '2' })
    expect(outcome).toBe('ExtensionError: invalid config: Blocked malicious package: a@<any> (npm). OSV MAL advisories: MAL-1')
    const endless = await check('npx', ['a'], ['{"vulns":[{"id":"MAL-1"}],"next_page_token":"2"}'])
    expect([endless.asked.length, endless.outcome]).toEqual([10, 'allowed'])
    expect(await check('npx', ['a'], [`{"vulns":[{"id":"MAL-1"}],"x":"${'x'.repeat(4 << 20)}"}`])).toMatchObject({ outcome: 'allowed' })
  })
})
