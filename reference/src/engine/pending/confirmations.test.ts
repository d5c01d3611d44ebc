import { describe, expect, it } from 'vitest'
import type { SessionHandle } from '../../store/session-handle.ts'
import { someSession } from '../../testing/some-session.ts'
import { Confirmations, type ReplyDecisions } from './confirmations.ts'

const { signal } = new AbortController()

async function rig(): Promise<{ confirmations: Confirmations; session: SessionHandle; reply: ReplyDecisions; answer: (id: string, action: string) => void }> {
  const confirmations = new Confirmations()
  const { session } = await someSession()
  const answer = (id: string, action: string): void => {
    confirmations.answer(session, id, action)
  }
  return { confirmations, session, reply: confirmations.begin(session), answer }
}

describe('confirmations (GA 8.2, M56)', () => {
  it('that come early answer the questions with their id, in order', async () => {
    const { reply, answer } = await rig()
    answer('a', 'allow_once')
    answer('b', 'always_allow')
    answer('a', 'deny')
    expect(await reply.wait('a', signal)).toBe('allow_once')
    expect(await reply.wait('a', signal)).toBe('deny')
    expect(await reply.wait('b', signal)).toBe('always_allow')
  })

  it('release the oldest of the questions with the same id', async () => {
    const { confirmations, session, reply, answer } = await rig()
    const got: string[] = []
    const ask = async (name: string, asking: ReplyDecisions): Promise<void> => {
      got.push(`${name} ${await asking.wait('a', signal)}`)
    }
    const asked = [ask('first', reply), ask('second', confirmations.begin(session))]
    answer('a', 'deny')
    await asked[0]
    expect(got).toEqual(['first deny'])
    answer('a', 'allow_once')
    await asked[1]
    expect(got).toEqual(['first deny', 'second allow_once'])
  })

  it('skip a question that has been withdrawn', async () => {
    const { reply, answer } = await rig()
    const gone = new AbortController()
    const left = reply.wait('a', gone.signal)
    const stays = reply.wait('a', signal)
    gone.abort(new Error('gone'))
    await expect(left).rejects.toThrow('gone')
    answer('a', 'deny')
    expect(await stays).toBe('deny')
  })

  it('that come early are kept up to a total of 32', async () => {
    const { reply, answer } = await rig()
    for (let i = 0; i < 33; i++) answer('a', String(i))
    expect(await reply.wait('a', signal)).toBe('1')
  })

  it('do not answer questions of a later reply or of another session', async () => {
    const { confirmations, session, reply, answer } = await rig()
    confirmations.answer((await someSession()).session, 'a', 'another session')
    answer('a', 'early')
    const second = confirmations.begin(session)
    const asked = second.wait('a', signal)
    reply.end()
    answer('a', 'late')
    expect(await asked).toBe('late')
    second.end()
    answer('a', 'without a reply')
    const third = confirmations.begin(session).wait('a', signal)
    answer('a', 'in time')
    expect(await third).toBe('in time')
  })
})
