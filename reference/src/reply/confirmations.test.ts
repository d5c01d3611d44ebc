import { describe, expect, it } from 'vitest'
import { AskedConfirmations } from './confirmations.ts'

const { signal } = new AbortController()

describe('confirmations (GA 8.2, M56)', () => {
  it('that come early serve the questions with their id in order, the first one first', async () => {
    const confirmations = new AskedConfirmations()
    confirmations.answer('a', 'allow_once')
    confirmations.answer('b', 'always_allow')
    confirmations.answer('a', 'deny')
    expect(await confirmations.wait('a', signal)).toBe('allow_once')
    expect(await confirmations.wait('a', signal)).toBe('deny')
    expect(await confirmations.wait('b', signal)).toBe('always_allow')
  })

  it('release one of those who wait with the same id, the one that asked first', async () => {
    const confirmations = new AskedConfirmations()
    const got: string[] = []
    const ask = async (name: string): Promise<void> => {
      got.push(`${name} ${await confirmations.wait('a', signal)}`)
    }
    const asked = ['first', 'second'].map(ask)
    confirmations.answer('a', 'deny')
    await asked[0]
    expect(got).toEqual(['first deny'])
    confirmations.answer('a', 'allow_once')
    await asked[1]
    expect(got).toEqual(['first deny', 'second allow_once'])
  })

  it('pass over somebody who has gone', async () => {
    const confirmations = new AskedConfirmations()
    const gone = new AbortController()
    const left = confirmations.wait('a', gone.signal)
    const stays = confirmations.wait('a', signal)
    gone.abort(new Error('gone'))
    await expect(left).rejects.toThrow('gone')
    confirmations.answer('a', 'deny')
    expect(await stays).toBe('deny')
  })

  it('that nobody asks for are kept up to 32, of all ids', async () => {
    const confirmations = new AskedConfirmations()
    for (let i = 0; i < 33; i++) confirmations.answer('a', String(i))
    expect(await confirmations.wait('a', signal)).toBe('1')
  })
})
