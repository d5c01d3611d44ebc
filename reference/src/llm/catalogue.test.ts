import { describe, expect, it } from 'vitest'
import { rootPaths } from '../settings/paths.ts'
import { Settings } from '../settings/settings.ts'
import { temporaryRoot } from '../testing/temporary-root.ts'
import { recordingLogger } from '../testing/test-app.ts'
import { allProviders } from './provider-details.ts'

describe('the known models of a provider (G64)', () => {
  it('have the limits of their provider, otherwise those of their names', async () => {
    const settings = new Settings(rootPaths(temporaryRoot()), { GOOSE_DISABLE_KEYRING: '' })
    const providers = await allProviders(settings, recordingLogger().logger)
    const limits = (provider: string): unknown =>
      providers.find(({ name }) => name === provider)?.metadata.known_models.map((model) => [model.name, model.context_limit])
    expect(limits('openai')).toContainEqual(['gpt-4.1', 128_000])
    expect(limits('github_copilot')).toEqual([['gpt-4.1', 1_000_000]])
    expect(limits('cursor-agent')).toEqual([['auto', 128_000]])
  })
})
