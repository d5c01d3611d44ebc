import { describe, expect, it } from 'vitest'
import type { ClientToolDefinition } from '#contract'
import { Registry } from './registry.ts'

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
    ? [...registry.listAll().keys()]
    : registry.list(clientID).map(({ id }) => id)
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

  it('keeps three keys of a definition, in order, and its parameters as they are', () => {
    const registry = new Registry()
    const parameters = { b: 1, a: { z: [], y: null } }
    registry.register('c', [{ parameters, extra: 1, description: 'd', id: 'a' } as ClientToolDefinition])
    expect(JSON.stringify(registry.list('c'))).toBe(
      '[{"id":"client_c_a","description":"d","parameters":{"b":1,"a":{"z":[],"y":null}}}]',
    )
  })

  it('answers one ID for each tool, and the later of two alike wins', () => {
    const registry = new Registry()
    const given = [tool('a', '1'), tool('b'), tool('a', '2')]
    expect(registry.register('c', given)).toEqual(['client_c_a', 'client_c_b', 'client_c_a'])
    expect(registry.list('c').map(({ id, description }) => id + description)).toEqual(['client_c_a2', 'client_c_b'])
  })
})

describe('order (CT 2.4)', () => {
  it('is that of the first registration, of clients and of tools', () => {
    const registry = registryWith(['2', 'b'], ['1', 'c'], ['2', 'a'], ['1', 'a'])
    expect(ids(registry)).toEqual(['client_2_b', 'client_2_a', 'client_1_c', 'client_1_a'])
  })

  it('survives overwriting', () => {
    const registry = registryWith(['c', 'a'], ['c', 'b'])
    registry.register('c', [tool('a', 'new')])
    expect(registry.list('c').map(({ description }) => description)).toEqual(['new', ''])
  })

  it('puts a tool that was removed at the end of its client', () => {
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

  it('counts a registration of no tools as the first', () => {
    const registry = new Registry()
    registry.register('c', [])
    registry.register('d', [tool('x')])
    registry.register('c', [tool('a')])
    expect(ids(registry)).toEqual(['client_c_a', 'client_d_x'])
  })
})

describe('unregister (CT 4.2)', () => {
  it('takes short names and full IDs, and answers what it removed in the order asked', () => {
    const registry = registryWith(['c', 'a'], ['c', 'b'], ['c', 'd'])
    expect(registry.unregister('c', ['d', 'client_c_a', 'd', 'nope', 'client_x_b'])).toEqual([
      'client_c_d',
      'client_c_a',
    ])
    expect(ids(registry)).toEqual(['client_c_b'])
  })

  it('needs the full ID of a tool whose name begins like one', () => {
    const registry = registryWith(['u1', 'client_x'])
    expect(registry.unregister('u1', ['client_x'])).toEqual([])
    expect(registry.unregister('u1', ['client_u1_client_x'])).toEqual(['client_u1_client_x'])
  })

  it('leaves the tools of others alone', () => {
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

  it('has one entry in the list of all: the first place, the last definition', () => {
    const all = both().listAll()
    expect([...all.keys()]).toEqual([shared, 'client_x_y'])
    expect(all.get(shared)?.description).toBe('of a_b')
  })

  it('has both in the lists of the clients', () => {
    const registry = both()
    expect(registry.list('a').concat(registry.list('a_b')).map(({ description }) => description)).toEqual([
      'of a',
      'of a_b',
    ])
  })

  it('belongs to the first client, and to the second when that one lets go', () => {
    const registry = both()
    expect(registry.ownerOf(shared)).toBe('a')
    registry.unregister('a', [shared])
    expect(registry.ownerOf(shared)).toBe('a_b')
    expect(registry.ownerOf('client_nobody_c')).toBeUndefined()
  })
})
