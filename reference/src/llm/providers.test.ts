import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { rootPaths, type Environment, type Paths } from '../settings/paths.ts'
import { Settings } from '../settings/settings.ts'
import { eventually } from '../testing/eventually.ts'
import { temporaryRoot } from '../testing/temporary-root.ts'
import { recordingLogger } from '../testing/test-app.ts'
import { Upstream, chatStream, chatWhole, plain, streamed } from '../testing/upstream.ts'
import { ModelConfigError, modelConfigOf } from './model-config.ts'
import { textOf, type ModelRequest, type Piece, type Provider } from './model.ts'
import { Providers } from './providers.ts'
import { waitMs } from './retry.ts'
import { customHeaders } from './wirings.ts'

interface Rig {
  upstream: Upstream
  paths: Paths
  settings: Settings
  build: (name: string, model?: string) => Promise<Provider>
}

/** Providers whose model server is the test's upstream. The value `upstream` of a variable stands for its URL. */
async function rig(variables: Environment = {}): Promise<Rig> {
  const upstream = await Upstream.start()
  const paths = rootPaths(temporaryRoot())
  const env = { OPENAI_API_KEY: 'k', OPENAI_HOST: upstream.url, GOOSE_PROVIDER_SKIP_BACKOFF: 'true', GOOSE_DISABLE_KEYRING: '', ...variables }
  const settings = new Settings(paths, env)
  const providers = new Providers(settings, recordingLogger().logger)
  return { upstream, paths, settings, build: (name, model = 'gpt-4o') => providers.build(name, modelConfigOf(model, settings)) }
}

function write(paths: Paths, name: string, text: string): void {
  const path = join(paths.config, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

const request: ModelRequest = {
  system: 'S',
  messages: [{ id: null, role: 'user', created: 0, content: [{ type: 'text', text: 'hi' }], metadata: { userVisible: true, agentVisible: true } }],
  tools: [],
}

const signal = new AbortController().signal

async function all(provider: Provider): Promise<Piece[]> {
  const pieces: Piece[] = []
  for await (const piece of await provider.beginTurn().answer(request, signal)) pieces.push(piece)
  return pieces
}

describe('a provider', () => {
  it('asks openai, and passes on the pieces', async () => {
    const { upstream, build } = await rig({ OPENAI_ORGANIZATION: 'o', OPENAI_PROJECT: 'p', OPENAI_CUSTOM_HEADERS: 'A=b, C = d=e,x,=y' })
    upstream.answers(chatStream({ texts: ['a', 'b'], usage: [1, 2] }))
    const pieces = await all(await build('openai'))
    expect(pieces.map(({ content }) => textOf(content))).toEqual(['a', 'b', ''])
    expect(upstream.asked).toMatchObject([
      {
        method: 'POST',
        path: '/v1/chat/completions',
        headers: {
          'content-type': 'application/json', authorization: 'Bearer k', 'openai-organization': 'o', 'openai-project': 'p', a: 'b', c: 'd=e',
        },
        body: { model: 'gpt-4o', stream: true },
      },
    ])
  })

  it('asks anthropic', async () => {
    const { upstream, build, paths } = await rig()
    write(paths, 'secrets.yaml', 'ANTHROPIC_API_KEY: a')
    write(paths, 'config.yaml', `ANTHROPIC_HOST: ${upstream.url}/`)
    upstream.answers(streamed({ type: 'content_block_delta', delta: { type: 'text_delta', text: 'x' } }, { type: 'message_stop' }))
    expect((await all(await build('anthropic', 'claude-x'))).map(({ content }) => textOf(content))).toEqual(['x'])
    expect(upstream.asked).toMatchObject([
      { path: '/v1/messages', headers: { 'x-api-key': 'a', 'anthropic-version': '2023-06-01' }, body: { system: 'S', stream: true } },
    ])
  })

  it('asks a provider that a file declares, without a stream if the file says so', async () => {
    const { upstream, build, paths } = await rig()
    const definition = {
      name: 'mine', engine: 'openai', display_name: 'M', api_key_env: 'MINE_KEY', base_url: `${upstream.url}/x/y?z`,
      models: [{ name: 'm', context_limit: 1 }], headers: { H: 'h' }, supports_streaming: false,
    }
    write(paths, 'custom_providers/mine.json', JSON.stringify(definition))
    await expect(build('mine')).rejects.toThrow('Configuration value not found: MINE_KEY')
    write(paths, 'secrets.yaml', "MINE_KEY: ''")
    upstream.answers(chatWhole('x'))
    expect(await all(await build('mine'))).toMatchObject([{ id: null, content: [{ type: 'text', text: 'x' }], usage: null, model: 'm' }])
    expect(upstream.asked).toMatchObject([{ path: '/x/y', headers: { h: 'h' } }])
    expect(upstream.asked[0]?.headers.authorization).toBeUndefined()
    expect(upstream.asked[0]?.body.stream).toBeUndefined()
  })

  it('asks the fast model, and the main one if that fails (M4)', async () => {
    const { upstream, build } = await rig()
    upstream.answers(plain(400, 'no')).answers(chatWhole('name', [1, 1]))
    expect(await (await build('openai')).completeFast(request, signal)).toMatchObject({ content: [{ text: 'name' }], usage: { total: 2 } })
    expect(upstream.asked.map(({ body }) => body.model)).toEqual(['gpt-4o-mini', 'gpt-4o'])
  })

  it.each([
    [401, '{"error":{"message":"bad key"}}', 'Authentication error: Authentication failed. Status: 401 Unauthorized. Response: bad key'],
    [403, '{"message":"m"}', 'Authentication error: Authentication failed. Status: 403 Forbidden. Response: m'],
    [400, '{"error":{"message":"what?"}}', 'Request failed: Bad request (400): what?'],
    [404, 'gone', 'Request failed: Resource not found (404): gone'],
    [404, 'x'.repeat(70_000), `Request failed: Resource not found (404): ${'x'.repeat(65_536)}`],
    [302, '', 'Request failed: Request failed with status 302 Found: '],
    [418, 'tea', 'Request failed: Request failed with status 418: tea'],
    [400, '{"error":{"message":"x","code":"context_length_exceeded"}}', 'Context length exceeded: x'],
    [400, '{"error":{"message":"Too many TOKENS"}}', 'Context length exceeded: Too many TOKENS'],
    [413, 'large', 'Context length exceeded: large'],
  ])('reports a %i (GA 18.9)', async (status, body, message) => {
    const { upstream, build } = await rig()
    upstream.answers(plain(status, body, { Location: '/elsewhere' }))
    const failed = all(await build('openai'))
    await expect(failed).rejects.toThrow(message)
    await expect(failed).rejects.toMatchObject({ name: 'ModelError', message, contextExceeded: message.startsWith('Context') })
    expect(upstream.asked).toHaveLength(1)
  })

  it.each([
    [429, 'Rate limit exceeded: slow down'],
    [500, 'Server error: Server error (500 Internal Server Error): slow down'],
    [529, 'Server error: Server error (529): slow down'],
  ])('retries a %i three times', async (status, message) => {
    const { upstream, build } = await rig()
    for (let i = 0; i < 4; i++) upstream.answers(plain(status, { error: { message: 'slow down' } }))
    await expect(all(await build('openai'))).rejects.toThrow(message)
    expect(upstream.asked).toHaveLength(4)
  })

  it('waits between retries, and stops when the client has disconnected', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const { upstream, build } = await rig({ GOOSE_PROVIDER_SKIP_BACKOFF: 'false' })
      const stop = new AbortController()
      upstream.answers(plain(500, ''))
      const failed = (await build('openai')).beginTurn().answer(request, stop.signal)
      await eventually(() => {
        expect(upstream.asked).toHaveLength(1)
        expect(vi.getTimerCount()).toBe(1)
      })
      stop.abort(new Error('gone'))
      await expect(failed).rejects.toThrow('gone')
      expect(vi.getTimerCount()).toBe(0)
      expect([waitMs(0, 0), waitMs(0, 1), waitMs(2, 0.5)]).toEqual([800, 1200, 4000])
    } finally {
      vi.useRealTimers()
    }
  })

  it('reports a missing, a late and an unreadable response (M28)', async () => {
    const { upstream, build, settings } = await rig({ OPENAI_TIMEOUT: '7' })
    upstream.answers((response) => void response.destroy())
    await expect(all(await build('openai'))).rejects.toThrow('Request failed: No connection to the model')
    upstream.answers(plain(200, 'nonsense'))
    upstream.answers(plain(200, 'nonsense'))
    await expect((await build('openai')).completeFast(request, signal)).rejects.toThrow('Request failed: The answer of the model cannot be read')
    expect(settings.get('OPENAI_TIMEOUT')).toBe(7)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      upstream.answers(() => {
        vi.advanceTimersByTime(7000)
      })
      await expect(all(await build('openai'))).rejects.toThrow('Request failed: No answer of the model within 7 s')
    } finally {
      vi.useRealTimers()
    }
  })

  it('ends a truncated stream like any other (M38)', async () => {
    const { upstream, build } = await rig()
    upstream.answers((response) => {
      response.write('data: {"choices":[{"delta":{"content":"a"}}]}\n\n', () => void response.destroy())
    })
    expect((await all(await build('openai'))).map(({ content }) => textOf(content))).toEqual(['a'])
  })

  it('logs its calls, the newest first, without its key (M40)', async () => {
    const { upstream, build, paths } = await rig({ OPENAI_API_KEY: 'sesame' })
    for (let i = 0; i < 12; i++) upstream.answers(i === 11 ? chatStream({ texts: ['last'], usage: [1, 2] }) : plain(400, 'no'))
    for (let i = 0; i < 11; i++) await all(await build('openai')).catch(() => undefined)
    await all(await build('openai'))
    const directory = join(paths.state, 'logs')
    expect(readdirSync(directory).sort()).toEqual(Array.from({ length: 10 }, (_, i) => `llm_request.${i}.jsonl`))
    const [first, second, ...rest] = readFileSync(join(directory, 'llm_request.0.jsonl'), 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line) as unknown)
    expect(first).toMatchObject({ model_config: { model_name: 'gpt-4o' }, input: { stream: true } })
    expect(second).toEqual({
      data: {
        id: 'chatcmpl-1', role: 'assistant', created: expect.any(Number) as number, content: [{ type: 'text', text: 'last' }],
        metadata: { userVisible: true, agentVisible: true },
      },
      usage: null,
    })
    expect(rest).toEqual([{ data: null, usage: { input_tokens: 1, output_tokens: 2, total_tokens: 3 } }])
    expect(readFileSync(join(directory, 'llm_request.1.jsonl'), 'utf8')).toContain('{"error":"Request failed: Bad request (400): no"}\n')
    expect(readdirSync(directory).map((name) => readFileSync(join(directory, name), 'utf8')).join('')).not.toContain('sesame')
  })
})

describe('a provider that cannot be built (M1, M2)', () => {
  it.each([
    ['nobody', {}, 'Unknown provider: nobody'],
    ['../openai', {}, 'Unknown provider: ../openai'],
    ['google', {}, 'Provider cannot run on this server: google (its API is not supported)'],
    ['anthropic', {}, 'Configuration value not found: ANTHROPIC_API_KEY'],
    ['groq', {}, 'Configuration value not found: GROQ_API_KEY'],
    ['openai', { OPENAI_API_KEY: '5' }, 'Configuration value is not a string: OPENAI_API_KEY'],
    ['openai', { OPENAI_HOST: 'example.org' }, 'Invalid base URL: example.org'],
    ['ollama', { OLLAMA_HOST: 'ftp://x' }, 'Invalid base URL: ftp://x'],
  ])('%s with %j', async (name, variables, message) => {
    const { build } = await rig(variables)
    await expect(build(name)).rejects.toThrow(message)
  })
})

describe('a model config (GA 4.8, M3)', () => {
  it('has the limit from the variable, otherwise from the name', async () => {
    const limits = (model: string, settings: Settings): unknown => modelConfigOf(model, settings).context_limit
    const { settings } = await rig()
    expect(['gpt-4o', 'my-claude-3', 'gemini-2.5', 'unknown'].map((model) => limits(model, settings))).toEqual([128_000, 200_000, 1_000_000, null])
    expect(limits('gpt-4o', (await rig({ GOOSE_CONTEXT_LIMIT: '4096' })).settings)).toBe(4096)
  })

  it.each([
    [{ GOOSE_CONTEXT_LIMIT: '4095', GOOSE_TEMPERATURE: '-1' }, "Value for 'GOOSE_CONTEXT_LIMIT' is out of valid range: must be greater than 4K"],
    [{ GOOSE_CONTEXT_LIMIT: '"8192"' }, `Invalid value for 'GOOSE_CONTEXT_LIMIT': '"8192"' - must be a positive integer`],
    [{ GOOSE_CONTEXT_LIMIT: '-4096' }, "Invalid value for 'GOOSE_CONTEXT_LIMIT': '-4096' - must be a positive integer"],
    [{ GOOSE_TEMPERATURE: '' }, "Invalid value for 'GOOSE_TEMPERATURE': '' - must be a valid number"],
    [{ GOOSE_TEMPERATURE: '-0.5', GOOSE_TOOLSHIM: 'maybe' }, "Value for 'GOOSE_TEMPERATURE' is out of valid range: -0.5"],
    [{ GOOSE_TOOLSHIM: 'maybe' }, "Invalid value for 'GOOSE_TOOLSHIM': 'maybe' - must be one of: 1, true, yes, on, 0, false, no, off"],
    [{ GOOSE_TOOLSHIM_OLLAMA_MODEL: '' }, "Invalid value for 'GOOSE_TOOLSHIM_OLLAMA_MODEL': '' - cannot be empty if set"],
  ])('is rejected with %j', async (variables, message) => {
    const { settings } = await rig(variables)
    expect(() => modelConfigOf('m', settings)).toThrow(new ModelConfigError(message))
  })
})

describe('customHeaders', () => {
  it('leaves out invalid headers', () => {
    expect(customHeaders('A=b, C = d=e,x,=y,')).toEqual({ A: 'b', C: 'd=e' })
  })
})
