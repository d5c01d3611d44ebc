import { describe, expect, it } from 'vitest'
import { loadConfig, type ConfiguredOptions } from './config.ts'

const defaults: ConfiguredOptions = {
  host: '127.0.0.1',
  port: 3000,
  directory: '/work',
  defaultTimeout: 30_000,
  keepaliveInterval: 30_000,
  maxBody: 52_428_800,
  bodyGrace: 10_000,
  clientTools: { maxTools: 1000, maxClients: 10_000 },
  permission: 'allow',
  rateLimit: { calls: 100, windowMs: 60_000 },
  hooks: { before: [], after: [] },
  allowedOrigins: [],
  hostName: undefined,
  secretKey: 'test',
  paths: { config: '/home/me/.config/goose', data: '/home/me/.local/share/goose', state: '/home/me/.local/state/goose' },
  environment: {},
  maxActiveAgents: 100,
}

const defaultFile = '/home/me/.config/opencode/config.json'

interface Given {
  flags?: string[]
  env?: Record<string, string>
  files?: Record<string, string>
}

/** The options, or the problems as the user sees them. */
async function load({ flags = [], env = {}, files = {} }: Given): Promise<ConfiguredOptions | string[]> {
  const loaded = await loadConfig(flags, {
    env: { HOME: '/home/me', ...env },
    home: '/home/me',
    workingDirectory: '/work',
    readFile: (path) => {
      const text = files[path]
      if (text !== undefined) return Promise.resolve(Buffer.from(text))
      return Promise.reject(Object.assign(new Error(`ENOENT: no such file, open '${path}'`), { code: 'ENOENT' }))
    },
  })
  // The environment is passed on unchanged.
  return loaded.ok ? { ...loaded.options, environment: {} } : loaded.problems.map(({ where, what }) => `${where}: ${what}`)
}

describe('where a value comes from (docs/server.md)', () => {
  it('is the default if nothing is set', async () => {
    expect(await load({})).toEqual(defaults)
  })

  const flags = [
    ['--host', '::1'],
    ['--port=0'],
    ['--directory', ' relative/../x '],
    ['--default-timeout', '1'],
    ['--keepalive-interval=2'],
    ['--max-body', '3'],
    ['--body-grace', '4'],
  ].flat()
  const env = {
    GOOSE_HOST: '0.0.0.0',
    GOOSE_PORT: '65535',
    AGENTD_DIRECTORY: '/env',
    AGENTD_DEFAULT_TIMEOUT: '11',
    AGENTD_KEEPALIVE_INTERVAL: '12',
    AGENTD_MAX_BODY: '13',
    AGENTD_BODY_GRACE: '14',
    GOOSE_SERVER__SECRET_KEY: 'key',
  }
  const file = '{"clientTools":{"defaultTimeout":21,"keepaliveInterval":22.0,"maxTools":5,"maxClients":6,"x":1},"y":[]}'

  it('is the environment if there is no flag for it', async () => {
    const env = { GOOSE_SERVER__SECRET_KEY: 'key', GOOSE_MAX_ACTIVE_AGENTS: '2', GOOSE_PATH_ROOT: '/r' }
    const paths = { config: '/r/config', data: '/r/data', state: '/r/state' }
    expect(await load({ env })).toEqual({ ...defaults, secretKey: 'key', maxActiveAgents: 2, paths })
    expect(await load({ env: { GOOSE_PATH_ROOT: '' } })).toEqual(defaults)
    expect(await load({ env: { HOME: '' } })).toEqual([
      'environment: HOME is not set; it, or GOOSE_PATH_ROOT, must name a directory',
    ])
    expect(await load({ env: { GOOSE_MAX_ACTIVE_AGENTS: '0' } })).toEqual([
      'environment: GOOSE_MAX_ACTIVE_AGENTS is "0"; it must be a whole number, at least 1',
    ])
  })

  it('is a flag before anything else', async () => {
    expect(await load({ flags, env, files: { [defaultFile]: file } })).toMatchObject({
      host: '::1',
      port: 0,
      directory: ' relative/../x ',
      defaultTimeout: 1,
      keepaliveInterval: 2,
      maxBody: 3,
      bodyGrace: 4,
    })
  })

  it('is the environment before the file', async () => {
    expect(await load({ env, files: { [defaultFile]: file } })).toMatchObject({
      host: '0.0.0.0',
      port: 65535,
      directory: '/env',
      defaultTimeout: 11,
      keepaliveInterval: 12,
      maxBody: 13,
      bodyGrace: 14,
    })
  })

  it('is the file before the default', async () => {
    expect(await load({ files: { [defaultFile]: file } })).toEqual({
      ...defaults,
      defaultTimeout: 21,
      keepaliveInterval: 22,
      clientTools: { maxTools: 5, maxClients: 6 },
    })
  })

  it('is another file if one is named', async () => {
    const files = { [defaultFile]: '{', a: '{"clientTools":{"defaultTimeout":1}}', b: '\ufeff{}' }
    expect(await load({ flags: ['--config', 'a'], env: { AGENTD_CONFIG: 'b' }, files })).toMatchObject({ defaultTimeout: 1 })
    expect(await load({ env: { AGENTD_CONFIG: 'b' }, files })).toEqual(defaults)
  })

  it('is the last of several flags', async () => {
    expect(await load({ flags: ['--port', '1', '--port', '2'] })).toMatchObject({ port: 2 })
  })

  it('is not a variable that is empty', async () => {
    expect(await load({ env: { GOOSE_HOST: '', GOOSE_PORT: '', AGENTD_CONFIG: '' } })).toEqual(defaults)
  })

  it('may have leading zeros, and any number of digits (S34)', async () => {
    expect(await load({ flags: ['--port', '00', '--default-timeout=007'], env: { AGENTD_MAX_BODY: '0010' } })).toEqual({
      ...defaults,
      port: 0,
      defaultTimeout: 7,
      maxBody: 10,
    })
    const many = '9'.repeat(400)
    expect(await load({ flags: ['--max-body', many, '--keepalive-interval', many] })).toMatchObject({
      keepaliveInterval: 2147483647,
      maxBody: Infinity,
    })
  })

  it('is at most what a timer allows (S34)', async () => {
    const files = { [defaultFile]: '{"clientTools":{"defaultTimeout":1e300,"keepaliveInterval":2147483648}}' }
    const capped = { defaultTimeout: 2147483647, keepaliveInterval: 2147483647 }
    expect(await load({ files })).toMatchObject(capped)
    expect(await load({ flags: ['--default-timeout', '99999999999', '--keepalive-interval', '2147483648'] })).toMatchObject(capped)
  })
})

describe('the default secret (S45)', () => {
  const warnings = async (flags: string[], env: Record<string, string> = {}): Promise<unknown> => {
    const loaded = await loadConfig(flags, { env: { HOME: '/', ...env }, home: '/', workingDirectory: '/', readFile: () => Promise.resolve(Buffer.from('{}')) })
    return loaded.ok ? loaded.warnings : loaded.problems
  }

  it.each(['127.0.0.1', '127.255.0.9', '::1', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1'])('causes a warning on %s', async (host) => {
    expect(await warnings(['--host', host])).toEqual([expect.stringContaining('GOOSE_SERVER__SECRET_KEY')])
    expect(await warnings(['--host', host], { GOOSE_SERVER__SECRET_KEY: 'test' })).toHaveLength(1)
    expect(await warnings(['--host', host], { GOOSE_SERVER__SECRET_KEY: 'other' })).toEqual([])
  })

  it('may be used anywhere with the flag --insecure', async () => {
    expect(await load({ flags: ['--host', '0.0.0.0', '--insecure'] })).toEqual({ ...defaults, host: '0.0.0.0' })
    expect(await load({ flags: ['--host', '0.0.0.0'], env: { GOOSE_SERVER__SECRET_KEY: 'key' } })).toMatchObject({ secretKey: 'key' })
  })
})

describe('a problem keeps the server from starting (S7)', () => {
  it.each<[given: Given, problem: string]>([
    [{ flags: ['--host', 'localhost'] }, 'command line: --host is "localhost"; it must be an IP address, such as 127.0.0.1 or ::1'],
    [{ env: { GOOSE_HOST: '[::1]' } }, 'environment: GOOSE_HOST is "[::1]"; it must be an IP address, such as 127.0.0.1 or ::1'],
    ...['65536', '065536', '-1', '-0', '+1', '1.5', '1e3', '0x10', '1_0', ' 5', '5 ', '', '٣', 'http'].map((port): [Given, string] => [
      { flags: ['--port', port] },
      `command line: --port is "${port}"; it must be a whole number from 0 to 65535`,
    ]),
    [{ env: { GOOSE_PORT: 'x' }, flags: ['--port', '1'] }, 'environment: GOOSE_PORT is "x"; it must be a whole number from 0 to 65535'],
    [{ flags: ['--directory='] }, 'command line: --directory is ""; it must name a directory'],
    [{ flags: ['--max-body', '0'] }, 'command line: --max-body is "0"; it must be a whole number of bytes, at least 1'],
    [
      { env: { AGENTD_DEFAULT_TIMEOUT: '0' } },
      'environment: AGENTD_DEFAULT_TIMEOUT is "0"; it must be a whole number of milliseconds, at least 1',
    ],
    [
      { flags: ['--keepalive-interval', '1e3'] },
      'command line: --keepalive-interval is "1e3"; it must be a whole number of milliseconds, at least 1',
    ],
    [{ flags: ['--port', 'x', '--port', '1'] }, 'command line: --port is "x"; it must be a whole number from 0 to 65535'],
    [{ flags: ['--port'] }, 'command line: --port has no value'],
    [
      { flags: ['--prot', '1'].slice(0, 1) },
      'command line: "--prot" is not a flag; there are --host, --port, --config, --directory, --default-timeout, --keepalive-interval, --max-body, --body-grace, --allow-origin, --host-name, --insecure, --exit-with-stdin',
    ],
    [{ flags: ['--config', 'none'] }, "none: the file cannot be read: ENOENT: no such file, open 'none'"],
    ...['null', '[]', '"x"', '5', 'true'].map((text): [Given, string] => [
      { files: { [defaultFile]: text } },
      `${defaultFile}: the file is ${text}; it must be an object`,
    ]),
    [{ files: { [defaultFile]: '{"clientTools":[]}' } }, `${defaultFile}: clientTools is []; it must be an object`],
    [{ files: { [defaultFile]: '{"clientTools":null}' } }, `${defaultFile}: clientTools is null; it must be an object`],
    ...['"fast"', '0', '-1', '1.5', 'null', 'true', '"5"'].map((value): [Given, string] => [
      { flags: ['--config', 'config.json'], files: { 'config.json': `{"clientTools":{"keepaliveInterval":${value}}}` } },
      `config.json: clientTools.keepaliveInterval is ${value}; it must be a whole number of milliseconds, at least 1`,
    ]),
    ...['0', '1.5', '"5"'].map((value): [Given, string] => [
      { flags: ['--config', 'f'], files: { f: `{"clientTools":{"maxTools":${value}}}` } },
      `f: clientTools.maxTools is ${value}; it must be a whole number, at least 1`,
    ]),
    [{ env: { GOOSE_SERVER__SECRET_KEY: '' } }, 'environment: GOOSE_SERVER__SECRET_KEY is empty; it must be a secret text, or not set'],
    [{ flags: ['--insecure=yes'] }, expect.stringContaining('"--insecure=yes" is not a flag') as string],
    ...['0.0.0.0', '::', '10.0.0.1', '128.0.0.1', '::2'].flatMap((host): [Given, string][] => [
      [{ flags: ['--host', host] }, expect.stringContaining('GOOSE_SERVER__SECRET_KEY is test') as string],
      [{ env: { GOOSE_HOST: host, GOOSE_SERVER__SECRET_KEY: 'test' } }, expect.stringContaining('--insecure') as string],
    ]),
    ...['1e400', '-1e400'].map((value): [Given, string] => [
      { flags: ['--config', 'f'], files: { f: `{"clientTools":{"defaultTimeout":${value}}}` } },
      `f: clientTools.defaultTimeout is ${Number(value)}; it must be a whole number of milliseconds, at least 1`,
    ]),
  ])('with %j is reported as %s', async (given, problem) => {
    expect(await load(given)).toEqual([problem])
  })

  it('quotes only a part of a long value', async () => {
    const problems = await load({ files: { [defaultFile]: '['.repeat(9000) + ']'.repeat(9000) } })
    expect(problems).toEqual([`${defaultFile}: the file is ${'['.repeat(100)}…; it must be an object`])
  })

  it('in the syntax of the file has the position from the parser', async () => {
    const [problem] = (await load({ files: { [defaultFile]: '{"a":}' } })) as string[]
    expect(problem).toMatch(/^\/home\/me\/\.config\/opencode\/config\.json: the file is not JSON: .*'}'/)
    const lines = await load({ files: { [defaultFile]: '{\n  "a": x\n}\n' } })
    expect(lines).toEqual([expect.stringMatching(/: the file is not JSON: Unexpected token 'x', .*$/)])
  })

  it('is reported together with all others', async () => {
    const files = { f: '{"clientTools":{"defaultTimeout":0,"keepaliveInterval":0}}' }
    const problems = await load({ flags: ['--port', 'x', 'y', '--config', 'f'], env: { AGENTD_MAX_BODY: 'z' }, files })
    expect(problems).toHaveLength(5)
  })
})

describe('who may use the client tools (CT 9.3, S70)', () => {
  const file = (json: unknown): Given => ({ files: { [defaultFile]: JSON.stringify(json) } })

  it('is said by all flags, else the variable, else the file', async () => {
    const given = { ...file({ allowedOrigins: ['https://file.example'] }), env: { AGENTD_ALLOWED_ORIGINS: 'https://a.example,http://b.example:8080' } }
    const flags = ['--allow-origin', 'http://f.example', '--allow-origin=*', '--host-name', 'dev.example.com']
    expect(await load({ ...given, flags })).toMatchObject({ allowedOrigins: ['http://f.example', '*'], hostName: 'dev.example.com' })
    expect(await load(given)).toMatchObject({ allowedOrigins: ['https://a.example', 'http://b.example:8080'] })
    expect(await load({ ...given, env: { AGENTD_ALLOWED_ORIGINS: '', AGENTD_HOST_NAME: 'h.' } })).toMatchObject({ allowedOrigins: ['https://file.example'], hostName: 'h.' })
  })

  it.each(['', 'null', 'example.com', 'https://example.com/', 'https://example.com:443', 'https://Example.com', 'https://a@b', '*.example.com', 'file://'])(
    'is never the origin %j',
    async (origin) => {
      const rule = 'it must be * or an origin as browsers send it, such as https://app.example.com'
      expect(await load(file({ allowedOrigins: ['*', origin] }))).toEqual([`${defaultFile}: allowedOrigins has ${JSON.stringify(origin)}; ${rule}`])
      expect(await load({ flags: ['--allow-origin', origin] })).toEqual([`command line: --allow-origin is ${JSON.stringify(origin)}; ${rule}`])
    },
  )

  it('may be an application with a scheme of its own', async () => {
    expect(await load(file({ allowedOrigins: ['chrome-extension://abc', 'http://[::1]:5'] }))).toMatchObject({ allowedOrigins: ['chrome-extension://abc', 'http://[::1]:5'] })
  })

  it.each(['a:1', 'a b', '-a', 'a..b', 'http://a'])('is never the host %j', async (name) => {
    expect(await load({ flags: ['--host-name', name] })).toEqual([expect.stringContaining('it must be the name of a host')])
  })

  it('has hooks in the file (S83)', async () => {
    const hooks = { before: [{ match: '*', command: ['a', ''], more: 1 }], after: [{ match: '', command: ['b'], timeoutMs: 60_000 }] }
    expect(await load(file({ hooks }))).toMatchObject({
      hooks: { before: [{ match: '*', command: ['a', ''], timeoutMs: 5000 }], after: [{ match: '', command: ['b'], timeoutMs: 60_000 }] },
    })
    expect(await load(file({ hooks: {} }))).toMatchObject({ hooks: { before: [], after: [] } })
    const most = Array.from({ length: 64 }, () => ({ match: '*', command: ['a'] }))
    expect(await load(file({ hooks: { before: most } }))).toMatchObject({ hooks: { before: most } })
  })

  const command = ['a']
  it.each<[unknown, string]>([
    [null, 'hooks is null; it must be an object'],
    [{ before: {} }, 'hooks.before is {}; it must be a list of hooks'],
    [{ after: null }, 'hooks.after is null; it must be a list of hooks'],
    [{ before: [5] }, 'hooks.before[0] is 5; it must be an object'],
    [{ before: [{ match: '*', command }, { command }] }, 'hooks.before[1].match is missing; it must be a pattern of tool names'],
    [{ after: [{ match: 1, command }] }, 'hooks.after[0].match is 1; it must be a pattern of tool names'],
    ...['a', [], [''], ['a', 1]].map((wrong): [unknown, string] => [
      { before: [{ match: '*', command: wrong }] },
      `hooks.before[0].command is ${JSON.stringify(wrong)}; it must be a list of texts, and the first one must name a program`,
    ]),
    ...[0, 60_001, 1.5, '5', null].map((timeoutMs): [unknown, string] => [
      { before: [{ match: '*', command, timeoutMs }] },
      `hooks.before[0].timeoutMs is ${JSON.stringify(timeoutMs)}; it must be a whole number of milliseconds from 1 to 60000`,
    ]),
    [{ before: Array.from({ length: 65 }, () => ({ match: '*', command })) }, 'hooks.before has 65 hooks; it must have at most 64'],
  ])('rejects the hooks %j', async (hooks, problem) => {
    expect(await load(file({ hooks }))).toEqual([`${defaultFile}: ${problem}`])
  })

  it('has permissions and a rate limit in the file', async () => {
    const clientTools = { permission: { '*': 'ask', client_c_a: 'deny' }, rateLimit: { calls: 0, windowMs: 5 } }
    expect(await load(file({ clientTools }))).toMatchObject({
      permission: new Map([['*', 'ask'], ['client_c_a', 'deny']]),
      rateLimit: { calls: 0, windowMs: 5 },
    })
    expect(await load(file({ clientTools: { permission: 'deny', rateLimit: {} } }))).toMatchObject({ permission: 'deny', rateLimit: { calls: 100, windowMs: 60_000 } })
  })

  it.each<[unknown, string]>([
    [{ permission: 'never' }, 'clientTools.permission is "never"; it must be allow, ask or deny, or an object of these'],
    [{ permission: { a: 1 } }, 'clientTools.permission has 1 for "a"; it must be allow, ask or deny'],
    [{ rateLimit: 5 }, 'clientTools.rateLimit is 5; it must be an object'],
    [{ rateLimit: { calls: -1 } }, 'clientTools.rateLimit.calls is -1; it must be a whole number, at least 0'],
    [{ rateLimit: { windowMs: 0 } }, 'clientTools.rateLimit.windowMs is 0; it must be a whole number of milliseconds, at least 1'],
  ])('rejects %j', async (clientTools, what) => {
    expect(await load(file({ clientTools }))).toEqual([`${defaultFile}: ${what}`])
  })
})
