import { describe, expect, it } from 'vitest'
import { temporaryRoot } from '../../testing/temporary-root.ts'
import { recordingLogger } from '../../testing/test-app.ts'
import { AgentExtensions, type ExtensionLaunchDeps } from '../../mcp/agent-extensions.ts'
import { SessionHandle } from '../../store/session-handle.ts'
import { SessionStore } from '../../store/session-store.ts'
import { Agent } from './agent.ts'
import { Agents } from './agents.ts'

function agents(capacity: number, closed: string[], close = (): Promise<void> => Promise.resolve()): Agents {
  const { logger } = recordingLogger()
  const make = (id: string, onIdle: () => void): Agent => {
    const session = new SessionHandle(id, new SessionStore(temporaryRoot(), logger))
    const extensions = new AgentExtensions(session, {} as ExtensionLaunchDeps) // the test adds no extension, so it needs no dependencies
    extensions.close = () => {
      closed.push(`${id} extensions`)
      return close()
    }
    return new Agent(session, extensions, onIdle)
  }
  return new Agents(capacity, make, logger)
}

describe('agents (GA 6)', () => {
  it('are created once, without a provider', () => {
    const all = agents(1, [])
    const agent = all.get('a')
    expect(agent.provider).toBeNull()
    expect(all.get('a')).toBe(agent)
  })

  it('are dropped to make room, the least recently used one first', () => {
    const closed: string[] = []
    const all = agents(2, closed)
    const a = all.get('a')
    all.get('b')
    expect(all.get('a')).toBe(a)
    all.get('c')
    expect(closed).toEqual(['b extensions'])
    expect([all.stop('b'), all.stop('a'), all.stop('a')]).toEqual([false, true, false])
  })

  it('are dropped to make room only when they are idle, and as soon as they are (G16)', () => {
    const closed: string[] = []
    const all = agents(1, closed)
    const agent = all.get('a')
    const release = agent.use()
    all.get('b')
    expect(all.get('a')).toBe(agent)
    all.get('c')
    expect(closed).toEqual(['b extensions'])
    all.get('a')
    release()
    expect(closed).toEqual(['b extensions', 'c extensions'])
    expect(all.get('a')).toBe(agent)
  })

  it('end with their session even while they are used, including those dropped before (G29)', async () => {
    const closed: string[] = []
    const all = agents(5, closed)
    const releases = [all.get('a').use()]
    all.stop('a')
    releases.push(all.get('a').use())
    all.get('b')
    let over = false
    const ended = all.end('a').then(() => (over = true))
    expect(closed).toEqual(['a extensions', 'a extensions'])
    releases[0]?.()
    await Promise.resolve()
    expect(over).toBe(false)
    releases[1]?.()
    await ended
    expect([all.stop('a'), all.stop('b')]).toEqual([false, true])
  })

  it('stay open as long as they are used', () => {
    const closed: string[] = []
    const all = agents(2, closed)
    const agent = all.get('a')
    const [first, second] = [agent.use(), agent.use()]
    expect(all.stop('a')).toBe(true)
    expect(all.get('a')).not.toBe(agent)
    first()
    first()
    expect(closed).toEqual([])
    second()
    expect(closed).toEqual(['a extensions'])
  })

  it('are all closed at the end, even if closing one fails', async () => {
    const closed: string[] = []
    const all = agents(5, closed, () => Promise.reject(new Error('broken')))
    all.get('a')
    all.get('b')
    await all.stopAll()
    expect(closed).toEqual(['a extensions', 'b extensions'])
    expect(all.stop('a')).toBe(false)
  })

  it('can be waited for while they are used', async () => {
    const all = agents(5, [])
    const release = all.get('a').use()
    await all.stopAll()
    let over = false
    const closed = all.closed().then(() => (over = true))
    await all.stopAll()
    expect(over).toBe(false)
    release()
    await closed
  })
})
