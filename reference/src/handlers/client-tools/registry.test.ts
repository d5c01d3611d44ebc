import { describe, expect, it } from 'vitest'
import type { ClientToolDefinition } from '#contract'
import { RateLimitedError, Registry } from './registry.ts'

function tool(id: string, description = ''): ClientToolDefinition {
  return { id, description, parameters: {} }
}

function registryWith(...tools: [clientID: string, name: string][]): Registry {
  const registry = new Registry()
  for (const [clientID, name] of tools) registry.register(clientID, [tool(name)])
  return registry
}

function ids(registry: Registry, clientID?: string): string[] {
  return clientID === undefined
    ? Object.keys(all(registry))
    : list(registry, clientID).map(({ id }) => id)
}

function list(registry: Registry, clientID: string): ClientToolDefinition[] {
  return JSON.parse(Buffer.concat(registry.list(clientID)).toString()) as ClientToolDefinition[]
}

function all(registry: Registry): Record<string, ClientToolDefinition> {
  return JSON.parse(Buffer.concat(registry.listAll()).toString()) as Record<string, ClientToolDefinition>
}

describe('register (CT 2.6, 4.1)', () => {
  it.each([
    ['my-client', 'search-docs', 'client_my-client_search-docs'],
    ['c4', 'client_c4_pre', 'client_c4_client_c4_pre'],
    ['', 'a', 'client__a'],
    ['c', '', 'client_c_'],
    ['ż/"\n', '\u0000 😀', 'client_ż/"\n_\u0000 😀'],
    ['__proto__', 'constructor', 'client___proto___constructor'],
  ])('gives client %j and tool %j the ID %j', (clientID, name, id) => {
    const registry = new Registry()
    expect(registry.register(clientID, [tool(name)])).toEqual([id])
    expect(ids(registry, clientID)).toEqual([id])
    expect(ids(registry)).toEqual([id])
  })

  it('keeps three keys of a definition, in order, and its parameters unchanged', () => {
    const registry = new Registry()
    const parameters = { b: 1, a: { z: [], y: null } }
    registry.register('c', [{ parameters, extra: 1, description: 'd', id: 'a' } as ClientToolDefinition])
    expect(Buffer.concat(registry.list('c')).toString()).toBe(
      '[{"id":"client_c_a","description":"d","parameters":{"b":1,"a":{"z":[],"y":null}}}]',
    )
  })

  it('returns one ID for each tool, and the later of two equal tools wins', () => {
    const registry = new Registry()
    const given = [tool('a', '1'), tool('b'), tool('a', '2')]
    expect(registry.register('c', given)).toEqual(['client_c_a', 'client_c_b', 'client_c_a'])
    expect(list(registry, 'c').map(({ id, description }) => id + description)).toEqual(['client_c_a2', 'client_c_b'])
  })
})

describe('order (CT 2.4)', () => {
  it('is that of the first registration, for clients and for tools', () => {
    const registry = registryWith(['2', 'b'], ['1', 'c'], ['2', 'a'], ['1', 'a'])
    expect(ids(registry)).toEqual(['client_2_b', 'client_2_a', 'client_1_c', 'client_1_a'])
  })

  it('survives overwriting', () => {
    const registry = registryWith(['c', 'a'], ['c', 'b'])
    registry.register('c', [tool('a', 'new')])
    expect(list(registry, 'c').map(({ description }) => description)).toEqual(['new', ''])
  })

  it('puts a tool that is registered again at the end of its client', () => {
    const registry = registryWith(['c', 'a'], ['c', 'b'], ['d', 'x'])
    registry.unregister('c', ['a'])
    registry.register('c', [tool('a')])
    expect(ids(registry)).toEqual(['client_c_b', 'client_c_a', 'client_d_x'])
  })

  it('keeps the place of a client whose tools were removed by name', () => {
    const registry = registryWith(['c', 'a'], ['d', 'x'])
    registry.unregister('c', ['a'])
    registry.register('c', [tool('b')])
    expect(ids(registry)).toEqual(['client_c_b', 'client_d_x'])
  })

  it('forgets the place of a client whose tools were all removed', () => {
    const registry = registryWith(['c', 'a'], ['d', 'x'])
    registry.unregisterAll('c')
    registry.register('c', [tool('a')])
    expect(ids(registry)).toEqual(['client_d_x', 'client_c_a'])
  })

  it('counts a registration without tools as the first', () => {
    const registry = new Registry()
    registry.register('c', [])
    registry.register('d', [tool('x')])
    registry.register('c', [tool('a')])
    expect(ids(registry)).toEqual(['client_c_a', 'client_d_x'])
  })
})

describe('unregister (CT 4.2)', () => {
  it('accepts short names and full IDs, and returns what it removed in the order of the request', () => {
    const registry = registryWith(['c', 'a'], ['c', 'b'], ['c', 'd'])
    expect(registry.unregister('c', ['d', 'client_c_a', 'd', 'nope', 'client_x_b'])).toEqual([
      'client_c_d',
      'client_c_a',
    ])
    expect(ids(registry)).toEqual(['client_c_b'])
  })

  it('needs the full ID of a tool whose name begins like a full ID', () => {
    const registry = registryWith(['u1', 'client_x'])
    expect(registry.unregister('u1', ['client_x'])).toEqual([])
    expect(registry.unregister('u1', ['client_u1_client_x'])).toEqual(['client_u1_client_x'])
  })

  it('does not remove the tools of other clients', () => {
    const registry = registryWith(['c', 'a'])
    expect(registry.unregister('d', ['client_c_a', 'a'])).toEqual([])
    expect(registry.unregisterAll('d')).toEqual([])
    expect(ids(registry)).toEqual(['client_c_a'])
  })

  it('removes nothing for an empty list', () => {
    const registry = registryWith(['c', 'a'])
    expect(registry.unregister('c', [])).toEqual([])
    expect(ids(registry)).toEqual(['client_c_a'])
  })

  it('removes all in registration order, once', () => {
    const registry = registryWith(['c', 'b'], ['c', 'a'], ['d', 'x'])
    expect(registry.unregisterAll('c')).toEqual(['client_c_b', 'client_c_a'])
    expect(registry.unregisterAll('c')).toEqual([])
    expect(ids(registry)).toEqual(['client_d_x'])
  })
})

describe('an ID that two clients share (CT 2.6)', () => {
  const shared = 'client_a_b_c'

  function both(): Registry {
    const registry = new Registry()
    registry.register('a', [tool('b_c', 'of a')])
    registry.register('x', [tool('y')])
    registry.register('a_b', [tool('c', 'of a_b')])
    return registry
  }

  it('has one entry in the list of all clients, with the first position and the last definition', () => {
    const tools = all(both())
    expect(Object.keys(tools)).toEqual([shared, 'client_x_y'])
    expect(tools[shared]?.description).toBe('of a_b')
  })

  it('has both definitions in the lists of the clients', () => {
    const registry = both()
    expect(list(registry, 'a').concat(list(registry, 'a_b')).map(({ description }) => description)).toEqual([
      'of a',
      'of a_b',
    ])
  })

  it('belongs to the first client, and to the second when the first has removed it', () => {
    const registry = both()
    expect(registry.ownerOf(shared)).toBe('a')
    registry.unregister('a', [shared])
    expect(registry.ownerOf(shared)).toBe('a_b')
    expect(registry.ownerOf('client_nobody_c')).toBeUndefined()
  })
})

describe('the limits (S39)', () => {
  const mega = 1024 * 1024
  /** A tool whose definition has this size. */
  const sized = (clientID: string, name: string, bytes: number): ClientToolDefinition =>
    tool(name, 'x'.repeat(bytes - 256 - JSON.stringify({ ...tool(name), id: `client_${clientID}_${name}` }).length))
  const refused = (message: string, register: () => unknown): void => {
    expect(register).toThrow(RateLimitedError)
    expect(register).toThrow(message)
  }

  it('are 1000 tools and 10,000 clients', () => {
    const registry = new Registry()
    const tools = Array.from({ length: 1000 }, (_, i) => tool(`t${i}`))
    registry.register('c0', tools)
    registry.register('c0', tools)
    refused('Too many tools', () => registry.register('c0', [tool('one')]))
    for (let i = 1; i < 10_000; i++) registry.register(`c${i}`, [])
    refused('Too many clients', () => registry.register('c', []))
    registry.unregisterAll('c1')
    registry.register('c', [])
  })

  it('are 8 MiB of definitions for a client, including its ID as JSON', () => {
    const registry = new Registry()
    registry.register('c', [sized('c', 'a', 5 * mega)])
    refused('Too many tools', () => registry.register('c', [sized('c', 'b', 3 * mega - 2)]))
    expect(ids(registry)).toEqual(['client_c_a'])
    registry.register('c', [sized('c', 'b', 3 * mega - 3)])
    registry.register('c', [sized('c', 'b', 3 * mega - 3)])
    refused('Too many tools', () => registry.register('c', [tool('c')]))
    registry.unregister('c', ['a'])
    registry.register('c', [sized('c', 'd', 5 * mega)])
    refused('Too many tools', () => registry.register('x'.repeat(8 * mega), []))
  })

  it('are 32 MiB for all clients', () => {
    const registry = new Registry()
    for (const client of ['a', 'b', 'c', 'd']) registry.register(client, [sized(client, 't', 8 * mega - 3)])
    refused('Too many tools', () => registry.register('e', []))
    registry.unregister('a', ['t'])
    registry.register('e', [sized('e', 't', 8 * mega - 6)])
    registry.unregisterAll('b')
    registry.register('b', [sized('b', 't', 8 * mega - 3)])
    refused('Too many tools', () => registry.register('a', [tool('t')]))
  })

  it('are also checked quickly for a client with a long ID', () => {
    const registry = new Registry()
    const tools = Array.from({ length: 1000 }, (_, i) => tool(`t${i}`))
    const clientID = 'x'.repeat(8 * mega - 1000)
    refused('Too many tools', () => registry.register(clientID, tools))
    registry.register(clientID, [])
    // If the ID were read for each tool, this would take longer than a test may.
    expect(registry.unregister(clientID, Array.from({ length: 100_000 }, () => 'a'))).toEqual([])
  })
})

describe('the definitions for a model (CT 11.6)', () => {
  it('are in registry order, with U+FFFD for unpaired surrogates everywhere but in IDs', () => {
    const registry = registryWith(['c', 'z'], ['other', 'x'])
    const pair = '\ud83d\ude00'
    registry.register('c', [{ id: '\ud800', description: `\\ud800 \ud800${pair}`, parameters: { '\udc00': ['\\\udfff'], b: 1, a: 2 } }])
    expect([...registry.definitions('c')]).toEqual([
      ['z', tool('client_c_z')],
      ['\ud800', { id: 'client_c_\ud800', description: `\\ud800 \ufffd${pair}`, parameters: { '\ufffd': ['\\\ufffd'], b: 1, a: 2 } }],
    ])
    expect([...registry.definitions('nobody')]).toEqual([])
  })

  it('belong to the client itself, even if an ID is ambiguous (CT 2.6)', () => {
    const registry = registryWith(['a', 'b_c'], ['a_b', 'd'])
    expect(['a', 'a_b', 'nobody'].map((clientID) => registry.has(clientID, 'client_a_b_c'))).toEqual([true, false, false])
    registry.register('a_b', [tool('c')])
    expect(registry.has('a_b', 'client_a_b_c')).toBe(true)
  })
})
