import { describe, expect, it } from 'vitest'
import { rootPaths } from '../settings/paths.ts'
import { Settings } from '../settings/settings.ts'
import { temporaryRoot } from '../testing/temporary-root.ts'
import { recordingLogger } from '../testing/test-app.ts'
import { Upstream, chatWhole, plain } from '../testing/upstream.ts'
import { modelConfigOf } from './model-config.ts'
import type { ModelRequest, Provider } from './model.ts'
import { Providers } from './providers.ts'

const user = (text: string): ModelRequest['messages'][number] => ({
  id: null, role: 'user', created: 0, content: [{ type: 'text', text }], metadata: { userVisible: true, agentVisible: true },
})
const request: ModelRequest = { system: 'S', messages: ['1', '2', '3'].map(user), tools: [{ name: 't', inputSchema: {} }] }
const { signal } = new AbortController()

async function rig(name: string, model: string): Promise<{ upstream: Upstream; provider: Provider }> {
  const upstream = await Upstream.start()
  const prefix = name.toUpperCase()
  const env = { [`${prefix}_HOST`]: upstream.url, [`${prefix}_API_KEY`]: 'k', GOOSE_PROVIDER_SKIP_BACKOFF: 'true', GOOSE_DISABLE_KEYRING: '' }
  const settings = new Settings(rootPaths(temporaryRoot()), env)
  return { upstream, provider: await new Providers(settings, recordingLogger().logger).build(name, modelConfigOf(model, settings)) }
}

const mark = { cache_control: { type: 'ephemeral' } }
const marked = {
  messages: [
    { role: 'system', content: [{ type: 'text', text: 'S', ...mark }] },
    { role: 'user', content: '1' },
    { role: 'user', content: [{ type: 'text', text: '2', ...mark }] },
    { role: 'user', content: [{ type: 'text', text: '3', ...mark }] },
  ],
  tools: [{ type: 'function', function: { name: 't', ...mark } }],
}

describe('marks for the cache (M75)', () => {
  it('are sent to OpenRouter for models of Anthropic', async () => {
    const { upstream, provider } = await rig('openrouter', 'anthropic/x')
    upstream.answers(chatWhole('x'))
    await provider.complete(request, signal)
    expect(upstream.asked[0]?.body).toMatchObject({ ...marked, transforms: ['middle-out'] })
  })

  it.each([[true, marked], [false, { messages: [{ role: 'system', content: 'S' }, {}, {}, {}] }]])(
    'are sent to LiteLLM if it reports caching: %s', async (caching, body) => {
      const { upstream, provider } = await rig('litellm', 'm')
      upstream.answers(plain(200, { data: [{ model_name: 'm', model_info: { supports_prompt_caching: caching } }] }))
      for (const script of [plain(500, ''), chatWhole('x')]) upstream.answers(script)
      await provider.complete(request, signal)
      expect(upstream.asked.map(({ path }) => path)).toEqual(['/model/info', '/v1/chat/completions', '/v1/chat/completions'])
      expect(upstream.asked[1]?.body).toMatchObject(body)
    },
  )
})

describe('an error inside an answer (M76)', () => {
  it('is retried if its code is that of a temporary failure', async () => {
    const { upstream, provider } = await rig('tetrate', 'm')
    upstream.answers(plain(200, { error: { message: 'no', code: '429' } })).answers(plain(200, { error: { message: 'no', code: 401.5 } }))
    await expect(provider.complete(request, signal)).rejects.toThrow('Request failed: no')
    expect(upstream.asked).toHaveLength(2)
  })
})

describe('Venice (M77)', () => {
  it('gets plain texts, and is told about models without tools', async () => {
    const { upstream, provider } = await rig('venice', 'o3\t[f]')
    upstream.answers(plain(400, { details: { tools: { _errors: ['not supported by this model'] } } }))
    const image = { ...user('a'), content: [...user('a').content, { type: 'image' as const, data: 'AA==', mimeType: 'image/png' }] }
    const failed = provider.complete({ ...request, messages: [image] }, signal)
    await expect(failed).rejects.toThrow("Request failed: The selected model 'o3' does not support tool calls.")
    expect(upstream.asked[0]?.body).toMatchObject({
      model: 'o3', stream: false, temperature: 0.7, max_tokens: 2048, messages: [{ role: 'system', content: 'S' }, { role: 'user', content: 'a\n[image]' }],
    })
  })
})
