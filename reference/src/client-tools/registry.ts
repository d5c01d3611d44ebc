import type { ClientToolDefinition } from '#contract'
import { stringifyJson } from '../json/stringify.ts'
import { fullToolID, shortName } from './tool-id.ts'

/** What clients may register (S39). */
export interface RegistryBounds {
  /** Of one client. */
  maxTools: number
  maxClients: number
}

export const defaultBounds: RegistryBounds = { maxTools: 1000, maxClients: 10_000 }

/** Bytes of the definitions of a client, its ID included, and of those of all clients. */
const maxClientBytes = 8 * 1024 * 1024
const maxBytes = 32 * 1024 * 1024

/** There is no room for what was to be registered, and nothing of it is (S39). */
export class RateLimitedError extends Error {
  override readonly name = 'RateLimitedError'
  declare readonly message: 'Too many tools' | 'Too many clients'
}

export function tooManyTools(): RateLimitedError {
  return new RateLimitedError('Too many tools')
}

/** A client with its tools by short name. A definition is kept as JSON, in which it takes the least memory. */
interface Client {
  /** What the full IDs of its tools begin with. */
  prefix: string
  tools: Map<string, Uint8Array>
  bytes: number
}

/**
 * The tools of all clients, of every directory alike (CT 3.6). Everything is listed in the order of CT 2.4, which is the
 * insertion order of a Map: overwriting keeps a place, removing and adding again goes to the end.
 */
export class Registry {
  readonly #bounds: RegistryBounds
  readonly #clients = new Map<string, Client>()
  #bytes = 0

  constructor(bounds: RegistryBounds = defaultBounds) {
    this.#bounds = bounds
  }

  /** Adds or overwrites tools, which come with short names. Returns their full IDs, one for each tool given. Throws a RateLimitedError. */
  register(clientID: string, definitions: readonly ClientToolDefinition[]): string[] {
    const known = this.#clients.get(clientID)
    if (known === undefined && this.#clients.size >= this.#bounds.maxClients) throw new RateLimitedError('Too many clients')
    const client = known ?? { prefix: fullToolID(clientID, ''), tools: new Map<string, Uint8Array>(), bytes: jsonOf(clientID).length }
    const before = known?.bytes ?? 0
    const { added, bytes } = rendered(client, definitions)
    const count = new Set([...client.tools.keys(), ...added.keys()]).size
    if (count > this.#bounds.maxTools || bytes > maxClientBytes || this.#bytes - before + bytes > maxBytes) {
      throw tooManyTools()
    }
    this.#bytes += bytes - before
    client.bytes = bytes
    for (const [name, json] of added) client.tools.set(name, json)
    this.#clients.set(clientID, client)
    return definitions.map(({ id: name }) => client.prefix + name)
  }
  /** Removes the tools that are named, by short name or full ID. The client keeps its place even if none is left. */
  unregister(clientID: string, entries: readonly string[]): string[] {
    const client = this.#clients.get(clientID)
    if (client === undefined) return []
    const { prefix, tools } = client
    return entries.map((entry) => shortName(prefix, entry)).filter((name): name is string => {
      const bytes = name === undefined ? undefined : tools.get(name)?.length
      if (name === undefined || bytes === undefined) return false
      client.bytes -= bytes
      this.#bytes -= bytes
      return tools.delete(name)
    }).map((name) => prefix + name)
  }

  /** Removes all tools of a client and forgets its place. */
  unregisterAll(clientID: string): string[] {
    const client = this.#clients.get(clientID)
    if (client === undefined) return []
    this.#bytes -= client.bytes
    this.#clients.delete(clientID)
    return [...client.tools.keys()].map((name) => client.prefix + name)
  }

  /** The tools of one client, as the pieces of a JSON array. */
  list(clientID: string): Uint8Array[] {
    const tools = this.#clients.get(clientID)?.tools.values() ?? []
    return joined('[', [...tools].map((json) => [json]), ']')
  }

  /**
   * The tools of all clients by full ID, as the pieces of a JSON object. An ID that two clients share has the place of the first and the
   * definition of the last (CT 2.6).
   */
  listAll(): Uint8Array[] {
    const all = new Map<string, Uint8Array>()
    for (const { prefix, tools } of this.#clients.values()) {
      for (const [name, json] of tools) all.set(prefix + name, json)
    }
    return joined('{', [...all].map(([id, json]) => [jsonOf(id), colon, json]), '}')
  }

  /** The client that executes a tool: the first that has it (CT 2.6). */
  ownerOf(id: string): string | undefined {
    for (const [clientID, { prefix, tools }] of this.#clients) {
      if (id.startsWith(prefix) && tools.has(id.slice(prefix.length))) return clientID
    }
    return undefined
  }
}

/** Definitions by short name as they are kept, and the size that their client has with them. */
function rendered({ prefix, tools, bytes }: Client, definitions: readonly ClientToolDefinition[]): { added: Map<string, Uint8Array>; bytes: number } {
  const added = new Map<string, Uint8Array>()
  for (const { id: name, description, parameters } of definitions) {
    const json = jsonOf({ id: prefix + name, description, parameters } satisfies ClientToolDefinition)
    bytes += json.length - ((added.get(name) ?? tools.get(name))?.length ?? 0)
    added.set(name, json)
    // Each has the ID of the client in it. What comes behind cannot take so much away again.
    if (bytes > 8 * maxClientBytes) throw tooManyTools()
  }
  return { added, bytes }
}

function jsonOf(value: unknown): Buffer {
  return Buffer.from(stringifyJson(value))
}

const [comma, colon] = [Buffer.from(','), Buffer.from(':')]

/** JSON text in pieces: many members may be large, and are not copied. */
function joined(open: string, members: readonly Uint8Array[][], close: string): Uint8Array[] {
  return [Buffer.from(open), ...members.flatMap((member, at) => (at === 0 ? member : [comma, ...member])), Buffer.from(close)]
}
